"""A saved probe as a measure of semantic similarity, from 0 to 1 for each pair of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from scope.answers.vectors import BYTES_A_PORTION, LatentTable, recognise_reader, stored_latents
from scope.errors import DataError, ModelError, SpecError
from scope.jobs.probe.opening import OpenedProbe, open_probe
from scope.metrics import text_likeness_values
from scope.models import ModelOptions
from scope.paths import expanded
from scope.probes import SimilarityProbe
from scope.protocols import LatentReader, Progress

Pair = tuple[str, str]

PAIRS_A_PORTION = 1024
"""The most pairs whose latents are in memory at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeSimilarity:
    """A probe with the model that it was fitted on, which is loaded on first use.

    ``model`` is the model's spec if given by the user.
    """

    folder: Path
    model: str | None
    opened: OpenedProbe

    @classmethod
    def load(cls, folder: Path, options: ModelOptions, model: str | None = None) -> ProbeSimilarity:
        """Load a saved probe, and find its model.

        Parameters
        ----------
        folder
            What `scope.probes.save_probe` wrote.
        options
            How the model runs; its precision is that of the probe. Permissions, such as for
            custom code, apply only to a named model.
        model
            The model's current location; by default that in the probe's file, which is untrusted.

        Raises
        ------
        RunError
            If there is no probe, or it is damaged.
        ModelError, SpecError
            If its model cannot be found, must be named to be loaded, or has changed; then the
            message has both fingerprints.
        """
        try:
            opened = open_probe(expanded(folder), options, model)
        except (ModelError, SpecError) as error:
            if model is not None:
                raise
            # In other jobs --model is the probe's model; here it is one to compare.
            raise type(error)(
                error.found,
                expected=error.expected,
                fix=f"give its current location: --semscore probe:{folder}#SPEC, to which "
                "--allow-pickle and --trust-remote-code apply; or fit the probe again",
            ) from error
        return cls(folder=folder, model=model, opened=opened)

    def read(self, texts: Sequence[str], progress: Progress | None = None) -> ReadTexts:
        """Compute the model's latents of texts, or reuse cached ones; see `ReadTexts`.

        Raises
        ------
        ModelError
            If the model cannot be loaded, or its latents are not finite.
        RunError
            If latents cannot be cached, or cached ones are damaged.
        """
        wanted = sorted({text.strip() for text in texts} - {""}, key=lambda one: (len(one), one))
        recognise_reader(wanted, self.opened.reader, progress)
        try:
            table, readable = stored_latents(wanted, self.opened.reader, progress), wanted
        except DataError:
            # Some have no token for this model, such as characters that its tokenizer removes.
            readable = _readable(wanted, self.opened.reader)
            table = stored_latents(readable, self.opened.reader, progress)
        return ReadTexts(self.opened.probe, table, frozenset(readable))


class ReadTexts:
    """Texts with the latents of a probe's model; any two can be compared.

    ``truncated`` counts the texts that exceed the model's input length; only their beginning is
    compared. The latents are on disk, and only a batch is in memory at a time.
    """

    def __init__(
        self, probe: SimilarityProbe, table: LatentTable, readable: frozenset[str]
    ) -> None:
        self._probe, self._table, self._readable = probe, table, readable
        self.truncated = table.truncated

    def similarity(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """The semantic similarity of each pair of texts, from 0 to 1: the probe's scaled score.

        Equal texts have exactly 1, and the value is symmetric, to the bit. A text without a token
        for the model is treated as empty: two of them have 1, one of them and another text 0.
        """
        return text_likeness_values(self._told(first), self._told(second), self._scored)

    def _told(self, texts: Sequence[str]) -> list[str]:
        return [text.strip() if text.strip() in self._readable else "" for text in texts]

    def _scored(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Each distinct pair is scored once, in either order."""
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
    """The pair in a canonical order.

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
    """The texts that have a token for the model, found by bisection."""
    try:
        reader.truncated(texts)
    except DataError:
        if len(texts) == 1:
            return []
        half = len(texts) // 2
        return [*_readable(texts[:half], reader), *_readable(texts[half:], reader)]
    return list(texts)
