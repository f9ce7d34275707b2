"""Delegates: who may claim a request, in the order of their numbers."""
