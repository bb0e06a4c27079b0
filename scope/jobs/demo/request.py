"""The request of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scope.core.options import DATA, Limits, whole_number
from scope.core.request import Job, Request


@dataclass(frozen=True, kw_only=True)
class DemoRequest(Request):
    """Build six small related models offline, ask which may replace the first, write a report.

    The reference is a small sentence encoder fine-tuned on labelled tweets. Two targets are copies
    of it, one with weights in 8 bits and one that lacks four in five weights; the student has four
    of its six layers and learned from its outputs alone; the independent model shares neither
    weights nor tokenizer with it, and learned from the labels. The yardstick is the reference with
    another seed. The first time takes about two minutes longer, for the training. An interrupted
    run continues when the same command is given again, with the same result.

    Example: scope demo
    """

    n: Annotated[int, whole_number(DATA), Limits(least=1)] = 100
    """Number of held-out tweets to perturb."""

    seed: Annotated[int, whole_number(DATA)] = 0
    """Random seed of training, sample and search."""


JOB = Job(
    name="demo",
    request=DemoRequest,
    run="scope.jobs.demo.run:run_demo",
    result="scope.records:AuditResult",
    page="scope.jobs.audit.page:page",
)
