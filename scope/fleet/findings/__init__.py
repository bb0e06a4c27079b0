"""What is found with a forecaster or with models' vectors, as records: pure functions on arrays."""
