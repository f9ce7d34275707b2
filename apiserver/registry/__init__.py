"""What happens between a handler and the store: the order of a write, metadata, selectors, patches, managed fields."""
