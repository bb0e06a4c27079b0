"""The joint statistic: all kinds of evidence in one number for each model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.decision.case import Kind
from scope.statistics.conformal import NO_SPREAD, conformal_p_value, joint_statistic, threshold_rank

Rank = Callable[[float, int], int | None]
"""How many of a number of controls may rank as high as a suspect that is called related."""

_STEPS = np.arange(1, 101) / 100
"""Shares of copied answers to try."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointScores:
    """The joint statistic of the pool: the suspect first, then the controls.

    Attributes
    ----------
    values
        One number per model, greater if it is more similar to the reference, NaN if undefined.
    parts
        The contribution of each example; a model's value is their sum; shape (models, units).
    table
        The values of each kind of evidence; shape (kinds, models).
    copies
        The value of a copy of the reference, by each kind.
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
        """The conformal p-value; None if the suspect has no value or no control has one."""
        if np.isnan(self.values[0]) or not len(self.ranked):
            return None
        return conformal_p_value(float(self.values[0]), self.ranked)

    def decisive_control(
        self, alpha: float, *, rank: Rank = threshold_rank, different: int | None = None
    ) -> int | None:
        """The index, from 1, of the control that a related suspect must outrank.

        It is the most similar to the reference, or a later one if there are many controls; with
        too few of them, the most similar. ``rank`` gives the number of controls that may be as
        similar, from the number of ``different`` controls, by default all.
        """
        known = np.flatnonzero(~np.isnan(self.values[1:])) + 1
        if not len(known):
            return None
        ordered = known[np.argsort(-self.values[known], kind="stable")]
        return int(ordered[rank(alpha, different or len(known)) or 0])

    def detectable_share(
        self, alpha: float, *, rank: Rank = threshold_rank, different: int | None = None
    ) -> float | None:
        """The least share of copied answers for which the p-value by rank is at most alpha.

        Each kind's value moves linearly, in steps of 0.01, to that of a copy. It starts at the
        value of an independent model: the median of the controls, or the suspect's own value if
        that is less. None if not even a copy has such a p-value. The verdict takes two further
        tests, agreement and the paired one, and may miss such a share.
        """
        allowed = rank(alpha, different or len(self.ranked))
        if np.isnan(self.values[0]) or allowed is None:
            return None
        begin = np.array([_of_an_independent_model(row) for row in self.table])
        for share in _STEPS:
            moved = self.table.copy()
            moved[:, 0] = begin + share * (self.copies - begin)
            values = joint_statistic(moved)
            if (values[1:] >= values[0]).sum() <= allowed:
                return float(share)
        return None


def _of_an_independent_model(values: NDArray[np.float64]) -> float:
    """The median of the controls, or the value of the suspect, the first, if it is less."""
    return float(min(values[0], np.nanmedian(values[1:])))


def _compares(values: NDArray[np.float64]) -> bool:
    """Whether the suspect, the first, and at least one control have a value."""
    return bool(not np.isnan(values[0]) and (~np.isnan(values[1:])).any())


def joint_scores(kinds: Sequence[Kind]) -> JointScores:
    """Combine the deciding kinds that suspect and controls have into one number per model."""
    deciding = [one for one in kinds if one.decides and _compares(one.scores.values[1:])]
    models = len(kinds[0].scores.values) - 1
    table = np.array([one.scores.values[1:] for one in deciding]).reshape(len(deciding), models)
    counts = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    parts = np.zeros((models, kinds[0].scores.parts.shape[1]))
    for one, row in zip(deciding, table, strict=True):
        spread = float(np.nanstd(row))
        if spread > NO_SPREAD * float(np.nanmax(np.abs(row))):
            # The mean is subtracted, so that a model without this kind is not penalised.
            share = float(np.nanmean(row)) / parts.shape[1]
            has = ~np.isnan(row)
            parts[has] += (one.scores.parts[1:][has] - share) / spread
    return JointScores(
        values=joint_statistic(table) if deciding else np.full(models, np.nan),
        parts=parts / counts[:, None],
        table=table,
        copies=np.array([one.copy for one in deciding]),
    )
