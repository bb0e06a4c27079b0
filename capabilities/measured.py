"""What capabilities cost: queries a text of both searches, measured by
``benchmarks/each_capability.py`` on the demo's tweets, with three trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

QUERIES: Mapping[str, int] = MappingProxyType({"synonym": 85, "typo": 45})
