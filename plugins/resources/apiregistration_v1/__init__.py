"""Kinds of ``apiregistration.k8s.io/v1``."""
