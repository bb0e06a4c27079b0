"""Tables of words of ours, which stand in ``perturbations/tables``."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files


@cache
def table(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, without the notes at its head.

    Examples
    --------
    >>> len({len(row) for row in table("places")})
    1
    """
    rows = (line for line in _read(name).splitlines() if line and not line.startswith("#"))
    return tuple(tuple(line.split("\t")) for line in rows)


@cache
def table_fingerprint(name: str) -> str:
    """What changes whenever the table does."""
    return hashlib.sha256(_read(name).encode()).hexdigest()[:12]


def _read(name: str) -> str:
    return files("perturbations").joinpath("tables", f"{name}.tsv").read_text(encoding="utf-8")
