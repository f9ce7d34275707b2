"""Admission: one plugin per file."""
