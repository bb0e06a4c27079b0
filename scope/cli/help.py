"""How help pages look: required options first, text that fills its column, no empty defaults."""

from __future__ import annotations

import inspect
from ast import literal_eval
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

NO_DEFAULTS = ("()", "[]", "{}", "False", "None")


def format_panel(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print one panel of a help page."""
    from cyclopts.help import DefaultFormatter

    entries = sorted(map(_tidy, panel.entries), key=lambda entry: not entry.required)
    DefaultFormatter()(console, options, panel.copy(entries=entries))


def _tidy(entry: HelpEntry) -> HelpEntry:
    from rich.text import Text

    said: Any = getattr(entry.description, "primary_renderable", "")
    default = None if entry.default in NO_DEFAULTS else entry.default
    if default and default.startswith("("):
        default = ", ".join(map(str, literal_eval(default)))
    return entry.copy(description=Text(" ".join(str(said).split())), default=default)


def flowing(docstring: str | None) -> str:
    """A docstring whose paragraphs have no line breaks, for a page of any width.

    Examples
    --------
    >>> flowing("First line.\\n\\n    A paragraph\\n    of two lines.\\n    ")
    'First line.\\n\\nA paragraph of two lines.'
    """
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)
