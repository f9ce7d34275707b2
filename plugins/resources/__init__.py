"""Resources: one folder per API group, one file per kind that has rules of its own."""
