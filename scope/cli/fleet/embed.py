"""``scope fleet embed``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scope.cli.doing import do_and_show
from scope.cli.fleet.options import (
    ColumnNames,
    Data,
    Embedder,
    Encoder,
    Seed,
    column_names,
    model_options,
)
from scope.cli.options import (
    AllowPickle,
    Device,
    Devices,
    DType,
    DTypes,
    RunName,
    TokenBudget,
    TrustRemoteCode,
)
from scope.cli.output import Json, Runs


def embed(
    data: Data,
    embedder: Embedder = None,
    encoder: Encoder = None,
    dimensions: Annotated[
        int | None,
        typer.Option(min=1, help="Of each model's vector, for factors, irt and mf."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=2, help="Parts of the questions, each forecast from the others.")
    ] = 5,
    features: Annotated[
        bool,
        typer.Option(
            "--features/--no-features",
            help="Use lengths, digits and symbols of a question's text beside its vector.",
        ),
    ] = True,
    column: ColumnNames = [],  # noqa: B006 - typer copies it
    seed: Seed = 0,
    run: RunName = None,
    runs: Runs = Path("runs"),
    json: Json = False,
    device: Device = Devices.AUTO,
    dtype: DType = DTypes.FLOAT32,
    token_budget: TokenBudget = 4096,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Learn a compact vector for every model from its answers.

    The fleet is kept in the run's folder, under `embedder`, for the other commands.
    Example: scope fleet embed --data answers.csv --run ours
    """
    from scope.jobs.fleet.embed import embed_fleet

    do_and_show(
        embed_fleet,
        as_json=json,
        run=run,
        runs=runs,
        data=data,
        embedder=embedder.value if embedder else None,
        encoder=encoder,
        dimensions=dimensions,
        folds=folds,
        features=features,
        columns=column_names(column),
        seed=seed,
        model_options=model_options(
            device,
            dtype,
            token_budget,
            allow_pickle=allow_pickle,
            trust_remote_code=trust_remote_code,
        ),
    )
