"""Which questions two models answer correctly: both, one alone, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records.estimates import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class FourCells:
    """Shares of a task's questions by which of two models is right; the four sum to 1.

    The questions are those that were put to both and whose right answer is known. An answer that
    was not given is wrong; where answers are texts, right is an exact match. ``difference`` is the
    first model's accuracy minus the second's.
    """

    task: str
    first: str
    second: str
    both: Estimate
    only_first: Estimate
    only_second: Estimate
    neither: Estimate
    difference: Estimate
