"""``hf:`` and ``gguf:`` checkpoints in the role of latent reader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length
from scope.models.heads import fingerprint_with
from scope.models.latents.blocks import Blocks
from scope.models.latents.framing import Framing
from scope.models.latents.readout import Readout
from scope.models.latents.source import Source, checkpoint_source, gguf_source
from scope.models.options import ModelOptions
from scope.protocols import Precision

VERSION = 1
"""Raised whenever the same model would come to be read otherwise."""

_A_TOKEN = 0


class _Loaded(NamedTuple):
    blocks: Blocks
    framing: Framing
    layers: int
    width: int


class CheckpointReader:
    """A model's layers, read in batches of equal length; it is loaded when it is first needed.

    In float32 on a CPU a text's latents are the same to the bit whatever is read with it. In
    bfloat16 and float16, and on other devices, the libraries choose their order of summation by
    the size of the batch, and the last bits may differ: who needs the same numbers again keeps
    them (see `scope.jobs.latent_store`).
    """

    def __init__(self, source: Source, options: ModelOptions, readout: Readout | None) -> None:
        self._source, self._options = source, options
        self.spec = source.spec
        causal = source.family == "causal"
        self.readout = readout or Readout(kind="prompt" if causal else "mean")
        # Numbers of float16 have more bits than fit beside bfloat16's range.
        self.precision: Precision = "bfloat16" if options.dtype == "bfloat16" else "float32"
        self.fingerprint = fingerprint_with(
            source.fingerprint, "latents", VERSION, self.readout.kind, *self.readout.around
        )

    @property
    def layers(self) -> int:
        """Vectors a text has: one a block, the input embeddings aside."""
        return self._loaded.layers

    @property
    def width(self) -> int:
        """Numbers a vector has."""
        return self._loaded.width

    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, layers, width); what a text has never depends on the other texts.

        Raises
        ------
        DataError
            When a text has no token.
        ModelError
            When the model answers what is not finite.
        """
        loaded = self._loaded
        found = np.empty((len(texts), loaded.layers, loaded.width), dtype=np.float32)
        rows = [framed.tokens for framed in loaded.framing.frame(texts)]
        for batch in batches_of_equal_length(list(map(len, rows)), self._options.token_budget):
            tokens = [rows[index] for index in batch]
            states = loaded.blocks.read(tokens, loaded.framing.read(len(tokens[0])))
            found[batch] = self._finite(states.numpy())
        return found

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, so that its end is left out."""
        return [framed.truncated for framed in self._loaded.framing.frame(texts)]

    def _finite(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        if not np.isfinite(states).all():
            raise ModelError(
                f"the layers of `{self.spec}` hold NaN or infinity in {self._options.dtype}",
                expected="finite numbers",
                mend="try --dtype float32 or bfloat16: numbers of some models are too large for "
                "float16; or check the checkpoint, whose weights may be damaged",
            )
        return states

    @cached_property
    def _loaded(self) -> _Loaded:
        head = self._source.load()
        framing = Framing(
            head.tokenizer,
            self.readout,
            limit=head.limit,
            causal=self._source.family == "causal",
            spec=self.spec,
        )
        blocks = Blocks(head.model, self.spec)
        # Configurations name these numbers in many ways; one token shows them.
        _, layers, width = blocks.read([[_A_TOKEN]], slice(0, 1)).shape
        return _Loaded(blocks, framing, layers, width)


def read_checkpoint(
    rest: str, options: ModelOptions, readout: Readout | None = None
) -> CheckpointReader:
    """The layers of a checkpoint in a folder or on the hub.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, or its config.json cannot be read.
    """
    return CheckpointReader(checkpoint_source(rest, options), options, readout)


def read_gguf(rest: str, options: ModelOptions, readout: Readout | None = None) -> CheckpointReader:
    """The layers of the causal language model in a GGUF file.

    Raises
    ------
    ModelError
        When there is no such file, or it is no GGUF.
    """
    return CheckpointReader(gguf_source(rest, options), options, readout)
