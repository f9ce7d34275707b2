"""Kinds of ``internal.apiserver.k8s.io/v1alpha1``."""
