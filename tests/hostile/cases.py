"""What a hostile case is: something to give to the command, and what it must answer."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

WORKS = frozenset({0})
REFUSED = frozenset({2})

Make = Callable[[Path, ExitStack], Sequence[str | Path]]
"""Writes what the case needs into an empty folder and gives the command's arguments. Servers and
the like are entered on the stack, which is left after the command has ended."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One input for the real command.

    Parameters
    ----------
    name
        Unlike all others of its group; tells what is hostile.
    make
        Prepares the folder in which the command runs.
    exits
        The exit codes that are right.
    says, never
        What the two streams must and must not hold.
    seconds, megabytes
        Bounds on the time and on the memory beyond what the imports take.
    environment
        Settings of the process, beside those of the test.
    before
        Called in the process of the command, last before it; a function of a module.
    after
        Given the folder when the command has ended; asserts what must hold there.
    """

    name: str
    make: Make
    exits: frozenset[int] = REFUSED
    says: Sequence[str] = ()
    never: Sequence[str] = ()
    seconds: float = 30
    megabytes: int = 700
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] | None = None
    after: Callable[[Path], None] | None = None


def given(*arguments: str | Path, **files: str | bytes) -> Make:
    """A case of arguments and files alone: ``name__ext`` stands for ``name.ext``."""

    def make(folder: Path, _: ExitStack) -> Sequence[str | Path]:
        for name, content in files.items():
            whole = content.encode() if isinstance(content, str) else content
            (folder / name.replace("__", ".")).write_bytes(whole)
        return arguments

    return make
