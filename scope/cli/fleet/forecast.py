"""``scope fleet forecast``."""

from __future__ import annotations

from pathlib import Path

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


def forecast(
    fleet: FleetName = None,
    questions: Questions = None,
    add: Add = None,
    data: DataOrNone = [],  # noqa: B006 - typer copies it
    test_share: TestShare = None,
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
    """Say how likely each model answers each new question rightly.

    All forecasts are written to forecasts.csv in the run's folder. With --data instead of
    --fleet, part of the questions is held out and shows how good it is.
    Example: scope fleet forecast --fleet ours --questions new.csv
    """
    from scope.jobs.fleet.forecast import forecast_fleet

    do_and_show(
        forecast_fleet,
        as_json=json,
        run=run,
        runs=runs,
        fleet=fleet,
        questions=questions,
        add=add,
        data=data,
        test_share=test_share,
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
