"""Which lists of a result may be long, and lie in files of their own beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Long:
    """Marks the type of a list that may have a million entries; lists of one name share a file."""

    name: str
