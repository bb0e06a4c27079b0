"""Which questions two models answer correctly: both, one alone, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records.estimates import Estimate, Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class FourCells:
    """Shares of a task's questions by which of two models is right; the four sum to 1.

    An answer that was not given is wrong; where answers are texts, right is an exact match.
    ``difference`` is the first model's accuracy minus the second's on the same questions.
    """

    task: str
    first: str
    second: str
    both: Estimate | Undefined
    only_first: Estimate | Undefined
    only_second: Estimate | Undefined
    neither: Estimate | Undefined
    difference: Estimate | Undefined
