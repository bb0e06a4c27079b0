"""Questions: their texts and a split by text, and a table of numbers made of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, SpecError, listed
from scope.jobs.fleet.requests import TEST_SHARE

Table = NDArray[np.float32]
"""Questions as rows: first their vectors, then their features, then the category's code."""

Answers = NDArray[np.float32]
"""Shape (questions, models): 1 right, 0 wrong, NaN unknown."""

NO_CATEGORY = -1
"""The code of a category that the forecaster was not fitted on."""

SHOWN = 5
"""The number of names shown in a message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionLayout:
    """The meaning of the columns of a table of questions: a parameter of every forecaster.

    ``vector`` is the number of columns of the question's vector, by the encoder with the
    fingerprint ``encoder``; ``features`` names the columns after them, in their order. With
    ``categories``, the last column is the index of the question's category among them, or -1.

    Examples
    --------
    >>> layout = QuestionLayout(vector=2, features=("words",), categories=("arc", "gsm8k"))
    >>> table = np.array([[0.6, 0.8, 12.0, 1.0]], dtype=np.float32)
    >>> layout.width, layout.codes(table).tolist(), layout.features_of(table).tolist()
    (4, [1], [[12.0]])
    """

    vector: int
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    encoder: str = ""

    @property
    def width(self) -> int:
        """The number of columns of a table."""
        return self.vector + len(self.features) + bool(self.categories)

    def vectors_of(self, table: Table) -> NDArray[np.float32]:
        """The questions' vectors, shape (questions, vector)."""
        return table[:, : self.vector]

    def features_of(self, table: Table) -> NDArray[np.float32]:
        """The questions' features, shape (questions, features)."""
        return table[:, self.vector : self.vector + len(self.features)]

    def codes(self, table: Table) -> NDArray[np.int64]:
        """The index of each question's category, or -1; all -1 without categories."""
        if not self.categories:
            return np.full(len(table), NO_CATEGORY)
        return table[:, -1].astype(np.int64)


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NEGATION = re.compile(r"\b(?:not|NOT|except|EXCEPT|false|incorrect)\b")
_FORMULA = "$\\^="


def text_features(texts: Sequence[str]) -> NDArray[np.float32]:
    """Surface features of each text, not standardized.

    Parameters
    ----------
    texts
        One question each; every option has its own line.

    Returns
    -------
    NDArray
        Shape (texts, ``len(FEATURES)``).

    Examples
    --------
    >>> row = dict(zip(FEATURES, text_features(["2 is not\\n3?"])[0].tolist(), strict=True))
    >>> row["lines"], row["negation in the first line"], round(row["share of digits"], 3)
    (2.0, 1.0, 0.167)
    """
    features = np.array([[*_of_text(text).values()] for text in texts]).reshape(-1, len(FEATURES))
    features[:, _COUNTS] = np.log1p(features[:, _COUNTS])
    return features.astype(np.float32)


def _of_text(text: str) -> dict[str, float]:
    """The features by name, where ``log`` says which are taken as the logarithm of one more.

    Lines after the first count as options; shares are of the characters, and of the words.
    """
    signs = Counter(text)
    digits = sum(count for sign, count in signs.items() if sign.isdigit())
    symbols = sum(n for sign, n in signs.items() if not (sign.isalnum() or sign.isspace()))
    capitals = sum(count for sign, count in signs.items() if sign.isupper())
    words, lines, long = text.split(), text.split("\n"), len(text) + 1
    first, lower = lines[0], text.lower()
    sizes = [len(option) for option in lines[1:] or [""]]
    mean = sum(sizes) / len(sizes)
    spread = math.sqrt(sum((size - mean) ** 2 for size in sizes) / len(sizes))
    return {
        "log length": len(text),
        "log words": len(words),
        "log length of the first line": len(first),
        "lines": len(lines),
        "log mean length of an option": mean,
        "log spread of the options' lengths": spread,
        "log digits": digits,
        "share of digits": digits / long,
        "share of symbols": symbols / long,
        "log numbers in the first line": len(_NUMBER.findall(first)) if digits else 0,
        "log numbers": len(_NUMBER.findall(text)) if digits else 0,
        "mean length of a word": sum(map(len, words)) / max(len(words), 1),
        "share of capitals": capitals / long,
        "negation in the first line": _NEGATION.search(first) is not None,
        "none of, or all of": "none of" in lower or "all of" in lower,
        "log signs of formulas": sum(signs[sign] for sign in _FORMULA),
        "share of distinct words": len(set(words)) / max(len(words), 1),
    }


FEATURES: Final = tuple(_of_text(""))
"""The columns of `text_features`."""

_COUNTS = [place for place, name in enumerate(FEATURES) if name.startswith("log ")]


def make_layout(
    *, vectors: NDArray[np.float32], encoder: str, categories: Sequence[str | None], features: bool
) -> QuestionLayout:
    """The layout of a table of these questions.

    Parameters
    ----------
    vectors
        Shape (questions, width); width 0 without vectors.
    encoder
        The fingerprint of the vectors' encoder.
    categories
        One per question, which may be None; two or more distinct ones have a column.
    features
        Whether the features of the texts have columns.

    Examples
    --------
    >>> vectors = np.ones((2, 3), dtype=np.float32)
    >>> layout = make_layout(
    ...     vectors=vectors, encoder="e", categories=("gsm8k", "arc"), features=False
    ... )
    >>> layout.vector, layout.categories
    (3, ('arc', 'gsm8k'))
    """
    names = {category for category in categories if category is not None}
    return QuestionLayout(
        vector=vectors.shape[1],
        features=FEATURES if features else (),
        categories=tuple(sorted(names)) if len(names) > 1 else (),
        encoder=encoder,
    )


def question_table(
    layout: QuestionLayout,
    *,
    vectors: NDArray[np.float32],
    texts: Sequence[str],
    categories: Sequence[str | None],
) -> Table:
    """The table of these questions in this layout.

    A question without a category, or with one that the layout lacks, has the code -1.

    Parameters
    ----------
    vectors
        Shape (questions, ``layout.vector``).
    texts, categories
        One per question.

    Examples
    --------
    >>> layout = QuestionLayout(vector=1, categories=("arc", "gsm8k"), encoder="e")
    >>> vectors = np.array([[0.5], [0.25]])
    >>> question_table(
    ...     layout, vectors=vectors, texts=("", ""), categories=("gsm8k", "new")
    ... ).tolist()
    [[0.5, 1.0], [0.25, -1.0]]
    """
    parts = [np.asarray(vectors, dtype=np.float32)]
    if layout.features:
        parts.append(text_features(texts))
    if layout.categories:
        code = {name: place for place, name in enumerate(layout.categories)}
        codes = [code.get(category or "", NO_CATEGORY) for category in categories]
        parts.append(np.array(codes, dtype=np.float32)[:, np.newaxis])
    return np.concatenate(parts, axis=1, dtype=np.float32)


def require_texts(texts: Sequence[str], wanted: str, ids: Sequence[str]) -> None:
    """Check that every question has a text, which ``wanted`` needs.

    Raises
    ------
    DataError
        When some have none; the message names the first by their ids.
    """
    without = [name for name, text in zip(ids, texts, strict=True) if not text.strip()]
    if without:
        raise DataError(
            f"no text of {len(without)} of {len(texts)} questions: {listed(without, SHOWN)}",
            expected=f"the text of every question, for {wanted}",
            fix="add a column with the text, or name it: --column text=NAME; without texts there "
            "are --forecaster mean, `scope fleet predict` and `scope fleet map --data`",
        )


WHOLE = 16
"""Number of digits for the whole text in a digest; the other digits are for the first line."""

LONG_LINE = 8
"""Least number of words of a first line that identifies a question."""


def text_digest(text: str) -> str:
    """A hash of the words of a question's text, then of its first line; empty without words.

    Each has sixteen hexadecimal digits. White space, case and the punctuation around a word are
    ignored. A first line of fewer than `LONG_LINE` words does not identify a question, and has no
    hash.

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


def text_names(ids: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """A name for each question, shared by questions of the same words; its id if it has no text.

    Intervals resample texts: a text with several ids counts as one question.
    """
    pairs = zip(ids, texts, strict=True)
    return tuple(text_digest(text)[:WHOLE] or f"id {name}" for name, text in pairs)


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
    import pandas

    names = [text_digest(text)[:WHOLE] or f"row {row}" for row, text in enumerate(texts)]
    kinds, _ = pandas.factorize(np.array(names, dtype=object))
    sizes = np.bincount(kinds)
    drawn = np.random.default_rng([seed, _STREAM]).permutation(len(sizes))
    taken, room = [], round(share * len(texts))
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
