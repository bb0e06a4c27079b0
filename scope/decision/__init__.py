"""From evidence to a verdict, at a stated error rate."""
