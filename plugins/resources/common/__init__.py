"""What the rules of several kinds share: columns, checks of single values, selectors, pod templates."""
