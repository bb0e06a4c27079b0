"""Which script a text is written in, for capabilities that know one."""

from __future__ import annotations

import unicodedata


def without_latin(text: str) -> str | None:
    """Why a text is none in Latin letters: fewer than half of its letters are; None if it is.

    Letters of mathematics and other look-alikes are not Latin.

    Examples
    --------
    >>> without_latin("un film merveilleux, 很好")
    >>> without_latin("замечательный film")
    'not in Latin letters'
    """
    letters = [one for one in text if one.isalpha()]
    latin = sum(unicodedata.name(one, "").startswith("LATIN ") for one in letters)
    return None if 2 * latin >= max(len(letters), 1) else "not in Latin letters"
