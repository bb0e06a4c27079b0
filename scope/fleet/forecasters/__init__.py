"""What learns from answers, and predicts who answers what correctly."""
