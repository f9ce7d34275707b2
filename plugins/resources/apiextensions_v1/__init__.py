"""Rules of ``apiextensions.k8s.io/v1``: CustomResourceDefinitions and the schemas in them."""
