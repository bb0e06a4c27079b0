"""``scope fleet``: the jobs on many models at once, one file a command."""

from __future__ import annotations

import typer

from scope.cli.fleet.embed import embed
from scope.cli.fleet.forecast import forecast
from scope.cli.fleet.map import map_
from scope.cli.fleet.predict import predict
from scope.cli.fleet.route import route

fleet = typer.Typer(
    help="Many models at once, from a matrix of which model answers which question rightly.\n\n"
    "Begin with `scope fleet embed`, which learns a vector for each model and keeps them; the "
    "others use them. Example: scope fleet embed --data answers.csv --run ours",
    no_args_is_help=True,
    rich_markup_mode=None,
)
fleet.command()(embed)
fleet.command()(forecast)
fleet.command()(route)
fleet.command()(predict)
fleet.command(name="map")(map_)
