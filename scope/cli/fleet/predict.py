"""``scope fleet predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scope.cli.doing import do_and_show
from scope.cli.fleet.options import ColumnNames, Data, Seed, column_names
from scope.cli.options import RunName
from scope.cli.output import Json, Runs


def predict(
    data: Data,
    benchmark: Annotated[
        list[str],
        typer.Option(help="A category of the questions to leave out; repeat. Each by default."),
    ] = [],  # noqa: B006 - typer copies it
    splits: Annotated[
        int, typer.Option(min=1, help="Random splits of the models, into known and foretold.")
    ] = 100,
    train_share: Annotated[
        float, typer.Option(help="The share of the models whose accuracy is known.")
    ] = 0.5,
    column: ColumnNames = [],  # noqa: B006 - typer copies it
    seed: Seed = 0,
    run: RunName = None,
    runs: Runs = Path("runs"),
    json: Json = False,
) -> None:
    """Leave each benchmark out, and foretell accuracies on it.

    Each in turn, from vectors of the models learned without it. Answers alone are used; no text
    and no encoder is needed.
    Example: scope fleet predict --data answers.csv
    """
    from scope.jobs.fleet.predict import predict_fleet

    do_and_show(
        predict_fleet,
        as_json=json,
        run=run,
        runs=runs,
        data=data,
        benchmarks=benchmark,
        splits=splits,
        train_share=train_share,
        columns=column_names(column),
        seed=seed,
    )
