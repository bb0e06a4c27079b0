"""Output shared by the commands: how a result is shown."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from scope.core.options import OUTPUT, option
from scope.core.request import changed
from scope.errors import ScopeError, SpecError, first_line, printable, shortened
from scope.paths import from_system

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reports.blocks import Block
    from scope.records import Result


MOST_COLUMNS = 1000
"""No terminal is wider; the variable COLUMNS may say anything."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """How a command shows its result."""

    json: Annotated[bool, option(OUTPUT)] = False
    """Print estimates, verdicts and paths as JSON."""

    json_full: Annotated[bool, option(OUTPUT)] = False
    """Print the whole result as JSON."""

    markdown: Annotated[bool, option(OUTPUT)] = False
    """Print at most 60 lines of Markdown, for a pull request or a job's summary."""

    verbose: Annotated[bool, option(OUTPUT, ("--verbose", "-v"))] = False
    """Print every table of the report."""

    brief: Annotated[bool, option(OUTPUT)] = False
    """Write brief.html, one page to print, beside the report."""

    junit: Annotated[Path | None, option(OUTPUT, metavar="FILE")] = None
    """Write verdicts and gates as test cases into this JUnit file; a verdict without --fail-on is
    skipped."""

    eee: Annotated[Path | None, option(OUTPUT, metavar="FILE")] = None
    """Write the accuracy of the second of two compared models, and its difference from the first,
    in the schema of Every Eval Ever."""

    def __post_init__(self) -> None:
        forms = ("json", "json_full", "markdown", "model_card")
        options = [field.option for field, _ in changed(self) if field.name in forms]
        if len(options) > 1:
            raise SpecError(
                f"{' and '.join(options)} together",
                expected="one form of the output",
                fix=f"omit {' and '.join(options[1:])}",
            )


@dataclass(frozen=True, kw_only=True)
class ReportOutput(Output):
    """What a run of some jobs can be made into besides."""

    model_card: Annotated[bool, option(OUTPUT)] = False
    """Print a table and a model-index for a model card."""


DryRun = Annotated[
    bool,
    Parameter(
        group=OUTPUT,
        help="Show queries, time and memory that a run would take, and leave no run. Models are "
        "loaded and answer for a few seconds; endpoints are not asked.",
    ),
]
Runs = Annotated[
    Path, Parameter(group=OUTPUT, metavar="FOLDER", help="Folder under which runs are kept.")
]


def say(line: str, *, err: bool = False) -> None:
    """Print a line that may contain foreign text."""
    print(printable(line), file=sys.stderr if err else sys.stdout, flush=True)


def wrote(path: Path | None) -> None:
    """Name a file that was written, on standard error."""
    if path is not None:
        say(f"wrote {path}", err=True)


def print_json(content: object) -> None:
    """Print JSON, or what JSON can hold, with one line break at the end."""
    text = content if isinstance(content, str) else dumps(content, indent=1, ensure_ascii=False)
    print(text.rstrip("\n"), flush=True)


def print_table(table: RenderableType) -> None:
    """Print a table, with longer lines where the terminal is too narrow for its values.

    A file or a pipe has no width: there every table has the width that it needs.
    """
    from rich.console import Console
    from rich.table import Table

    from reports.text import least_width

    console = Console()
    width = max(console.width, least_width(table))
    if not console.is_terminal and isinstance(table, Table):
        options = console.options.update(width=MOST_COLUMNS)
        width = max(width, console.measure(table, options=options).maximum)
    Console(width=min(width, MOST_COLUMNS)).print(table)


def print_rows(rows: Sequence[dict[str, str]]) -> None:
    """Print rows of one heading each as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row.values()))
    print_table(table)


def show_result(result: Result, output: Output = Output(), *, gates: Sequence[Block] = ()) -> None:
    """Print a result for a person, or short or in full for a machine, and where its report is."""
    from scope.jobs.pages import markdown_of, page_of

    if output.json or output.json_full:
        print_json(result.to_json() if output.json_full else result.to_short_json())
    elif isinstance(output, ReportOutput) and output.model_card:
        from scope.jobs.pages import model_card_of

        say(model_card_of(result).rstrip("\n"))
    elif output.markdown:
        say(markdown_of(result, *gates, verbose=output.verbose).rstrip("\n"))
    else:
        from reports.blocks import heading

        page = page_of(result)
        for section in page.sections if output.verbose else ():
            title = heading("{title}", title=section.title)
            show_blocks((title, *section.blocks), folds=True)
        show_blocks(page.brief)
    for drift in result.clock.drifts if result.clock else ():
        say(f"drift: {drift}", err=True)
    if result.folder is not None:
        say(f"report: {result.folder / 'report.html'}", err=True)


def show_blocks(blocks: Iterable[Block], *, folds: bool = False) -> None:
    """Print blocks of a page for a person; with ``folds`` what is folded on the page, too."""
    from reports.text import renderables

    for shown in renderables(blocks, folds=folds):
        print_table(shown)


INPUT_IS_WRONG = 2
INTERNAL_ERROR = 70
"""The code of ``sysexits.h`` for a software error."""

INTERRUPTED = 130
READER_IS_GONE = 141
"""The codes of a command that Ctrl-C ended, and of one whose pipe is closed."""

MOST_LINES = 25


def end_of(error: BaseException) -> int:
    """Print the error that ended the command, in a few lines; its exit code."""
    if is_behind(KeyboardInterrupt, error):
        write_message("scope: interrupted; answers are saved; run the same command again to resume")
        return INTERRUPTED
    # Rich turns it into an exit.
    if is_behind(BrokenPipeError, error):
        return READER_IS_GONE
    if isinstance(error, OSError):
        error = from_system(error) or error
    if isinstance(error, ScopeError):
        write_message(f"error:    {error.summary}\n{shortened(str(error), MOST_LINES - 1, 8000)}")
        return INPUT_IS_WRONG
    write_message(f"scope: internal error: {first_line(error)}; {_kept(error)}")
    return INTERNAL_ERROR


def is_behind(kind: type[BaseException], end: BaseException | None) -> bool:
    """Whether an error of that kind caused the exit, even if foreign code replaced it.

    Behind an error of ours there is foreign code, whose errors are not looked at.
    """
    seen: set[int] = set()
    while end is not None and not isinstance(end, (kind, ScopeError)):
        if id(end) in seen:
            return False
        seen.add(id(end))
        end = end.__cause__ or end.__context__
    return isinstance(end, kind)


def write_message(message: str) -> None:
    """Write a message on standard error, if it can be written at all."""
    with suppress(OSError, ValueError):
        print(printable(message), file=sys.stderr, flush=True)


def _kept(error: BaseException) -> str:
    """Keep the traceback in a file; says where it is, or why it is not."""
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="scope-error-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError as trouble:
        return f"its traceback could not be written: {trouble.strerror or trouble}"
    return f"please report it with its traceback, in {file.name}"
