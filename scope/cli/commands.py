"""All commands under one name: one for each job, made from its request, and a few by hand."""

from __future__ import annotations

import inspect
import sys
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import MISSING, replace
from functools import partial
from importlib.metadata import version
from inspect import Parameter as Argument, Signature
from itertools import takewhile
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import cyclopts
from cyclopts import Parameter

from scope.cli.other_commands import clear, list_, logs, merge, show
from scope.cli.output import (
    DryRun,
    Output,
    ReportOutput,
    Runs,
    print_json,
    say,
    show_blocks,
    show_result,
    wrote,
)
from scope.core.options import FLAT
from scope.core.request import Gates, Job, Request, described
from scope.errors import SpecError
from scope.jobs import JOBS, TAKEN, job_named, plugin_job, plugin_jobs
from scope.models.options import ModelOptions
from scope.progress import suitable_progress
from scope.protocols import UntrustedCode
from scope.records import Result

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

DONE = 0
A_GATE_FAILED = 1

_GROUPS = {
    "fleet": "Jobs on many models at once: embed, forecast, route, predict, map.",
    "study": "Statistics over many models: judges, complementarity, trend, size.",
}
"""Commands that have commands of their own."""


def run(arguments: list[str]) -> int:
    """Run the command; its exit code.

    Raises
    ------
    SpecError
        When its arguments are wrong.
    """
    try:
        named = next((word for word in arguments if not word.startswith("-")), "")
        code = application(named)(_spelled(arguments))
    except cyclopts.CycloptsError as error:
        raise argument_error(error) from None
    return code if isinstance(code, int) else DONE


def _spelled(arguments: list[str]) -> list[str]:
    """The arguments with an option before each word that may go without.

    Examples
    --------
    >>> _spelled(["pair", "a", "b", "--data", "c"])
    ['pair', '--model', 'a', '--model', 'b', '--data', 'c']
    """
    job = next((job for job in JOBS if job.words and [job.name] == arguments[:1]), None)
    if job is None:
        return arguments
    option = next(field.option for field in described(job.request) if field.name == job.words)
    words = list(takewhile(lambda word: not word.startswith("-"), arguments[1:]))
    options = [part for word in words for part in (option, word)]
    return [job.name, *options, *arguments[1 + len(words) :]]


def application(named: str) -> cyclopts.App:
    """All commands, of the jobs only the named one with its options: help is quick.

    Packages are searched for jobs unless a command of SCoPE's own is named. Of their jobs only the
    one that is named is imported, too: a broken plugin breaks its own command alone.
    """
    app = _application(
        help="Compare language models by behaviour: which invariances do they share?\n\n"
        "Start with: scope demo",
        help_format="plaintext",
        help_formatter=format_panel,
        version=lambda: f"scope {version('scope-models')}",
    )
    groups = {name: cyclopts.App(name=name, help=text) for name, text in _GROUPS.items()}
    for group in groups.values():
        app.command(group)
    for job in JOBS:
        *words, name = job.name.split()
        parent = groups[words[0]] if words else app
        parent.command(
            command_of(job) if named in (name, *words) else _unnamed,
            name=name,
            help=flowing(job.request.__doc__),
        )
    for command in (report, list_, logs, merge):
        app.command(command, name=command.__name__.strip("_"), help=flowing(command.__doc__))
    cache = cyclopts.App(name="cache", help="Answers and searches kept across runs: show, clear.")
    app.command(cache)
    cache.command(show, help=flowing(show.__doc__))
    cache.command(clear, help=flowing(clear.__doc__))
    for name, origin in ({} if named in TAKEN else plugin_jobs()).items():
        if name == named:
            job = plugin_job(name)
            code = UntrustedCode(f"{name} of {origin}")
            with code.entered("its request"):
                app.command(command_of(job, code), name=name, help=flowing(job.request.__doc__))
        else:
            app.command(_unnamed, name=name, help=f"Job of {origin}; see scope {name} --help")
    return app


def _unnamed() -> None:
    """A command that the arguments do not name: it is only listed."""


def _application(**more: Any) -> cyclopts.App:
    return cyclopts.App(
        name="scope",
        # Of an option given twice the last counts, as where an alias of the shell holds the first.
        # A value that looks like JSON is text.
        default_parameter=Parameter(
            negative=(), allow_repeating=True, json_dict=False, json_list=False
        ),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        exit_on_error=False,
        print_error=False,
        **more,
    )


def command_of(job: Job, code: UntrustedCode | None = None) -> Callable[..., int]:
    """The command of a job: the options of its request, its models, its gates and its output.

    Each is one argument, whose fields are the options. ``code`` is that of a plugin's job.
    """

    def command(
        request: Any = None,
        *,
        models: Any = None,
        gates: Any = None,
        output: Output = Output(),  # noqa: B008 - it is frozen
        dry_run: bool = False,
    ) -> int:
        # No option at all was given where none is required.
        request = request or job.request()
        options = {} if models is None else {"model_options": ModelOptions.of(models)}
        request = replace(request, progress=suitable_progress(), **options)
        entered = partial(code.entered, "its job") if code else nullcontext
        with entered():
            if gates:
                request = gates.checked(request)
            if dry_run:
                return _dry_run(job, request, as_json=output.json or output.json_full)
            if output.eee:
                request = _with_eee(job, request)
            # What a user's own model prints must not spoil JSON.
            with redirect_stdout(sys.stderr):
                result: Result = resolve_name(job.run)(request)
            judged = gates.judged(request, result) if gates else {}
        # Outside: a closed pipe is no failure of a plugin.
        return ending(result, output, gates, judged)

    arguments = _arguments(job)
    command.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    command.__annotations__ = {argument.name: argument.annotation for argument in arguments}
    return command


def _arguments(job: Job) -> list[Argument]:
    """The arguments of a job's command."""
    known = described(job.request)
    needs = any(field.default is MISSING for field in known if not field.hidden)
    offered = next((field.offers for field in known if field.offers is not None), None)
    output = ReportOutput if job.name in ("audit", "compare", "pair") else Output
    parts: list[tuple[str, type, Any]] = [
        ("request", job.request, Argument.empty if needs else None)
    ]
    parts += [
        (name, kind, kind())
        for name, kind in (("models", offered), ("gates", job.gates), ("output", output))
        if kind is not None
    ]
    arguments = [
        Argument(
            name,
            Argument.KEYWORD_ONLY,
            annotation=Annotated[_resolved(kind), FLAT],
            default=default,
        )
        for name, kind, default in parts
    ]
    if job.prepare:
        arguments.append(
            Argument("dry_run", Argument.KEYWORD_ONLY, annotation=DryRun, default=False)
        )
    return arguments


def _resolved(kind: Any) -> Any:
    """The class as cyclopts reads it: types in place of their texts, its own fields first.

    Cyclopts would look the texts of inherited fields up in the module of the subclass.
    """
    kind.__init__.__annotations__ = get_type_hints(kind, include_extras=True)
    known = kind.__dataclass_fields__
    kind.__dataclass_fields__ = {field.name: known[field.name] for field in described(kind)}
    return kind


def _with_eee(job: Job, request: Any) -> Any:
    """The request of a run whose result --eee can write; any other is refused before the run."""
    from scope.jobs.pages import require_eee
    from scope.models.scheme import expand_spec

    compares = job.name in ("compare", "pair")
    specs = request.models if compares else ()
    require_eee(job.name, sum(len(expand_spec(spec)) for spec in specs))
    return replace(request, compared=True) if job.name == "pair" else request


def _dry_run(job: Job, request: Request, *, as_json: bool) -> int:
    """Show what the run would cost."""
    from scope.jobs.runner import cost_of

    with redirect_stdout(sys.stderr):
        cost = cost_of(job, request)
    if as_json:
        print_json(cost.to_json())
    else:
        show_blocks(cost.blocks())
    return DONE


def gates_of(job: Job, written: Sequence[str]) -> Gates | None:
    """The gates that these options of a job's command are.

    Raises
    ------
    CycloptsError
        When a value of an option is wrong.
    SpecError
        When the job has no such option.
    """
    command: Any = lambda *, gates=None: gates  # noqa: E731 - its signature is set
    arguments = [argument for argument in _arguments(job) if argument.name == "gates"]
    command.__signature__ = Signature(arguments)
    command.__annotations__ = {argument.name: argument.annotation for argument in arguments}
    app = _application()
    app.command(command, name="report")
    try:
        gates: Gates | None = app(["report", *written])
    except cyclopts.UnknownOptionError:
        known = () if job.gates is None else (gate.option for gate in described(job.gates))
        raise SpecError(
            f"{' '.join(written)} with a run of the job {job.name}",
            expected=f"options of a report, or gates of the job: {', '.join(known) or 'none'}",
            fix="see `scope report --help`",
        ) from None
    return gates


def report(
    run: Annotated[str, Parameter(help="The run's name, or a path with a slash in it.")],
    /,
    *gates: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="Gates of the run's job, such as --gate 'hard_scope>=0.9', see `scope audit "
            "--help`. Exit with 1 if a gate fails.",
        ),
    ],
    output: Annotated[ReportOutput, FLAT] = ReportOutput(),  # noqa: B008 - it is frozen
    runs: Runs = Path("runs"),
) -> int:
    """Write a stored run's report again, without any model.

    Example: scope report demo
    """
    from scope.jobs.pages import load_result, write_report

    result = load_result(run, runs)
    asked = gates_of(job_named(result.manifest.job), gates)
    judged = asked.judged(Request(run=run, runs=runs), result) if asked else {}
    # Other outputs leave the page as it is, which may show gates.
    plain = replace(output, verbose=False) == ReportOutput()
    page = result.folder and result.folder / "report.html"
    if not asked and (plain or (page and not page.exists())):
        write_report(result)
    return ending(result, output, asked, judged)


def ending(
    result: Result, output: Output, gates: Gates | None, judged: Mapping[str, Sequence[str]]
) -> int:
    """Show the result, and which gates are not met, here and on the page; the exit code."""
    from reports.sections import gates_box
    from scope.jobs.pages import write_brief, write_report

    unmet = [line for lines in judged.values() for line in lines]
    box = gates_box(gates, unmet) if gates else None
    if box:
        write_report(result, box)
    if output.brief:
        wrote(write_brief(result, *([box] if box else [])))
    if output.junit or output.eee:
        from scope.jobs.pages import to_eee, to_junit

        wrote(output.junit and to_junit(result, judged, output.junit))
        wrote(output.eee and to_eee(result, output.eee))
    # Last: a reader of the output may end it at any line.
    show_result(result, output, gates=[box] if box else [])
    failed = [*result.failed_parts(), *unmet]
    for line in failed:
        say(f"gate: {line}", err=True)
    return A_GATE_FAILED if failed else DONE


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

    description: Any = getattr(entry.description, "primary_renderable", "")
    first, _, _ = str(description).partition("\n\n")
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


def argument_error(error: cyclopts.CycloptsError) -> SpecError:
    """Our message for arguments that do not parse; what is wrong is in the parser's words."""
    error.verbose = False
    page = f"see `{' '.join(['scope', *(error.command_chain or ())])} --help`"
    written = error.root_input_tokens or ()
    if isinstance(error, cyclopts.UnusedCliTokensError):
        unused = error.unused_tokens or [""]
        return _unused(unused[0], written, page)
    problem = " ".join(str(error).split())
    option = error.argument.name if error.argument else ""
    if isinstance(error, cyclopts.MissingArgumentError) and option not in written:
        _, meant, suggestion = problem.partition(" Did you mean")
        problem = f"{option} is missing.{meant}{suggestion}"
    return SpecError(problem, expected="commands and options of the help page", fix=page)


def _unused(word: str, arguments: Sequence[str], page: str) -> SpecError:
    """The error of a word that belongs to no option, such as the second after one."""
    option = next(
        (
            option
            for option, value, extra in zip(arguments, arguments[1:], arguments[2:], strict=False)
            if extra == word and option.startswith("--") and not value.startswith("-")
        ),
        None,
    )
    before = arguments[arguments.index(word) - 1] if arguments.count(word) == 1 else ""
    if before.startswith("--"):
        return SpecError(
            f"`{word}` after {before}, which takes no value",
            expected=f"{before} alone",
            fix=f"omit it; `> {word}` writes what a command prints to a file; {page}",
        )
    repeat = f"write {option} before each value, or quote a value with spaces"
    return SpecError(
        f"`{word}`, which belongs to no option",
        expected=f"one value after {option}" if option else "options with one value each",
        fix=f"{repeat if option else 'omit it'}; {page}",
    )
