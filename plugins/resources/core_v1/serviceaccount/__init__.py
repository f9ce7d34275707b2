"""Subresources of ServiceAccounts."""
