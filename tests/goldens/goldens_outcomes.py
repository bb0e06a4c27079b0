"""What is kept of a command's JSON: numbers and words that are results, by their path.

A path is the keys with dots between them: `measurements.estimate.value`. What stands in a list
under one path is kept in one list, in its order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

WORDS = {
    *("answer", "decision", "degenerate", "example_id", "id", "label", "model"),
    *("status", "target", "text", "verdict"),
}
"""Last keys of words that are results, and count as numbers do."""


def results(document: Any) -> dict[str, list[Any]]:
    """Numbers, true, false and words that are results, by path."""
    found: dict[str, list[Any]] = {}
    for path, leaf in _leaves(document):
        if leaf is not None and (not isinstance(leaf, str) or path.rpartition(".")[2] in WORDS):
            found.setdefault(path, []).append(leaf)
    return dict(sorted(found.items()))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that is neither an object nor a list, with its path."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, path)
    else:
        yield path, value


def parsed(text: str) -> Any:
    """The JSON of standard output, at six decimals and without the clock; None where it is none."""
    try:
        return _rounded(json.loads(text))
    except ValueError:
        return None


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in ("clock", "checksum")}
        return {key: _rounded(one) for key, one in kept.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 6) + 0.0 if isinstance(value, float) else value
