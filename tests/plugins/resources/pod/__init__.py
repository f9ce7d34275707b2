"""Subresources of pods, and of what is like them."""
