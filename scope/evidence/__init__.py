"""What speaks for reuse: ways of seeing how like a reference each model answers."""
