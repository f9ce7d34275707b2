"""The built-in plugins. Found through entry points like any other; import nothing of the core but its public names."""
