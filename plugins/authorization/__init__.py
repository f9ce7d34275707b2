"""Authorizers: one opinion on whether a user may do something per file."""
