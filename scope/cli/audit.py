"""``scope audit``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scope.cli.gates import (
    FailUnder,
    GateOn,
    Gates,
    JudgedOn,
    exit_code,
    parse_gates,
    require_others,
)
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
    TextColumn,
    Timeout,
    TokenBudget,
    TrustRemoteCode,
    pairs,
    prompt_files,
)
from scope.cli.output import (
    Json,
    Runs,
    results_alone_on_standard_output,
    run_argument,
    show,
)
from scope.models.options import SENTENCE_ENCODER


class Distances(StrEnum):
    """How the distance of two answers is taken."""

    L1 = "l1"
    KL = "kl"


class Presets(StrEnum):
    """How far synonym swaps go."""

    PAPER = "paper"
    STRONG = "strong"


def audit(
    reference: Annotated[str, typer.Option(help="Model spec, such as hf:NAME or a folder.")],
    target: Annotated[list[str], typer.Option(help="Model spec; may be repeated.")],
    data: Annotated[
        str, typer.Option(help="hf:NAME:SPLIT, demo:tweets, or a .csv, .tsv, .jsonl, .parquet.")
    ],
    role: Annotated[
        Roles,
        typer.Option(
            help="What is to stay: the label of a text, or the token most likely to follow it."
        ),
    ] = Roles.CLASSIFIER,
    capability: Annotated[
        list[str], typer.Option(help="See `scope list capabilities`; may be repeated.")
    ] = ["synonym", "typo"],  # noqa: B006 - typer copies it
    n: Annotated[int | None, typer.Option(min=1, help="Texts to draw; all by default.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the sample and the search.")] = 0,
    trials: Annotated[int, typer.Option(min=1, help="Perturbations sought for each text.")] = 3,
    preset: Annotated[
        Presets | None, typer.Option(help="Stop at the first synonym, or swap many.")
    ] = None,
    max_words: Annotated[
        float | None, typer.Option(help="Greatest share of words that preset strong swaps.")
    ] = None,
    distance: Annotated[
        Distances, typer.Option(help="How far an answer moves: L1 norm or KL divergence.")
    ] = Distances.L1,
    tolerance: Annotated[float, typer.Option(help="Soft-SCoPE: full credit up to here.")] = 0.1,
    cutoff: Annotated[float, typer.Option(help="Soft-SCoPE: no credit from here on.")] = 1.0,
    min_similarity: Annotated[
        float | None, typer.Option(help="Least cosine of a changed text with the original.")
    ] = None,
    encoder: Annotated[
        str, typer.Option(help="Sentence encoder behind --min-similarity.")
    ] = SENTENCE_ENCODER,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    label_map: LabelMap = [],  # noqa: B006 - typer copies it
    prompt: Prompts = [],  # noqa: B006 - typer copies it
    label_word: LabelWords = [],  # noqa: B006 - typer copies it
    next_tokens: NextTokens = 20,
    run: RunName = None,
    runs: Runs = Path("runs"),
    gate: Gates = [],  # noqa: B006 - typer copies it
    gate_on: GateOn = JudgedOn.INTERVAL,
    fail_under: FailUnder = [],  # noqa: B006 - typer copies it
    json: Json = False,
    device: Device = Devices.AUTO,
    dtype: DType = DTypes.FLOAT32,
    token_budget: TokenBudget = 4096,
    requests: Requests = 8,
    timeout: Timeout = 60.0,
    retries: Retries = 6,
    slots: Annotated[int, typer.Option(min=1, help="Texts searched at once.")] = 64,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Audit whether targets keep the invariances of a reference.

    Example: scope audit --reference hf:textattack/bert-base-uncased-SST-2
    --target hf:distilbert-base-uncased-finetuned-sst-2-english --allow-pickle
    --data hf:stanfordnlp/sst2:validation --label-map LABEL_0=negative --label-map LABEL_1=positive
    """
    gates = parse_gates(gate, fail_under)
    from scope.jobs.audit import audit as run_audit
    from scope.jobs.identity import default_run_name
    from scope.models import ModelOptions
    from scope.progress import suitable_progress
    from scope.store import RunFolder, run_folder

    named = run_argument(run)
    own = None if named is None else run_folder(named, runs)
    require_others(gates, reference, target, runs, own, capability)
    with results_alone_on_standard_output():
        comparison = run_audit(
            reference=reference,
            targets=target,
            data=data,
            role=role.value,
            capabilities=capability,
            n=n,
            seed=seed,
            trials=trials,
            preset=preset,
            max_words=max_words,
            distance=distance.value,
            tolerance=tolerance,
            cutoff=cutoff,
            min_similarity=min_similarity,
            encoder=encoder,
            text_column=text_column,
            label_column=label_column,
            label_map=label_map,
            slots=slots,
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
            run=named,
            runs=runs,
            progress=suitable_progress(),
        )
    folder = own or run_folder(default_run_name(comparison.manifest), runs)
    show(comparison, as_json=json, report=RunFolder(folder).report_path)
    raise typer.Exit(exit_code(comparison, gates, gate_on, runs))
