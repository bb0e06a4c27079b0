"""The demo: three small related models built here, and an audit of two of them, offline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from scope.core.job import Job
from scope.core.options import DATA, Limits, whole_number
from scope.core.request import Request, as_function
from scope.records import AuditResult

TWEETS = "demo:tweets"


@dataclass(frozen=True, kw_only=True)
class DemoRequest(Request):
    """Build three small related models offline, audit two against the third, write a report.

    The reference is a small sentence encoder fine-tuned on labelled tweets; the student has four of
    its six layers and learned from its outputs alone; the independent model shares neither weights
    nor tokenizer with it, and learned from the labels. The first time takes about a minute longer,
    for the training. An interrupted run continues when the same command is given again, with the
    same result.

    Example: scope demo
    """

    n: Annotated[int, whole_number(DATA), Limits(least=1)] = 100
    """Number of held-out tweets to perturb."""

    seed: Annotated[int, whole_number(DATA)] = 0
    """Random seed of training, sample and search."""


def carry_out_demo(request: DemoRequest) -> AuditResult:
    """Build the models, which are kept, and audit them."""
    from scope.demo_models.build import build_demo_models
    from scope.jobs.audit.run import audit
    from scope.jobs.runner import check_room
    from scope.paths import cache_folder

    run = request.run or run_name(request.n, request.seed)
    check_room(replace(request, run=run), "audit")
    models = build_demo_models(cache_folder() / "zoo", seed=request.seed, progress=request.progress)
    return audit(
        reference=str(models.reference),
        targets=[str(models.student), str(models.independent)],
        data=TWEETS,
        n=request.n,
        seed=request.seed,
        run=run,
        runs=request.runs,
        progress=request.progress,
    )


demo = as_function(DemoRequest, carry_out_demo)

JOB = Job(
    name="demo",
    request=DemoRequest,
    carry_out="scope.jobs.demo:carry_out_demo",
    result=AuditResult,
    page="scope.jobs.audit.sections:page",
)


def run_name(n: int, seed: int) -> str:
    """The name of a demo's run.

    Examples
    --------
    >>> run_name(100, 0)
    'demo'
    """
    return "demo" if (n, seed) == (100, 0) else f"demo-{n}-seed-{seed}"
