"""A Kubernetes-compatible API server made of plugins.

What a plugin imports from here: :func:`hookimpl`. Everything else it may use is in :mod:`apiserver.api`.
"""

from apiserver.markers import hookimpl

__all__ = ["hookimpl"]
