"""Masks one content word of a sentence."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from scope.records import BLANK

MIN_LETTERS = 3

_FUNCTION_WORDS = """
    a about above across after again against ago ain all almost alone along already also although
    always am among amongst an and another any anybody anyone anything anywhere are aren around as
    at away back be because become becomes been before behind being below beneath beside besides
    between beyond both but by can cannot cause could couldn did didn do does doesn doing don done
    down during each either else enough even ever every everybody everyone everything everywhere
    except few first for from further get gets getting give go goes going gone got had hadn half has
    hasn hath have haven having he hence her here hers herself him himself his how however if in
    indeed inside instead into is isn it its itself just last least less let lest like made make
    many may maybe me might mightn mine more moreover most much must mustn my myself near nearly
    neither never nevertheless next no nobody none nor not nothing now nowhere of off often oh on
    once one ones only onto or other others otherwise ought our ours ourselves out outside over own
    perhaps put quite rather really round said same say says seem seemed seems several shall shan
    she should shouldn since so some somebody somehow someone something sometimes somewhere soon
    still such than that the thee their theirs them themselves then there therefore these they thine
    this thither those thou though through throughout thus thy till to together too toward towards
    two under unless until unto up upon us used very was wasn we well were weren what whatever when
    whenever where whereas wherever whether which whichever while who whoever whole whom whose why
    will with within without won would wouldn yes yet you your yours yourself yourselves
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Function words, which are never masked."""

# An apostrophe or a single hyphen within it makes two words one.
_WORD = re.compile(r"\w+(?:['’‐-]\w+)*")
_LETTERS = re.compile(r"[^\W\d_]+")


def blank(sentence: str, seed: int) -> tuple[str, str] | None:
    """The sentence with a blank, and the word that stood there; None if no word qualifies.

    A word qualifies if it consists of at least three letters and nothing else, is no function
    word, not the sentence's first, and occurs once in it, capitals and compounds considered. The
    seed and the sentence alone decide between them.

    Examples
    --------
    >>> blank("The old sailor was old, and a sailor's life is over.", seed=0)
    ("The old sailor was old, and a sailor's ____ is over.", 'life')
    >>> blank("It is what it is.", seed=0) is None
    True
    """
    words = _content_words(sentence)
    if not words:
        return None
    digest = hashlib.sha256(f"{seed}\n{sentence}".encode()).digest()
    word = words[int.from_bytes(digest[:8], "big") % len(words)]
    return f"{sentence[: word.start()]}{BLANK}{sentence[word.end() :]}", word[0]


def _content_words(sentence: str) -> list[re.Match[str]]:
    occurrences = Counter(_LETTERS.findall(sentence.casefold()))
    after_the_first = list(_WORD.finditer(sentence))[1:]
    return [word for word in after_the_first if _qualifies(word[0], occurrences)]


def _qualifies(word: str, occurrences: Counter[str]) -> bool:
    key = word.casefold()
    return (
        word.isalpha()
        and len(word) >= MIN_LETTERS
        and key not in FUNCTION_WORDS
        and occurrences[key] == 1
    )
