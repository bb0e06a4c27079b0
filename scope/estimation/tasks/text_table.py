"""Every model's answers in words, with the vectors of all distinct texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.records import Item, TaskAnswers

Vectors = Mapping[str, NDArray[np.float64]]
"""The vector of each text that is not empty."""

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts in, one row of length 1 a text out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTable:
    """The answers to a task without options.

    ``texts`` has one row a model and one text an item, None where no answer was given; ``asked``
    says in the same shape whether the question was put to the model. ``vectors`` and
    ``word_vectors`` are None without an encoder.
    """

    task: str
    items: tuple[Item, ...]
    texts: tuple[tuple[str | None, ...], ...]
    asked: tuple[tuple[bool, ...], ...]
    vectors: Vectors | None
    word_vectors: Vectors | None

    @classmethod
    def of(
        cls, answers: TaskAnswers, encode: Encode | None, encode_words: Encode | None
    ) -> TextTable:
        """Gather the answers and have every distinct text encoded once.

        Raises
        ------
        ValueError
            If an encoder does not give one row a text.
        """
        texts = tuple(tuple(answer.text for answer in row) for row in answers.answers)
        found = {text for row in texts for text in row if text is not None}
        found.update(text for item in answers.items for text in item.gold)
        # Sorted, so that the encoder sees one order whatever the hash seed.
        distinct = sorted(text for text in found if text.strip())
        return cls(
            task=answers.task,
            items=answers.items,
            texts=texts,
            asked=tuple(tuple(answer.asked for answer in row) for row in answers.answers),
            vectors=_encoded(distinct, encode),
            word_vectors=_encoded(distinct, encode_words),
        )


def _encoded(texts: Sequence[str], encode: Encode | None) -> Vectors | None:
    if encode is None:
        return None
    if not texts:
        return {}
    rows = np.asarray(encode(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise ValueError(f"{len(texts)} texts were encoded as an array of shape {rows.shape}")
    return dict(zip(texts, rows, strict=True))
