"""What a job needs: a display of progress."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable


class Advance(Protocol):
    """Reports that some units of the current task are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


@runtime_checkable
class Progress(Protocol):
    """Shows the progress of long work to the user."""

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before; None if their number is unknown."""
