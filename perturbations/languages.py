"""Which script and language a text is written in, for capabilities that know one."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from perturbations.word_tables import table

_ENOUGH = 3
"""So many different words of another language tell it."""


def not_latin(text: str) -> str | None:
    """Why a text is none in Latin letters: fewer than half of its letters are; None if it may be.

    Letters of mathematics and other look-alikes are not Latin.

    Examples
    --------
    >>> not_latin("un film merveilleux, 很好")
    >>> not_latin("замечательный film")
    'not in Latin letters'
    """
    letters = [one for one in text if one.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN ") for letter in letters)
    return None if 2 * latin >= len(letters) else "not in Latin letters"


def not_english(text: str) -> str | None:
    """Why a text is not in English; None where it may be.

    It is not where it has at least three different function words of one other language, and more
    than twice as many as of English. A shorter text in Latin letters, or one in a language whose
    words are not known, passes for English.

    Examples
    --------
    >>> not_english("le film est long et je ne l'aime pas")
    'not in English'
    >>> not_english("a film on la dolce vita, le jazz et cetera, and the best of its kind")
    >>> not_english("замечательный film")
    'not in Latin letters'
    """
    words = set(re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", text).lower()))
    english, *others = (len(words & known) for known in _function_words())
    if max(others) >= max(_ENOUGH, 2 * english + 1):
        return "not in English"
    return not_latin(text)


@cache
def _function_words() -> tuple[frozenset[str], ...]:
    """Of English first, then of other languages."""
    return tuple(frozenset(words.split()) for _, words in table("function_words"))
