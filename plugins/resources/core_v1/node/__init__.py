"""Subresources of Nodes."""
