"""How help pages look: required options first, text that fills its column, no empty defaults.

What is said of an option ends with its first paragraph: further ones are for Python.
"""

from __future__ import annotations

import inspect
from ast import literal_eval
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

NO_DEFAULTS = ("()", "[]", "{}", "False", "None")
NO_METAVARS = ("STR", "CHOICE")
"""Names of types, which say nothing of the value."""


def format_panel(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print one panel of a help page."""
    from cyclopts.help import DefaultFormatter

    entries = sorted(map(_tidy, panel.entries), key=lambda entry: not entry.required)
    DefaultFormatter()(console, options, panel.copy(entries=entries))


def _tidy(entry: HelpEntry) -> HelpEntry:
    from rich.text import Text

    said: Any = getattr(entry.description, "primary_renderable", "")
    first, _, _ = str(said).partition("\n\n")
    default = None if entry.default in NO_DEFAULTS else entry.default
    if default and default.startswith("("):
        default = ", ".join(map(str, literal_eval(default)))
    metavar = entry.metavar
    if metavar in NO_METAVARS and entry.names:
        metavar = entry.names[0].lstrip("-").upper()
    return entry.copy(description=Text(" ".join(first.split())), default=default, metavar=metavar)


def flowing(docstring: str | None) -> str:
    """A docstring whose paragraphs have no line breaks, for a page of any width.

    Examples
    --------
    >>> flowing("First line.\\n\\n    A paragraph\\n    of two lines.\\n    ")
    'First line.\\n\\nA paragraph of two lines.'
    """
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
