"""``scope demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scope.cli.output import Json, Runs, show


def demo(
    n: Annotated[int, typer.Option(min=1, help="Held-out tweets to perturb.")] = 100,
    seed: Annotated[int, typer.Option(help="Decides training, sample and search.")] = 0,
    json: Json = False,
    runs: Runs = Path("runs"),
) -> None:
    """Build three small related models offline, audit two against the third, write a report.

    The first time takes about a minute longer, for the training. Example: scope demo
    """
    from scope.jobs.demo import demo as run_demo
    from scope.jobs.demo import run_name
    from scope.progress import suitable_progress

    comparison = run_demo(n=n, seed=seed, runs=runs, progress=suitable_progress())
    show(comparison, as_json=json, report=runs / run_name(n, seed) / "report.html")
