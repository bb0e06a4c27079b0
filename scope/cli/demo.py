"""``scope demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from scope.cli.output import Json, Runs, show


def demo(
    *,
    n: Annotated[
        int, Parameter(validator=Number(gte=1), help="Number of held-out tweets to perturb.")
    ] = 100,
    seed: Annotated[int, Parameter(help="Random seed of training, sample and search.")] = 0,
    json: Json = False,
    runs: Runs = Path("runs"),
) -> None:
    """Build three small related models offline, audit two against the third, write a report.

    The first time takes about a minute longer, for the training. Example: scope demo
    """
    from scope.jobs.demo import demo as run_demo
    from scope.progress import suitable_progress

    comparison = run_demo(n=n, seed=seed, runs=runs, progress=suitable_progress())
    show(comparison, as_json=json)
