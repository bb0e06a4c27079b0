"""``hf:`` and ``gguf:`` checkpoints in the role of latent reader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.foreign import during_inference
from scope.models.batching import batches_of_equal_length
from scope.models.heads import fingerprint_with
from scope.models.latents.blocks import Blocks
from scope.models.latents.changing import longest_unchanged
from scope.models.latents.framing import Framing
from scope.models.latents.readout import Readout, ReadoutKind
from scope.models.latents.side_by_side import side_by_side
from scope.models.latents.source import ModelSource, checkpoint_source, gguf_source
from scope.models.options import DType, ModelOptions
from scope.models.row_rules import RowRule
from scope.protocols import Precision

VERSION = 3
"""Raised whenever the same model would come to be read otherwise."""

TOKENS_A_BATCH = 256
"""Of the batches of a fixed shape: of more, more are padded in vain where texts are few."""

TOKENS_AT_ONCE = 4096
"""The same where no CPU computes: what is padded in vain there costs less than many calls."""


class _Loaded(NamedTuple):
    blocks: Blocks
    framing: Framing
    tokens_a_batch: int


class CheckpointReader:
    """A model's layers, read in batches of equal length; it is loaded when it is first needed.

    A text's latents are the same to the bit whatever is read with it, in any order and portions.
    On a CPU they do not depend on the number of threads either, each of which runs batches of its
    own. Another processor, or another release of torch, may round otherwise.

    In float32 on a CPU batches are as large as ``token_budget`` lets them be, and padded as
    `scope.models.inference` finds that the processor needs it. In bfloat16 and float16, and on
    other devices, the libraries choose the order of summation by the shape of the batch: there the
    shape follows from the length of the text alone. A batch of texts of L tokens has
    ``TOKENS_A_BATCH // L`` rows (on other devices ``TOKENS_AT_ONCE // L``), at least one, and where
    there are too few texts one stands in it again and again; the ``token_budget`` has no say.
    """

    def __init__(self, source: ModelSource, options: ModelOptions, readout: Readout | None) -> None:
        self._source, self._options = source, options
        self.spec = source.spec
        causal = source.family == "causal"
        self._readout = readout or Readout(kind="prompt" if causal else "mean")
        # Numbers of float16 have more bits than fit beside bfloat16's range.
        self.precision: Precision = "bfloat16" if options.dtype == "bfloat16" else "float32"
        self.fingerprint = fingerprint_with(
            source.fingerprint, "latents", VERSION, self._readout.kind, *self._readout.around
        )

    @property
    def readout(self) -> ReadoutKind:
        """Where in a text its latents are taken."""
        return self._readout.kind

    @property
    def prompt(self) -> str | None:
        """What stands around a text, the usual prompt included; None where nothing does."""
        return self._readout.prompt

    @property
    def dtype(self) -> DType:
        """The precision of the model's weights and activations."""
        return self._options.dtype

    @property
    def layers(self) -> int:
        """Vectors a text has: one a block, the input embeddings aside; the model is loaded."""
        return self._loaded.blocks.layers

    @property
    def width(self) -> int:
        """Numbers a vector has; the model is loaded."""
        return self._loaded.blocks.width

    @property
    def reproducible(self) -> str:
        """How equal latents are in any batch; the model is loaded."""
        return self._loaded.blocks.reproducible

    @during_inference
    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, layers, width); what a text has never depends on the other texts.

        Raises
        ------
        DataError
            When a text has no token.
        ModelError
            When the model answers what is not finite.
        """
        found = np.empty((len(texts), self.layers, self.width), dtype=np.float32)
        rows = [framed.tokens for framed in self._loaded.framing.frame(texts)]
        batches = list(batches_of_equal_length(list(map(len, rows)), self._loaded.tokens_a_batch))

        def read(batch: Sequence[int]) -> None:
            found[batch] = self._finite(self._read([rows[index] for index in batch]))

        # Measured before several threads read at once.
        _ = self.reproducible
        side_by_side(read, batches, most=self._loaded.blocks.most_at_once)
        return found

    @during_inference
    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, so that its end is left out."""
        return [framed.truncated for framed in self._loaded.framing.frame(texts)]

    def _read(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """A batch of rows that are as long as each other."""
        states = self._loaded.blocks.read(rows, self._loaded.framing.read(len(rows[0])))
        return cast(NDArray[np.float32], states.numpy())

    def _finite(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        if not np.isfinite(states).all():
            raise ModelError(
                f"the layers of `{self.spec}` hold NaN or infinity in {self.dtype}",
                expected="finite numbers",
                fix="try --dtype float32 or bfloat16: numbers of some models are too large for "
                "float16; or check the checkpoint, whose weights may be damaged",
            )
        return states

    @cached_property
    def _loaded(self) -> _Loaded:
        head = self._source.load()
        unchanged = longest_unchanged(head.model)
        framing = Framing(
            head.tokenizer,
            self._readout,
            limit=head.limit if unchanged is None else min(head.limit, unchanged),
            causal=self._source.family == "causal",
            spec=self.spec,
        )
        on_cpu = next(head.model.parameters()).device.type == "cpu"
        if on_cpu and self.dtype == "float32":
            blocks = Blocks(head.model, self.spec, self.dtype)
            return _Loaded(blocks, framing, self._options.token_budget)
        tokens = TOKENS_A_BATCH if on_cpu else TOKENS_AT_ONCE
        blocks = Blocks(
            head.model, self.spec, self.dtype, [RowRule(tokens=tokens, one_thread=on_cpu)]
        )
        return _Loaded(blocks, framing, tokens)


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
        When there is no such file, or it is not a GGUF file.
    """
    return CheckpointReader(gguf_source(rest, options), options, readout)
