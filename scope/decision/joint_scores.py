"""Where the suspect stands among the controls, by all kinds of evidence together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.decision.case import Kind
from scope.statistics.conformal import NO_SPREAD, conformal_p_value, joint_statistic, threshold_rank

Rank = Callable[[float, int], int | None]
"""How many of so many controls may stand as high as a suspect that is called related."""

_STEPS = np.arange(1, 101) / 100
"""Shares of copied answers that are tried."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointScores:
    """The joint statistic of the pool: the suspect first, then the controls.

    Attributes
    ----------
    values
        One number a model, greater where it is more like the reference, NaN where there is none.
    parts
        What each example adds; a model's value is the sum of its parts; shape (models, units).
    table
        The values that the statistic is made of; shape (kinds, models).
    copies
        The value that a copy of the reference would have by each kind.
    """

    values: NDArray[np.float64]
    parts: NDArray[np.float64]
    table: NDArray[np.float64]
    copies: NDArray[np.float64]

    @property
    def ranked(self) -> NDArray[np.float64]:
        """The values of the controls that have one."""
        controls = self.values[1:]
        return np.asarray(controls[~np.isnan(controls)])

    @property
    def p_value(self) -> float | None:
        """The conformal p-value; None where the suspect has no value or no control has one."""
        if np.isnan(self.values[0]) or not len(self.ranked):
            return None
        return conformal_p_value(float(self.values[0]), self.ranked)

    def decisive_control(
        self, alpha: float, *, rank: Rank = threshold_rank, different: int | None = None
    ) -> int | None:
        """The place, from 1, of the control that a suspect must stand beyond to be called related.

        It is the closest to the reference, or a later one where there are many controls; with too
        few of them, the closest. ``rank`` says how many may be as close, given how many
        ``different`` controls there are; all of them unless said otherwise.
        """
        known = np.flatnonzero(~np.isnan(self.values[1:])) + 1
        if not len(known):
            return None
        ordered = known[np.argsort(-self.values[known], kind="stable")]
        return int(ordered[rank(alpha, different or len(known)) or 0])

    def detectable_share(
        self, alpha: float, *, rank: Rank = threshold_rank, different: int | None = None
    ) -> float | None:
        """The least share of copied answers for which the p-value by rank would be at most alpha.

        By one hundredths, each kind's value moved in a straight line to that of a copy. It begins
        where an independent model would stand: at the median of the controls, or at the suspect's
        own value if that is less. None where not even a copy would have such a p-value. The verdict
        takes two further tests, agreement and the paired one, so that it may miss such a share.
        """
        allowed = rank(alpha, different or len(self.ranked))
        if np.isnan(self.values[0]) or allowed is None:
            return None
        begin = np.array([_of_a_stranger(row) for row in self.table])
        for share in _STEPS:
            moved = self.table.copy()
            moved[:, 0] = begin + share * (self.copies - begin)
            values = joint_statistic(moved)
            if (values[1:] >= values[0]).sum() <= allowed:
                return float(share)
        return None


def _of_a_stranger(values: NDArray[np.float64]) -> float:
    """The median of the controls that have a value, or the suspect's, the first, if it is less."""
    return float(min(values[0], np.nanmedian(values[1:])))


def _compares(values: NDArray[np.float64]) -> bool:
    """Whether the suspect, the first, has a value, and a control to be compared with."""
    return bool(not np.isnan(values[0]) and (~np.isnan(values[1:])).any())


def joint_scores(kinds: Sequence[Kind]) -> JointScores:
    """Put the kinds that decide, and that suspect and controls have, into one number a model."""
    deciding = [one for one in kinds if one.decides and _compares(one.scores.values[1:])]
    models = len(kinds[0].scores.values) - 1
    table = np.array([one.scores.values[1:] for one in deciding]).reshape(len(deciding), models)
    counts = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    parts = np.zeros((models, kinds[0].scores.parts.shape[1]))
    for one, row in zip(deciding, table, strict=True):
        spread = float(np.nanstd(row))
        if spread > NO_SPREAD * float(np.nanmax(np.abs(row))):
            # The mean is taken off evenly, or a model without this kind would seem to lack it all.
            share = float(np.nanmean(row)) / parts.shape[1]
            has = ~np.isnan(row)
            parts[has] += (one.scores.parts[1:][has] - share) / spread
    return JointScores(
        values=joint_statistic(table) if deciding else np.full(models, np.nan),
        parts=parts / counts[:, None],
        table=table,
        copies=np.array([one.copy for one in deciding]),
    )
