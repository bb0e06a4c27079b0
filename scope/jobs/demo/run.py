"""The demo: builds the models, then audits them."""

from __future__ import annotations

from dataclasses import replace

from scope.core.request import as_function
from scope.demo_models.build import build_demo_models
from scope.jobs.audit.run import audit
from scope.jobs.demo.request import DemoRequest
from scope.jobs.runner import check_room
from scope.paths import cache_folder
from scope.records import AuditResult

TWEETS = "demo:tweets"

CAPABILITIES = ("typo", "keyboard")
"""Those with changes for nearly every tweet: the demo's encoder admits few synonyms."""


def run_demo(request: DemoRequest) -> AuditResult:
    """Build the models, which are kept, and audit them."""
    run = request.run or run_name(request.n, request.seed)
    check_room(replace(request, run=run), "audit")
    models = build_demo_models(cache_folder() / "zoo", seed=request.seed, progress=request.progress)
    return audit(
        reference=str(models.reference),
        targets=list(
            map(str, (models.eight_bits, models.pruned, models.student, models.independent))
        ),
        baseline=str(models.another_seed),
        data=TWEETS,
        capabilities=CAPABILITIES,
        n=request.n,
        # So few that all of it takes less than five minutes on two cores.
        n_search=25,
        n_unchanged=500,
        candidates=4,
        seed=request.seed,
        run=run,
        runs=request.runs,
        progress=request.progress,
    )


demo = as_function(DemoRequest, run_demo)


def run_name(n: int, seed: int) -> str:
    """The name of a demo's run.

    Examples
    --------
    >>> run_name(100, 0)
    'demo'
    """
    return "demo" if (n, seed) == (100, 0) else f"demo-{n}-seed-{seed}"
