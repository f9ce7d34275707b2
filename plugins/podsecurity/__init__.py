"""The Pod Security Standards: which pods a level allows, in each version of the standards."""
