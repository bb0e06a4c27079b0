"""The latents of a text: one vector per layer of a frozen model.

``source`` finds the model and chooses its precision, ``blocks`` runs it and records its layers, and
``reader``, the whole, chooses where in a text latents are taken.
"""

from scope.models.latents.reader import (
    ONE_WORD as ONE_WORD,
    CheckpointReader as CheckpointReader,
    Readout as Readout,
    read_checkpoint as read_checkpoint,
    read_gguf as read_gguf,
)
from scope.models.latents.source import natural_dtype as natural_dtype
