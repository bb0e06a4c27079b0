"""Output shared by the commands: how a comparison is shown."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from scope.core.options import OUTPUT
from scope.paths import expanded
from scope.printing import printable
from scope.sections.terminal import least_width

if TYPE_CHECKING:
    from rich.console import RenderableType

    from scope.records import DataCard, Outcome

MOST_COLUMNS = 1000
"""No terminal is wider; the variable COLUMNS may say anything."""

Json = Annotated[
    bool, Parameter(group=OUTPUT, help="Print the whole result as JSON on standard output.")
]
Runs = Annotated[
    Path, Parameter(group=OUTPUT, metavar="FOLDER", help="Folder under which runs are kept.")
]
RunName = TypeVar("RunName", str, Path, None)


def run_argument(run: RunName) -> RunName | Path:
    """A run as the user wrote it: a path where there is a slash in it, else a name.

    Examples
    --------
    >>> run_argument("sst2"), run_argument("../elsewhere/sst2").name
    ('sst2', 'sst2')
    """
    return expanded(run) if isinstance(run, str) and "/" in run else run


@contextmanager
def results_alone_on_standard_output() -> Iterator[None]:
    """Send what a user's own model prints to standard error, where it cannot spoil JSON."""
    with redirect_stdout(sys.stderr):
        yield


def say(line: str, *, err: bool = False) -> None:
    """Print a line that may contain foreign text."""
    print(printable(line), file=sys.stderr if err else sys.stdout, flush=True)


def print_json(text: str) -> None:
    """Print JSON; characters that the stream cannot write are written as JSON writes them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").replace("-", "").lower()
    strange = r"[\ud800-\udfff]" if encoding == "utf8" else r"[^\x00-\x7f]"
    escaped = re.sub(strange, lambda match: json.dumps(match[0])[1:-1], text)
    print(escaped, end="" if text.endswith("\n") else "\n", flush=True)


def print_table(table: RenderableType) -> None:
    """Print tables, with longer lines where the terminal is too narrow for their values.

    A file or a pipe has no width: there every table has the width that it needs.
    """
    from rich.console import Console, Group
    from rich.table import Table

    console = Console()
    width = max(console.width, least_width(table))
    if not console.is_terminal:
        shown = table.renderables if isinstance(table, Group) else [table]
        options = console.options.update(width=MOST_COLUMNS)
        needed = (console.measure(one, options=options) for one in shown if isinstance(one, Table))
        width = max([width, *(one.maximum for one in needed)])
    Console(width=min(width, MOST_COLUMNS)).print(table)


def show(comparison: Any, *, as_json: bool) -> None:
    """Print a result for a person or for a machine, and where its report is."""
    from scope.registry import BUILT_IN

    if as_json:
        print_json(comparison.to_json())
    elif comparison.manifest.job in BUILT_IN["pages"]:
        from scope.sections.terminal import renderables

        for shown in renderables(comparison.page().brief):
            print_table(shown)
    else:
        from scope.tables import table

        print_table(table(comparison, comparison.folder))
        for outcome in comparison.outcomes if comparison.manifest.job == "compare" else ():
            summary = (
                _answered(outcome) if comparison.manifest.job == "compare" else _outcome(outcome)
            )
            say(f"{outcome.capability}: {summary}")
        for data in comparison.manifest.data:
            say(f"data{_of_data(comparison, data)}")
        for card in comparison.manifest.models:
            if card.truncated:
                say(f"{card.name}: {card.truncated} texts truncated to its maximum length")
        if comparison.clock and comparison.clock.damaged:
            say(f"store: {comparison.clock.damaged} damaged rows recomputed")
        if comparison.clock and comparison.clock.asked_again:
            say(f"store: {comparison.clock.asked_again} cached answers repeated; all agree")
    for drift in comparison.clock.drifts if comparison.clock else ():
        say(f"drift: {drift}", err=True)
    if comparison.folder is not None:
        say(f"report: {comparison.folder / 'report.html'}", err=True)


def _of_data(comparison: Any, card: DataCard) -> str:
    summary = _matrix(card) if comparison.manifest.job.startswith("fleet") else _data(card)
    return f" of {card.capability}: {summary}" if card.capability else f": {summary}"


def _outcome(outcome: Outcome) -> str:
    if outcome.status != "measured":
        return f"{outcome.status}: {outcome.reason}"
    return (
        f"{outcome.found} perturbations in {outcome.searched} searches, {outcome.queries} queries"
        f"{f'; {outcome.reason}' if outcome.reason else ''}"
    )


def _answered(outcome: Outcome) -> str:
    missing = outcome.searched - outcome.found
    return f"{outcome.found} answers" + (f", {missing} questions without one" if missing else "")


def _data(card: DataCard) -> str:
    return (
        f"{card.used} of {card.rows} {'questions' if card.capability else 'texts'}, "
        f"{card.labelled} with a gold {'answer' if card.capability else 'label'}; "
        f"left out: {card.duplicates} repeated, {card.empty} empty"
    )


def _matrix(card: DataCard) -> str:
    """The questions that were read, and of how many some answer is known."""
    return f"{card.spec}: {card.used} of {card.rows} questions, {card.labelled} with an answer"
