"""What a decision is: what a practitioner asks of the command, and the only right answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Make = Callable[[Path], Iterator[Sequence[str]]]
"""Prepares the folder and yields the arguments of one command after another. What follows a
``yield`` happens between two commands. The last command is the one that decides."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One decision that went wrong once.

    Parameters
    ----------
    name
        What is asked, in words; unlike all others.
    make
        The commands; those before the last must end with 0.
    exits
        The last command's exit code.
    says, never
        What its two streams must and must not hold.
    page, page_never
        What the page of the run must and must not hold, where there is one.
    costly
        Whether it takes long: the fast run takes others.
    """

    name: str
    make: Make
    exits: int
    says: Sequence[str] = field(default_factory=tuple)
    never: Sequence[str] = field(default_factory=tuple)
    page: Sequence[str] = field(default_factory=tuple)
    page_never: Sequence[str] = field(default_factory=tuple)
    costly: bool = False
