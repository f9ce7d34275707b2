"""Authenticators: one way to tell who sent a request per file."""
