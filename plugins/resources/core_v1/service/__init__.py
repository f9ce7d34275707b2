"""The rules of Services, by subject; :mod:`apiserver_plugins.resources.core_v1.services` puts them together."""
