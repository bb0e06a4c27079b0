"""The latents of a text: one vector per layer of a frozen model.

``source`` says where the model comes from and how exactly it is best run, ``blocks`` runs it and
listens to its layers, ``reader`` says where in a text its latents are taken, and is all of it.
"""

from scope.models.latents.reader import (
    ONE_WORD as ONE_WORD,
    CheckpointReader as CheckpointReader,
    Readout as Readout,
    read_checkpoint as read_checkpoint,
    read_gguf as read_gguf,
)
from scope.models.latents.source import natural_dtype as natural_dtype
