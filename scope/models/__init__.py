"""From a spec such as ``hf:distilbert-base-uncased`` to a model that answers; knows torch."""

from scope.models.loading import (
    load_classifier as load_classifier,
    load_encoder as load_encoder,
    load_latent_reader as load_latent_reader,
    load_model as load_model,
)
from scope.models.options import ModelOptions as ModelOptions
