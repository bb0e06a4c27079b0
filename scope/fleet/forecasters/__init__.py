"""What learns from answers, and foretells who answers what rightly."""
