"""From a spec such as ``hf:distilbert-base-uncased`` to a model that answers; knows torch."""
