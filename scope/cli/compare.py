"""``scope compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from scope.cli.gates import FailUnder, GateOn, Gates, JudgedOn, exit_code, parse_gates
from scope.cli.options import (
    AllowPickle,
    Device,
    Devices,
    DType,
    DTypes,
    Prompts,
    Requests,
    Retries,
    RunName,
    Settings,
    Timeout,
    TokenBudget,
    TrustRemoteCode,
    prompt_files,
    settings,
)
from scope.cli.output import (
    Json,
    Runs,
    results_alone_on_standard_output,
    run_argument,
    show,
)
from scope.errors import SpecError
from scope.models.options import SENTENCE_ENCODER


def compare(
    model: Annotated[
        list[str],
        typer.Option(help="Spec: hf:NAME, gguf:FILE, openai:URL#MODEL, predictions:FILE; repeat."),
    ],
    task: Annotated[list[str], typer.Option(help="See `scope list tasks`; may be repeated.")],
    data: Annotated[
        list[str],
        typer.Option(
            metavar="[TASK=]DATA",
            help="What the questions are made of: text:BOOKS, a file, or hf:NAME:SPLIT; for "
            "several tasks once each, as TASK=DATA.",
        ),
    ],
    n: Annotated[int | None, typer.Option(min=1, help="Questions a task; all by default.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the sample and the blanks.")] = 0,
    setting: Settings = [],  # noqa: B006 - typer copies it
    normalize: Annotated[
        bool,
        typer.Option("--normalize", help="Leave out articles, punctuation, capitals, as SQuAD."),
    ] = False,
    encoder: Annotated[
        str,
        typer.Option(
            "--semscore",
            "--encoder",
            metavar="SPEC|probe:FOLDER[#SPEC]|none",
            help="What SemScore is measured by: a sentence encoder, or a probe of your own model "
            "that `scope probe --save` wrote, with #SPEC if that model is elsewhere now or needs "
            "--allow-pickle or --trust-remote-code; none leaves it out.",
        ),
    ] = SENTENCE_ENCODER,
    run: RunName = None,
    runs: Runs = Path("runs"),
    gate: Gates = [],  # noqa: B006 - typer copies it
    gate_on: GateOn = JudgedOn.INTERVAL,
    fail_under: FailUnder = [],  # noqa: B006 - typer copies it
    json: Json = False,
    prompt: Prompts = [],  # noqa: B006 - typer copies it
    max_answer_tokens: Annotated[int, typer.Option(min=1, help="Longest answer.")] = 32,
    device: Device = Devices.AUTO,
    dtype: DType = DTypes.FLOAT32,
    token_budget: TokenBudget = 4096,
    requests: Requests = 8,
    timeout: Timeout = 60.0,
    retries: Retries = 6,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Ask models the same questions, and measure how alike their answers are.

    Example: scope compare --model hf:roberta-base --model hf:google-t5/t5-base
    --task cloze --data text:books/ --n 500
    """
    gates = parse_gates(gate, fail_under, "tasks")
    from scope.jobs.compare import compare as run_compare
    from scope.jobs.comparison_plan import deciding
    from scope.jobs.identity import default_run_name
    from scope.models import ModelOptions
    from scope.progress import suitable_progress
    from scope.store import RunFolder, run_folder

    with results_alone_on_standard_output():
        comparison = run_compare(
            models=model,
            tasks=task,
            data=_data(data, task),
            n=n,
            seed=seed,
            settings=settings(setting),
            normalize=normalize,
            encoder=None if encoder == "none" else encoder,
            model_options=ModelOptions(
                device=device.value,
                dtype=dtype.value,
                token_budget=token_budget,
                allow_pickle=allow_pickle,
                trust_remote_code=trust_remote_code,
                prompts=prompt_files(prompt),
                max_answer_tokens=max_answer_tokens,
                requests=requests,
                timeout=timeout,
                retries=retries,
            ),
            gates=gates,
            run=run_argument(run),
            runs=runs,
            progress=suitable_progress(),
        )
    name = run_argument(run) or default_run_name(deciding(comparison.manifest))
    folder = run_folder(name, runs)
    show(comparison, as_json=json, report=RunFolder(folder).report_path)
    raise typer.Exit(exit_code(comparison, gates, gate_on))


def _data(entries: Sequence[str], tasks: Sequence[str]) -> str | Mapping[str, str]:
    """One spec, or one for each task where entries begin with a task's name.

    Examples
    --------
    >>> _data(["books.jsonl"], ["cloze"])
    'books.jsonl'
    >>> _data(["cloze=text:books", "choice=a.jsonl"], ["cloze", "choice"])
    {'cloze': 'text:books', 'choice': 'a.jsonl'}
    """
    named = [(name, spec) for name, _, spec in (one.partition("=") for one in entries)]
    if all(name in tasks and spec for name, spec in named) and len(dict(named)) == len(named):
        return dict(named)
    if len(entries) == 1 and len(tasks) == 1:
        return entries[0]
    raise SpecError(
        f"the data {' '.join(entries)} for the tasks {', '.join(tasks)}",
        expected="one data spec for each task",
        mend="write " + " ".join(f"--data {one}=DATA" for one in dict.fromkeys(tasks)),
    )
