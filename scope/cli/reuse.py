"""``scope reuse``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scope.cli.gates import A_GATE_FAILED
from scope.cli.options import (
    AllowPickle,
    Device,
    Devices,
    DType,
    DTypes,
    LabelColumn,
    LabelMap,
    LabelWords,
    NextTokens,
    Prompts,
    Requests,
    Retries,
    Roles,
    RunName,
    Settings,
    TextColumn,
    Timeout,
    TokenBudget,
    TrustRemoteCode,
    pairs,
    prompt_files,
    settings,
)
from scope.cli.output import (
    Json,
    Runs,
    results_alone_on_standard_output,
    run_argument,
    say,
    show,
)

if TYPE_CHECKING:
    from scope.records import Comparison


class Decisions(StrEnum):
    """With which verdict the command fails."""

    RELATED = "related"
    UNDECIDED = "undecided"


def reuse(
    suspect: Annotated[str, typer.Option(help="Spec of the model under suspicion.")],
    reference: Annotated[
        list[str], typer.Option(help="Spec of the model it may be derived from; may be repeated.")
    ],
    control: Annotated[
        list[str],
        typer.Option(
            help="Spec of a model independent of them; repeat, 19 times for an error rate of "
            "0.05, or predictions:FILE.tsv#* for all of a table."
        ),
    ],
    data: Annotated[
        str, typer.Option(help="hf:NAME:SPLIT, demo:tweets, or a .csv, .tsv, .jsonl, .parquet.")
    ],
    task: Annotated[
        str | None, typer.Option(help="See `scope list tasks`; without one, texts are labelled.")
    ] = None,
    setting: Settings = [],  # noqa: B006 - typer copies it
    role: Annotated[
        Roles,
        typer.Option(help="Without a task: what texts are asked for, label or following token."),
    ] = Roles.CLASSIFIER,
    capability: Annotated[
        list[str],
        typer.Option(
            help="What the reference is searched with for further texts: see `scope list "
            "capabilities`, or none; typo by default, if all models can answer new texts and are "
            "not asked in batches."
        ),
    ] = [],  # noqa: B006 - typer copies it
    n: Annotated[
        int | None, typer.Option(min=1, help="Texts or questions to draw; all by default.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Error rate: how often an independent model is called related.")
    ] = 0.05,
    exclude_control: Annotated[
        list[str],
        typer.Option(
            help="Name of a control to leave out, or a pattern such as 'llama-*'; may be repeated."
        ),
    ] = [],  # noqa: B006 - typer copies it
    assume_no_label_training: Annotated[
        bool,
        typer.Option(
            "--assume-no-label-training",
            help="Take for granted that the suspect was not trained on the reference's answers; "
            "without it the verdict is never `not related`.",
        ),
    ] = False,
    sequential: Annotated[
        bool,
        typer.Option("--sequential", help="Ask the suspect in batches; stop when related."),
    ] = False,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Questions in a batch; implies --sequential; 100.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the sample and the search.")] = 0,
    trials: Annotated[int, typer.Option(min=1, help="Perturbations sought for each text.")] = 3,
    tolerance: Annotated[float, typer.Option(help="Soft-SCoPE: full credit up to here.")] = 0.1,
    cutoff: Annotated[float, typer.Option(help="Soft-SCoPE: no credit from here on.")] = 1.0,
    perturbed: Annotated[
        int, typer.Option(min=1, help="Of how many of the texts perturbations are sought.")
    ] = 200,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    label_map: LabelMap = [],  # noqa: B006 - typer copies it
    prompt: Prompts = [],  # noqa: B006 - typer copies it
    label_word: LabelWords = [],  # noqa: B006 - typer copies it
    next_tokens: NextTokens = 20,
    run: RunName = None,
    runs: Runs = Path("runs"),
    fail_on: Annotated[
        list[Decisions], typer.Option(help="Exit with 1 if this is a verdict; may be repeated.")
    ] = [],  # noqa: B006 - typer copies it
    json: Json = False,
    device: Device = Devices.AUTO,
    dtype: DType = DTypes.FLOAT32,
    token_budget: TokenBudget = 4096,
    requests: Requests = 8,
    timeout: Timeout = 60.0,
    retries: Retries = 6,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Say whether a suspect is derived from a reference, at a stated error rate.

    Example: scope reuse --suspect 'predictions:answers.tsv#theirs'
    --reference 'predictions:answers.tsv#ours' --control 'predictions:answers.tsv#*'
    --task choice --data questions.jsonl
    """
    from scope.jobs.identity import default_run_name
    from scope.jobs.reuse import reuse as run_reuse
    from scope.models import ModelOptions
    from scope.progress import suitable_progress
    from scope.store import RunFolder, run_folder

    with results_alone_on_standard_output():
        comparison = run_reuse(
            suspect=suspect,
            references=reference,
            controls=control,
            data=data,
            task=task,
            settings=settings(setting),
            role=role.value,
            capabilities=_capabilities(capability),
            n=n,
            alpha=alpha,
            exclude_controls=exclude_control,
            assume_no_label_training=assume_no_label_training,
            sequential=sequential,
            batch=batch,
            seed=seed,
            trials=trials,
            tolerance=tolerance,
            cutoff=cutoff,
            perturbed=perturbed,
            text_column=text_column,
            label_column=label_column,
            label_map=label_map,
            model_options=ModelOptions(
                device=device.value,
                dtype=dtype.value,
                token_budget=token_budget,
                allow_pickle=allow_pickle,
                trust_remote_code=trust_remote_code,
                prompts=prompt_files(prompt),
                label_words=pairs(
                    label_word, what="label word", example="--label-word positive=good"
                ),
                next_tokens=next_tokens,
                requests=requests,
                timeout=timeout,
                retries=retries,
            ),
            run=run_argument(run),
            runs=runs,
            progress=suitable_progress(),
        )
    folder = run_folder(run_argument(run) or default_run_name(comparison.manifest), runs)
    show(comparison, as_json=json, report=RunFolder(folder).report_path)
    raise typer.Exit(_exit_code(comparison, fail_on))


def _capabilities(named: list[str]) -> list[str] | None:
    """None for the default; nothing for ``none``."""
    return [] if named == ["none"] else (named or None)


def _exit_code(comparison: Comparison, fail_on: list[Decisions]) -> int:
    """0, or 1 where a verdict is one that was asked about, or a search failed; says which."""
    failed = [
        f"{one.suspect} against {one.reference}: {one.decision}"
        for one in comparison.verdicts
        if one.decision in [named.value for named in fail_on]
    ]
    failed += [
        f"capability {one.capability} failed: {one.reason}"
        for one in comparison.outcomes
        if one.status == "failed"
    ]
    for line in failed:
        say(f"gate: {line}", err=True)
    return A_GATE_FAILED if failed else 0
