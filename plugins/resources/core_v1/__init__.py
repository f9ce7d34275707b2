"""Kinds of the core group, version v1."""
