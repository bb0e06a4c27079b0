"""A saved probe as a similarity measure: texts in, one value from 0 to 1 per pair out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, ModelError, SpecError
from scope.jobs.latent_store import BYTES_A_PORTION, LatentTable, recognise_reader, stored_latents
from scope.jobs.probe.opening import OpenedProbe, open_probe
from scope.metrics import text_likeness_values
from scope.models import ModelOptions
from scope.paths import expanded
from scope.probes import SimilarityProbe
from scope.protocols import LatentReader, Progress

Pair = tuple[str, str]

PAIRS_A_PORTION = 1024
"""Most pairs whose latents are in memory at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeSimilarity:
    """A probe with the model that it was fitted on, which is loaded when a text is first read.

    ``model`` is the spec by which the user named that model, if so.
    """

    folder: Path
    model: str | None
    opened: OpenedProbe

    @classmethod
    def load(cls, folder: Path, options: ModelOptions, model: str | None = None) -> ProbeSimilarity:
        """Read a probe that was saved, and find its model.

        Parameters
        ----------
        folder
            What `scope.probes.save_probe` wrote.
        options
            Where and how fast the model runs; its precision is the one that the probe knows.
            What else they allow, such as code of its own, holds for a model that is named alone.
        model
            Where the model is now; by default where the probe's file says, which anybody may have
            written.

        Raises
        ------
        RunError
            When there is no probe, or it is damaged.
        ModelError, SpecError
            When its model cannot be found or named, may not be loaded without having been named,
            or has changed: then both fingerprints are given.
        """
        try:
            opened = open_probe(expanded(folder), options, model)
        except (ModelError, SpecError) as error:
            if model is not None:
                raise
            # Elsewhere --model says where a probe's model is now; here it names one to compare.
            raise type(error)(
                error.found,
                expected=error.expected,
                fix=f"give its new location: --semscore probe:{folder}#SPEC, to which "
                "--allow-pickle and --trust-remote-code also apply; or fit the probe again",
            ) from error
        return cls(folder=folder, model=model, opened=opened)

    def read(self, texts: Sequence[str], progress: Progress | None = None) -> ReadTexts:
        """Have the model read texts, as far as it has not done so before; see `ReadTexts`.

        Raises
        ------
        ModelError
            When the model cannot be loaded, or does not give finite numbers.
        RunError
            When latents cannot be kept, or those that are kept are damaged.
        """
        wanted = sorted({text.strip() for text in texts} - {""}, key=lambda one: (len(one), one))
        recognise_reader(wanted, self.opened.reader, progress)
        try:
            table, readable = stored_latents(wanted, self.opened.reader, progress), wanted
        except DataError:
            # Some have no token for this model, such as marks that its tokenizer takes out.
            readable = _readable(wanted, self.opened.reader)
            table = stored_latents(readable, self.opened.reader, progress)
        return ReadTexts(self.opened.probe, table, frozenset(readable))


class ReadTexts:
    """Texts that a probe's model has read, any two of which can be compared.

    ``truncated`` says how many of them are longer than the model reads: of those the beginning
    alone is compared. Their latents are stored on disk; of a comparison no more than a portion of
    them is in memory at a time.
    """

    def __init__(
        self, probe: SimilarityProbe, table: LatentTable, readable: frozenset[str]
    ) -> None:
        self._probe, self._table, self._readable = probe, table, readable
        self.truncated = table.truncated

    def similarity(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """How alike in meaning each two texts are, from 0 to 1: the probe's score in its range.

        Equal texts have exactly 1, and two texts the same value both ways round, to the bit. A
        text without a token for the model counts as an empty one: two of them have 1, and one
        beside another text has 0.
        """
        return text_likeness_values(self._told(first), self._told(second), self._scored)

    def _told(self, texts: Sequence[str]) -> list[str]:
        return [text.strip() if text.strip() in self._readable else "" for text in texts]

    def _scored(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Each different pair is scored once, whichever of its texts comes first."""
        pairs = [_ordered(pair) for pair in zip(first, second, strict=True)]
        distinct = list(dict.fromkeys(pairs))
        step = _pairs_a_portion(self._table)
        values: dict[Pair, float] = {}
        for start in range(0, len(distinct), step):
            portion = distinct[start : start + step]
            values.update(zip(portion, self._values(portion), strict=True))
        return np.array([values[pair] for pair in pairs], dtype=np.float64)

    def _values(self, pairs: Sequence[Pair]) -> list[float]:
        ones, others = zip(*pairs, strict=True)
        low, high = self._probe.low, self._probe.high
        scores = self._probe.predict(self._table.rows(ones), self._table.rows(others))
        return cast(list[float], ((scores - low) / (high - low)).tolist())


def _ordered(pair: Pair) -> Pair:
    """The same for both orders of two texts.

    Examples
    --------
    >>> _ordered(("b", "a")), _ordered(("a", "b"))
    (('a', 'b'), ('a', 'b'))
    """
    one, other = pair
    return (one, other) if one <= other else (other, one)


def _pairs_a_portion(table: LatentTable) -> int:
    bytes_a_text = table.layers * table.width * np.dtype(np.float32).itemsize
    return min(PAIRS_A_PORTION, max(1, BYTES_A_PORTION // bytes_a_text))


def _readable(texts: Sequence[str], reader: LatentReader) -> list[str]:
    """The texts that have a token for the model, found by halves: most have."""
    try:
        reader.truncated(texts)
    except DataError:
        if len(texts) == 1:
            return []
        half = len(texts) // 2
        return [*_readable(texts[:half], reader), *_readable(texts[half:], reader)]
    return list(texts)
