"""Proper names of a table in a text: where they stand, and by what they may be replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from perturbations.edits import any_of, has_capitals

_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|[\"“(]\s*)$")
_MARK = "*"


def without_mark(name: str) -> str:
    """The name as it is written; tables mark one that is an ordinary word too with a star."""
    return name.removesuffix(_MARK)


def names_in(text: str, names: Mapping[str, object]) -> Iterator[re.Match[str]]:
    """The places of these names in a text.

    In a text with capitals a name has one; a name that is an ordinary word, marked with ``*``, is
    none at the start of a sentence. In a text of one case marked names are none.

    Examples
    --------
    >>> [found[0] for found in names_in("Rose met Rose and rose", {"Rose*": 1})]
    ['Rose']
    >>> [found[0] for found in names_in("rose met anna", {"Rose*": 1, "Anna": 2})]
    ['anna']
    """
    capitals = has_capitals(text)
    for found in any_of(map(without_mark, names)).finditer(text):
        word = found[0].title() + _MARK in names
        starts = word and _SENTENCE_START.search(text, 0, found.start())
        if (found[0][0].isupper() and not starts) if capitals else not word:
            yield found
