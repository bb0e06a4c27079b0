"""``scope demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import Json, Runs, show
from scope.core.options import DATA, Limits, whole_number


def demo(
    *,
    n: Annotated[
        int, whole_number(DATA), Parameter(help="Number of held-out tweets to perturb.")
    ] = 100,
    seed: Annotated[
        int, whole_number(DATA), Parameter(help="Random seed of training, sample and search.")
    ] = 0,
    json: Json = False,
    runs: Runs = Path("runs"),
) -> None:
    """Build three small related models offline, audit two against the third, write a report.

    The first time takes about a minute longer, for the training. Example: scope demo
    """
    Limits(least=1).check("--n", n)
    from scope.jobs.demo import demo as run_demo
    from scope.progress import suitable_progress

    comparison = run_demo(n=n, seed=seed, runs=runs, progress=suitable_progress())
    show(comparison, as_json=json)
