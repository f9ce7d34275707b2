"""The rules of Pods, by subject; :mod:`apiserver_plugins.resources.core_v1.pods` puts them together."""
