"""A job of a third party: an audit whose settings a team has agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import scope
from scope.core.job import Job
from scope.core.options import DATA, MODELS, Limits, option, whole_number
from scope.core.request import Request, as_function


@dataclass(frozen=True, kw_only=True)
class SpellingRequest(Request):
    """Audit targets on spelling mistakes alone.

    Example: scope spelling --reference ours --target theirs --data texts.csv
    """

    reference: Annotated[str, option(MODELS, metavar="MODEL", once=True)]
    """Reference model."""

    targets: Annotated[Sequence[str], option(MODELS, "--target", metavar="MODEL")]
    """Target model; may be repeated."""

    data: Annotated[str, option(DATA, metavar="DATA")]
    """Labelled texts."""

    n: Annotated[int, whole_number(DATA), Limits(least=1)] = 200
    """Number of texts to sample."""


def carry_out_spelling(request: SpellingRequest) -> scope.Comparison:
    """Run the audit."""
    return scope.audit(
        reference=request.reference,
        targets=request.targets,
        data=request.data,
        n=request.n,
        capabilities=["typo"],
        trials=1,
        run=request.run,
        runs=request.runs,
        progress=request.progress,
    )


spelling = as_function(SpellingRequest, carry_out_spelling)

JOB = Job(name="spelling", request=SpellingRequest, carry_out="scope_spelling:carry_out_spelling")
