"""Kinds of ``autoscaling/v2`` and ``autoscaling/v1``."""
