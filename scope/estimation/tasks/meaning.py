"""What compares answers by their meaning: any function of two texts, such as a cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb

import numpy as np
from numpy.typing import NDArray

from scope.metrics import METRICS, text_cosine_values
from scope.records import TaskAnswers

Values = NDArray[np.float64]

Compare = Callable[[Sequence[str], Sequence[str]], Values]
"""Two lists of texts in, one value a pair out."""

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts in, one row of length 1 a text out."""


def lowest(key: str, *, cosines: bool) -> float:
    """The least value that a metric can have; that of SemScore depends on what measures it.

    Examples
    --------
    >>> lowest("sem_score", cosines=True), lowest("sem_score", cosines=False)
    (-1.0, 0.0)
    """
    return 0.0 if key == "sem_score" and not cosines else METRICS[key].low


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


def most_pairs(answers: TaskAnswers) -> int:
    """How many pairs of texts are compared if every model answers everything.

    Each answer with each of its right ones, and each two answers to an item.

    Examples
    --------
    >>> from scope.records import Answer, Item, Question
    >>> item = Item(question=Question(id="0", text="Where?"), gold=("Rome", "in Rome"))
    >>> row = (Answer(text="Paris"),)
    >>> most_pairs(TaskAnswers(task="qa", items=(item,), answers=(row, row, row)))
    9
    """
    models = len(answers.answers)
    with_gold = models * sum(len(item.gold) for item in answers.items)
    return with_gold + comb(models, 2) * len(answers.items)


def counted_pairs(compare: Compare, advance: Callable[[int], None]) -> Compare:
    """The same function, which tells how many pairs it has compared.

    Examples
    --------
    >>> told = []
    >>> counted_pairs(lambda ones, others: np.zeros(len(ones)), told.append)(["a", "b"], ["c", "d"])
    array([0., 0.])
    >>> told
    [2]
    """

    def compare_and_tell(first: Sequence[str], second: Sequence[str]) -> Values:
        values = compare(first, second)
        advance(len(values))
        return values

    return compare_and_tell


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
