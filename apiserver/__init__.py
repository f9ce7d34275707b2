"""A Kubernetes-compatible API server made of plugins."""
