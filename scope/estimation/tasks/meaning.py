"""What compares answers by their meaning: any function of two texts, such as a cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scope.metrics import text_cosine_values
from scope.records import TaskAnswers

Values = NDArray[np.float64]

Compare = Callable[[Sequence[str], Sequence[str]], Values]
"""Two lists of texts in, one value a pair out."""

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts in, one row of length 1 a text out."""


def distinct_texts(answers: TaskAnswers) -> list[str]:
    """Every text that may be compared, answers and right ones, once each; empty ones left out.

    They are sorted, so that whoever reads them sees one order whatever the hash seed.

    Examples
    --------
    >>> from scope.records import Answer, Item, Question
    >>> item = Item(question=Question(id="0", text="Where?"), gold=("Rome", ""))
    >>> distinct_texts(TaskAnswers(task="qa", items=(item,), answers=((Answer(text="in Rome"),),)))
    ['Rome', 'in Rome']
    """
    found = {answer.text for row in answers.answers for answer in row if answer.text is not None}
    found.update(text for item in answers.items for text in item.gold)
    return sorted(text for text in found if text.strip())


def cosines_of(texts: Sequence[str], encode: Encode) -> Compare:
    """Compares texts by the cosine of their vectors; each is encoded once, now.

    Parameters
    ----------
    texts
        As `distinct_texts` gives them; where there is none, the encoder is not asked.

    Raises
    ------
    ValueError
        If the encoder does not give one row a text.

    Examples
    --------
    >>> compare = cosines_of(["king", "queen"], lambda texts: np.array([[1, 0], [0.6, 0.8]]))
    >>> compare(["king", "king"], ["queen", ""]).tolist()
    [0.6, 0.0]
    """
    if not texts:
        return partial(text_cosine_values, vectors={})
    rows = np.asarray(encode(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise ValueError(f"{len(texts)} texts were encoded as an array of shape {rows.shape}")
    return partial(text_cosine_values, vectors=dict(zip(texts, rows, strict=True)))
