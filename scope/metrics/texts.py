"""Answers in words: overlap of words and characters, nearness in meaning, several right answers.

Both F1 are multiset ones: a piece counts as often as it occurs, and F1 = 2 · shared / (pieces of
the first + pieces of the second), the harmonic mean of precision and recall. The pieces of word F1
are separated by white space, those of character F1 are single characters without white space, so
that two answers do not agree for being several words long. Exact match says that both F1 are 1:
the order of the words does not count.

"How similar are two LLMs" (IIT Guwahati) takes the texts as they are. With ``normalize`` they
first go through the normalization of SQuAD's evaluation (Rajpurkar et al. 2016, 2018), and word F1
is then that of SQuAD 2.0; its exact match is equality of strings and so differs from ours in the
order of words.

SemScore is the mean cosine of sentence vectors (all-mpnet-base-v2 in Aynetdinov & Akbik 2024, arXiv
2401.17072, and in "How similar are two LLMs"), the word cosine that of static word vectors.

Two empty texts have the value 1 in every metric, an empty text and another 0.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.metrics.arrays import Values

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def word_f1_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return the share of words that each two texts have in common, in 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Texts, in parallel.
    normalize
        Whether case, punctuation, articles and extra white space are taken away first.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides.

    Examples
    --------
    Of two words and three, two are shared: 2 · 2 / (2 + 3).

    >>> word_f1_values(["in Paris"], ["in Paris today"]).tolist()
    [0.8]
    >>> word_f1_values(["The Louvre."], ["louvre"], normalize=True).tolist()
    [1.0]
    """
    return _f1_values(str.split, first, second, normalize)


def character_f1_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return the share of characters that each two texts have in common, in 0..1. Symmetric.

    Parameters and errors are those of `word_f1_values`.

    Examples
    --------
    Nine of ten letters each:

    >>> character_f1_values(["Remarkable"], ["Remarkably"]).tolist()
    [0.9]
    """
    return _f1_values(lambda text: "".join(text.split()), first, second, normalize)


def exact_match_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return 1 where both F1 are 1, else 0. Symmetric.

    The same words have the same characters, so the words alone decide. Parameters and errors are
    those of `word_f1_values`.

    Examples
    --------
    >>> exact_match_values(["Paris and Rome", "Paris"], ["Rome and Paris", "paris"]).tolist()
    [1.0, 0.0]
    """
    pairs = _prepared(first, second, normalize)
    same = [sorted(text.split()) == sorted(other.split()) for text, other in pairs]
    return np.array(same, dtype=np.float64)


def squad_normalized(text: str) -> str:
    """Return the text as SQuAD's evaluation compares it.

    In lower case, without ASCII punctuation, without the articles a, an and the, and with one
    space between words.

    Examples
    --------
    >>> squad_normalized("The  Eiffel-Tower, a tower!")
    'eiffeltower tower'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _f1_values(
    pieces: Callable[[str], Sequence[str]],
    first: Sequence[str],
    second: Sequence[str],
    normalize: bool,
) -> Values:
    values = []
    for texts in _prepared(first, second, normalize):
        left, right = map(pieces, texts)
        shared = (Counter(left) & Counter(right)).total()
        values.append(1.0 if left == right else 2 * shared / (len(left) + len(right)))
    return np.array(values, dtype=np.float64)


def _prepared(
    first: Sequence[str], second: Sequence[str], normalize: bool
) -> list[tuple[str, str]]:
    if normalize:
        first, second = list(map(squad_normalized, first)), list(map(squad_normalized, second))
    return list(zip(first, second, strict=True))


Vector = NDArray[np.float64]
"""Shape (dimensions,): of length 1, or of length 0 where the encoder knows nothing of the text."""

_LENGTH_TOLERANCE = 1e-3


def cosine_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return the cosine of each two rows, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, dimensions), rows of length 1. A row of zeros has the cosine 0 with all.

    Raises
    ------
    ValueError
        If a row has another length.

    Examples
    --------
    >>> cosine_values([[1, 0], [0, 1]], [[0.6, 0.8], [0, -1]]).tolist()
    [0.6, -1.0]
    """
    rows, others = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    _require_length_one(rows)
    _require_length_one(others)
    # Rounding may lead out of the range by a last bit.
    cosines: Values = np.clip(np.einsum("ij,ij->i", rows, others), -1.0, 1.0)
    return cosines


def text_cosine_values(
    first: Sequence[str], second: Sequence[str], vectors: Mapping[str, Vector]
) -> Values:
    """Return the cosine of each two texts' vectors, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, whatever their vectors.
    vectors
        The vector of each text that is not empty.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides, or a vector is not of length 1.

    Examples
    --------
    >>> vectors = {"king": np.array([1.0, 0.0]), "queen": np.array([0.8, 0.6])}
    >>> text_cosine_values(["king", "king", ""], ["queen", "", ""], vectors).tolist()
    [0.8, 0.0, 1.0]
    """

    def cosines(texts: Sequence[str], others: Sequence[str]) -> Values:
        return cosine_values([vectors[text] for text in texts], [vectors[text] for text in others])

    return text_likeness_values(first, second, cosines)


def text_likeness_values(
    first: Sequence[str],
    second: Sequence[str],
    likeness: Callable[[Sequence[str], Sequence[str]], Values],
) -> Values:
    """Return the similarity of each pair: by rule for equal and empty texts, else by ``likeness``.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, space around them aside; an empty one
        and another have 0.
    likeness
        One value a pair for texts that are neither; it is asked once, or not at all.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides.

    Examples
    --------
    >>> def share(one, other): return np.array([len(a) / len(b) for a, b in zip(one, other)])
    >>> text_likeness_values(["ox", "ox", " "], ["oxen", "ox ", "cow"], share).tolist()
    [0.5, 1.0, 0.0]
    """
    pairs = [(text.strip(), other.strip()) for text, other in zip(first, second, strict=True)]
    values = np.array([float(text == other) for text, other in pairs], dtype=np.float64)
    compared = [
        index for index, (text, other) in enumerate(pairs) if text and other and text != other
    ]
    if compared:
        values[compared] = likeness(
            [first[index] for index in compared], [second[index] for index in compared]
        )
    return values


def _require_length_one(rows: NDArray[np.float64]) -> None:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    good = (np.abs(lengths - 1) <= _LENGTH_TOLERANCE) | (lengths == 0)
    if not good.all():
        raise ValueError(f"a vector of length {lengths[~good][0]:.6g}, not 1")


def best_against_gold(
    values: Callable[[Sequence[str], Sequence[str]], Values],
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
) -> Values:
    """Return for each answer the greatest value that it has with any of its right answers.

    Parameters
    ----------
    values
        A metric on two lists of texts, such as `word_f1_values`.
    answers
        One text an item.
    gold
        The right answers of each item, at least one.

    Raises
    ------
    ValueError
        If there are not as many items in both.

    Examples
    --------
    >>> from scope.metrics.texts import word_f1_values
    >>> best_against_gold(word_f1_values, ["in Paris", "Rome"], [["Paris", "in Paris"], [""]])
    array([1., 0.])
    """
    if not answers:
        return np.zeros(0)
    sizes = [len(right) for right in gold]
    repeated = [answer for answer, size in zip(answers, sizes, strict=True) for _ in range(size)]
    scores = values(repeated, list(chain.from_iterable(gold)))
    starts = np.cumsum([0, *sizes[:-1]])
    return np.asarray(np.maximum.reduceat(scores, starts), dtype=np.float64)
