"""What capabilities cost: queries for a text that they can change, measured.

Those of both searches with three trials, by ``benchmarks/each_capability.py`` on tweets and
film-review sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

QUERIES: Mapping[str, int] = MappingProxyType(
    {
        "casing": 190,
        "contraction": 10,
        "distractor": 130,
        "identity": 8,
        "inflection": 10,
        "keyboard": 170,
        "name": 40,
        "number": 40,
        "place": 35,
        "punctuation": 25,
        "synonym": 340,
        "typo": 95,
        "unicode": 75,
    }
)
