"""``scope fleet route``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scope.cli.doing import do_and_show
from scope.cli.fleet.options import (
    Add,
    ColumnNames,
    DataOrNone,
    Embedder,
    Encoder,
    FleetName,
    Questions,
    Seed,
    TestShare,
    column_names,
    costs,
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


def route(
    fleet: FleetName = None,
    questions: Questions = None,
    add: Add = None,
    data: DataOrNone = [],  # noqa: B006 - typer copies it
    test_share: TestShare = None,
    model: Annotated[
        list[str], typer.Option(help="Ask only this model of the fleet; repeat. All by default.")
    ] = [],  # noqa: B006 - typer copies it
    cost: Annotated[
        list[str],
        typer.Option(metavar="MODEL=COST", help="What a question to the model costs; repeat."),
    ] = [],  # noqa: B006 - typer copies it
    costs_file: Annotated[
        Path | None,
        typer.Option(
            "--costs",
            metavar="FILE",
            help="The same as .csv, columns model and cost; a --cost counts before it.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="The most that a question may cost on average; needs all costs."),
    ] = None,
    embedder: Embedder = None,
    encoder: Encoder = None,
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
    """Say which model each new question should be given to.

    The router goes by each model's skill, and by the text as far as that proved useful on
    questions left out; where it did not, one model is asked them all. All choices are written to
    routes.csv in the run's folder. Where answers are known, the router is held against the single
    best model, a random choice with its own mix, and an oracle.
    Example: scope fleet route --fleet ours --questions new.csv
    """
    from scope.jobs.fleet.route import route_fleet

    do_and_show(
        route_fleet,
        as_json=json,
        run=run,
        runs=runs,
        fleet=fleet,
        questions=questions,
        add=add,
        data=data,
        test_share=test_share,
        models=model,
        costs=costs(cost),
        costs_file=costs_file,
        budget=budget,
        embedder=embedder.value if embedder else None,
        encoder=encoder,
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
