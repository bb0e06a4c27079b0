"""English contractions and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

NOT_EXPANSIONS = frozenset({"ain't", "ma'am", "how'd'y"})
"""Entries of TextAttack's table whose long form means something else or is no longer form."""


@cache
def contractions() -> Mapping[str, str]:
    """From each contraction to its long form, in lower case.

    The table is that of TextAttack's ``WordSwapExtend`` and ``WordSwapContract``, which look for it
    in lower case and in single words alone. Left out are entries that are no long form and
    contractions of contractions ("he'd've").

    Examples
    --------
    >>> contractions()["isn't"], contractions()["they're"]
    ('is not', 'they are')
    """
    from perturbations.textattack_gate import load_textattack

    load_textattack()
    from textattack.shared.data import EXTENSION_MAP

    known = {short.lower(): long.lower() for short, long in EXTENSION_MAP.items()}
    return {
        short: long
        for short, long in sorted(known.items())
        if short.count("'") == 1 and short not in NOT_EXPANSIONS
    }
