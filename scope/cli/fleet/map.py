"""``scope fleet map``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scope.cli.doing import do_and_show
from scope.cli.fleet.options import (
    Add,
    ColumnNames,
    DataOrNone,
    Encoder,
    FleetName,
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


def map_(
    fleet: FleetName = None,
    add: Add = None,
    data: DataOrNone = [],  # noqa: B006 - typer copies it
    communities: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .csv with the columns model and community, such as families of models: how "
            "near the members of one are to each other.",
        ),
    ] = None,
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="With --data: what each benchmark's questions do for forecasts on each other.",
        ),
    ] = False,
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
    """Draw the models on a map, and tell which are alike.

    Near each other are those that are right and wrong on the same questions. With --data the
    map is drawn of the answers alone; only --contributions reads texts.
    Example: scope fleet map --fleet ours --communities families.csv
    """
    from scope.jobs.fleet.map import map_fleet

    do_and_show(
        map_fleet,
        as_json=json,
        run=run,
        runs=runs,
        fleet=fleet,
        add=add,
        data=data,
        communities=communities,
        contributions=contributions,
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
