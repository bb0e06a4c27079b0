"""The latents of a text: one vector per layer of a frozen model.

``readout`` says where in the text it is taken, ``source`` where the model comes from, ``framing``
makes tokens of texts, ``blocks`` runs the model and listens to its layers, ``changing`` says which
models are read one text after the other, ``precision`` how exactly a model is best run, ``reader``
is all of it.
"""

from scope.models.latents.precision import natural_dtype
from scope.models.latents.reader import CheckpointReader, read_checkpoint, read_gguf
from scope.models.latents.readout import ONE_WORD, Readout

__all__ = [
    "ONE_WORD",
    "CheckpointReader",
    "Readout",
    "natural_dtype",
    "read_checkpoint",
    "read_gguf",
]
