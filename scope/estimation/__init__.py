"""From answers to every number of an audit or a comparison: estimates, differences, slices."""
