"""A comparison as tables: for the terminal and for data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scope.tables.fleet import fleet
from scope.tables.measured import measured
from scope.tables.rows import rows, to_frame
from scope.tables.verdicts import verdicts

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["rows", "table", "to_frame", "to_text"]


def table(comparison: Any, folder: Path | None = None) -> RenderableType:
    """The main numbers, each with its n and interval; fits into 80 columns.

    Files are named with the run's folder where it is given.
    """
    if comparison.manifest.job.startswith("fleet"):
        return fleet(comparison.manifest.job, comparison.findings, folder)
    return (
        verdicts(comparison.verdicts)
        if comparison.manifest.job == "reuse"
        else measured(comparison)
    )


def to_text(comparison: Any, width: int = 100) -> str:
    """The table as plain text."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(table(comparison))
    return str(console.file.getvalue())  # type: ignore[attr-defined]
