"""The filter chain: one filter per file."""
