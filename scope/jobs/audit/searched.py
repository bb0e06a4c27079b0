"""What was searched for one capability on one reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.jobs.perturbing import PerturbationSet
from scope.records import Outcome


class Searched(NamedTuple):
    """The kept pairs, the flipped pairs and the random candidates of a capability."""

    kept: PerturbationSet
    flipped: PerturbationSet
    drawn: PerturbationSet

    def flip_outcome(self) -> Outcome:
        """That of the flipped pairs; a failure to draw random candidates is one of both."""
        outcome, drawn = self.flipped.outcome, self.drawn.outcome
        if drawn.status != "failed" or outcome.status == "failed":
            return outcome
        reason = f"random candidates: {drawn.reason}"
        return replace(outcome, status="failed", reason=reason, trace=drawn.trace)


def reasons(sets: Sequence[PerturbationSet]) -> dict[str, str]:
    """Why there is nothing, by capability."""
    outcomes = [one.outcome for one in sets if one.outcome.status != "measured"]
    return {one.capability: str(one.reason) for one in outcomes}
