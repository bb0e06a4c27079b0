"""All commands under one name: one for each job, made from its request, and a few by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, replace
from importlib import import_module
from importlib.metadata import version
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any, get_type_hints

from cyclopts import App, CycloptsError, Parameter

from scope.cli.demo import demo
from scope.cli.help import flowing, format_panel
from scope.cli.list import list_
from scope.cli.output import Json, results_alone_on_standard_output, run_argument, say, show
from scope.cli.report import report
from scope.core.job import Job
from scope.core.options import FLAT
from scope.core.request import Request, described
from scope.jobs import JOBS

DONE = 0
A_GATE_FAILED = 1
INPUT_IS_WRONG = 2

application = App(
    name="scope",
    help="Compare language models by behaviour: which invariances do they share?\n\n"
    "Start with: scope demo",
    help_format="plaintext",
    help_formatter=format_panel,
    version=lambda: f"scope {version('scope-models')}",
    # Of an option given twice the last counts, as where an alias of the shell holds the first.
    default_parameter=Parameter(negative=(), allow_repeating=True),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

fleet = App(name="fleet", help="Jobs on many models at once: embed, forecast, route, predict, map.")
application.command(fleet)


def run(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    try:
        code = application(arguments, exit_on_error=False)
    except CycloptsError:
        # The message has been printed.
        return INPUT_IS_WRONG
    return code if isinstance(code, int) else DONE


def command_of(job: Job) -> Callable[..., int]:
    """The command of a job: the options of its request, its models and its gates, and ``--json``.

    Each is one argument, whose fields are the options.
    """

    def command(
        request: Request | None = None, *, models: Any = None, gates: Any = None, json: bool = False
    ) -> int:
        # No option at all was given where none is required.
        return _carry_out(job, request or job.request(), models, gates, as_json=json)

    known = described(job.request)
    needs = any(one.default is MISSING for one in known if not one.hidden)
    offered = next((one.offers for one in known if one.offers is not None), None)
    parts: list[tuple[str, type, Any]] = [
        ("request", job.request, Argument.empty if needs else None)
    ]
    parts += [
        (name, kind, kind())
        for name, kind in (("models", offered), ("gates", job.gates))
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
    arguments.append(Argument("json", Argument.KEYWORD_ONLY, annotation=Json, default=False))
    command.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in arguments}
    return command


def _resolved(kind: Any) -> Any:
    """The class, its constructor annotated with types in place of their texts.

    Cyclopts would look the texts of inherited fields up in the module of the subclass.
    """
    kind.__init__.__annotations__ = get_type_hints(kind, include_extras=True)
    return kind


def _carry_out(job: Job, request: Any, models: Any, gates: Any, *, as_json: bool) -> int:
    """Do the job with progress, show its result, and say which gates are not met."""
    request = replace(request, run=run_argument(request.run))
    if gates:
        request = gates.checked(request)
    module, _, name = job.carry_out.partition(":")
    carry_out = getattr(import_module(module), name)
    from scope.progress import suitable_progress

    request = replace(request, progress=suitable_progress())
    if models is not None:
        from scope.models.options import ModelOptions

        request = replace(request, model_options=ModelOptions.of(models))
    with results_alone_on_standard_output():
        result = carry_out(request)
    show(result, as_json=as_json)
    failed = [
        f"capability {one.capability} failed: {one.reason}"
        for one in getattr(result, "outcomes", ())
        if one.status == "failed"
    ]
    if gates:
        for line in gates.drifts(request, result):
            say(f"drift: {line}", err=True)
        failed += gates.failures(request, result)
    for line in failed:
        say(f"gate: {line}", err=True)
    return A_GATE_FAILED if failed else DONE


for _job in JOBS:
    *_group, _name = _job.name.split()
    (fleet if _group else application).command(
        command_of(_job), name=_name, help=flowing(_job.request.__doc__)
    )
for _command in (demo, report, list_):
    application.command(_command, name=_command.__name__.strip("_"), help=flowing(_command.__doc__))
