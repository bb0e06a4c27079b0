"""Overlap of answers: how many words, or characters, do two texts share?

Both F1 are multiset ones: of what a text holds, each piece counts as often as it stands there, and
F1 = 2 · shared / (pieces of the one + pieces of the other), the harmonic mean of precision and
recall. The pieces of word F1 are what white space separates, those of character F1 are single
characters; white space is no character, lest two answers agree for being several words long.

Exact match says that both F1 are 1. The order of the words does not count, so it is no equality of
strings: "Paris and Rome" matches "Rome and Paris", and "new  york" matches "new york".

Two empty texts share all that they hold, and have the value 1; an empty text and another have 0.

"How similar are two LLMs" (IIT Guwahati) takes the texts as they are. With ``normalize`` they
first go through the normalization of SQuAD's evaluation (Rajpurkar et al. 2016, 2018), and word F1
is then that of SQuAD 2.0; its exact match is equality of strings and so differs from ours in the
order of words.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

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
    return _f1_values(_characters, first, second, normalize)


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
    same = [sorted(one.split()) == sorted(other.split()) for one, other in pairs]
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
    pairs = _prepared(first, second, normalize)
    return np.array([_f1(pieces(one), pieces(other)) for one, other in pairs], dtype=np.float64)


def _prepared(
    first: Sequence[str], second: Sequence[str], normalize: bool
) -> list[tuple[str, str]]:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts are compared with {len(second)}")
    if normalize:
        first, second = list(map(squad_normalized, first)), list(map(squad_normalized, second))
    return list(zip(first, second, strict=True))


def _f1(first: Sequence[str], second: Sequence[str]) -> float:
    if first == second:
        return 1.0
    shared = (Counter(first) & Counter(second)).total()
    return 2 * shared / (len(first) + len(second))


def _characters(text: str) -> str:
    return "".join(text.split())
