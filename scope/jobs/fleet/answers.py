"""Reads the answers and questions of a job on a fleet, and identifies their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.reading import read_matrix, read_questions
from scope.jobs.fleet.requests import TEST_SHARE
from scope.printing import counted
from scope.records import DataCard


def load_answers(
    specs: Sequence[str], columns: Mapping[str, str]
) -> tuple[CorrectnessMatrix, DataCard]:
    """The joined matrix of several sources, and its data card."""
    matrix = read_matrix(specs, columns=columns)
    return matrix, _card(", ".join(specs), matrix)


def load_questions(spec: str, columns: Mapping[str, str]) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the models' answers if the file has any, and their data card."""
    matrix = read_questions(spec, columns=columns)
    return matrix, _card(spec, matrix)


WHOLE = 16
"""The digits of a digest that are of the whole text; further ones are of its first line."""

LONG_LINE = 8
"""The fewest words of a first line that a question is recognised by."""


def text_digest(text: str) -> str:
    """A hash of the words of a question's text, then one of its first line's; empty without words.

    Each has sixteen hexadecimal digits. White space, case and the punctuation around a word are
    ignored. A first line of fewer than `LONG_LINE` words says too little of a question, and is
    left out.

    Examples
    --------
    >>> text_digest(" Who?  ") == text_digest("who"), text_digest(" ")
    (True, '')
    """
    lines = [_words(text), _words(text.strip().partition("\n")[0])]
    return "".join(
        blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        for words, least in zip(lines, (1, LONG_LINE), strict=True)
        if len(words) >= least
    )


def _words(text: str) -> list[str]:
    stripped = (word.strip(".,;:?\"'“”‘’") for word in text.casefold().split())
    return [word for word in stripped if word]


def same_texts(questions: CorrectnessMatrix) -> tuple[str, ...]:
    """A name for each question, shared by questions of the same words; its id if it has no text.

    Intervals resample texts: a text with several ids counts as one question.
    """
    pairs = zip(questions.ids, questions.texts, strict=True)
    return tuple(text_digest(text)[:WHOLE] or f"id {name}" for name, text in pairs)


def benchmarks_of(matrix: CorrectnessMatrix, purpose: str) -> tuple[str, ...]:
    """The benchmarks, that is the questions' categories; two or more are required.

    Raises
    ------
    DataError
        If there are fewer.
    """
    found = sorted({one for one in matrix.categories if one is not None})
    if len(found) < 2:
        raise DataError(
            f"{counted(len(found), 'benchmark')} in the categories of "
            f"{counted(len(matrix.ids), 'question')}",
            expected=f"two or more: {purpose}",
            fix="add a column with each question's benchmark, or name it: --column category=NAME",
        )
    return tuple(found)


def _card(spec: str, matrix: CorrectnessMatrix) -> DataCard:
    """The data card of a matrix; ``labelled`` counts questions with an answer."""
    return DataCard(
        spec=spec,
        fingerprint=matrix.fingerprint,
        rows=len(matrix.ids),
        used=len(matrix.ids),
        labelled=int((~np.isnan(matrix.correct)).any(axis=1).sum()),
    )


_STREAM = 0xE8A3
"""Spawn key of this split's random generator."""


def held_out_rows(texts: Sequence[str], share: float, seed: int) -> NDArray[np.bool_]:
    """Mask of the held-out questions: a random share of them.

    Questions with the same text stay together, to prevent leakage; if they do not fit the share,
    somewhat fewer are held out.

    Parameters
    ----------
    texts
        One per question; empty ones are different questions.

    Raises
    ------
    SpecError
        If none would be held out, or none would remain.

    Examples
    --------
    >>> int(held_out_rows([f"{number} + 1?" for number in range(10)], 0.2, seed=0).sum())
    2
    >>> held_out_rows(["Who?", "Why?", " Who? "], 0.7, seed=0).tolist()
    [False, True, False]
    """
    numbers: dict[str, int] = {}
    names = (text_digest(text)[:WHOLE] or f"row {row}" for row, text in enumerate(texts))
    kinds = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    sizes = np.bincount(kinds)
    drawn = np.random.default_rng([seed, _STREAM]).permutation(len(sizes))
    count = round(share * len(texts)) if 0 < share < 1 else 0
    taken, room = [], count
    for kind in drawn.tolist():
        if sizes[kind] <= room:
            taken.append(kind)
            room -= sizes[kind]
    if not 0 < len(taken) < len(sizes):
        raise SpecError(
            f"a share of {share:g} of {len(texts)} questions to hold out",
            expected="a share between 0 and 1, with questions in both parts",
            fix=f"write for example --test-share {TEST_SHARE}",
        )
    return np.isin(kinds, taken)


def require_enough_left(matrix: CorrectnessMatrix, held_out: NDArray[np.bool_], folds: int) -> None:
    """Check that enough questions remain for cross-validation.

    Raises
    ------
    SpecError
        If there are too few.
    """
    left = len(set(same_texts(matrix.take(~held_out))))
    if left < folds:
        raise SpecError(
            f"{counted(left, 'training question')} and {int(held_out.sum())} held out",
            expected=f"{folds} or more training questions with distinct texts",
            fix="hold out fewer with --test-share, or add questions",
        )
