"""From a spec such as ``hf:distilbert-base-uncased`` to a model that answers; knows torch."""

from scope.models.loading import load_classifier, load_encoder, load_latent_reader, load_model
from scope.models.options import ModelOptions

__all__ = ["ModelOptions", "load_classifier", "load_encoder", "load_latent_reader", "load_model"]
