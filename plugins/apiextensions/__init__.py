"""Custom resources: what their definitions make of them. Used by the delegate ``apiextensions``."""
