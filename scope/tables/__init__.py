"""A comparison as tables: for the terminal and for data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scope.tables.probe import probe
from scope.tables.rows import rows, to_frame

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["rows", "table", "to_frame", "to_text"]


def table(comparison: Any, folder: Path | None = None) -> RenderableType:
    """The main numbers, each with its n and interval; fits into 80 columns.

    Files are named with the run's folder where it is given.
    """
    if comparison.manifest.job == "probe":
        return probe(comparison.findings, folder)
    raise TypeError(f"no table of {comparison!r}")


def to_text(comparison: Any, width: int = 100) -> str:
    """The table as plain text."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(table(comparison))
    return str(console.file.getvalue())  # type: ignore[attr-defined]
