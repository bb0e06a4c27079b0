"""A fleet and the questions that it is put to, whichever way the two were named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.layout import Table
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.saving import Fleet
from scope.records import DataCard, Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class Exam:
    """A fleet, and the questions it is put to.

    Parameters
    ----------
    fleet
        Fitted, with the models that were added to it.
    questions
        With a column of answers for each model of the fleet, in its order; NaN where none is
        known.
    table
        The questions as the fleet's forecaster reads them.
    fresh
        Which of the questions the fleet was not fitted on: those alone are scored.
    others
        Further forecasters, fitted on the same questions, to be scored beside the fleet's own
        and each model's mean.
    conflicts
        Of the answers that the fleet was learned from and the exam's, which were read together,
        how many were given twice and differ. Of a stored fleet's it is not known.
    notes
        What a reader should know of how the exam came to be.
    """

    fleet: Fleet
    questions: CorrectnessMatrix
    table: Table
    fresh: NDArray[np.bool_]
    others: tuple[Forecaster, ...] = ()
    conflicts: int = 0
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> NDArray[np.int64]:
        """The rows of the questions that are new to the fleet and have an answer."""
        answered = ~np.isnan(self.questions.correct).all(axis=1)
        return np.flatnonzero(self.fresh & answered)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedExam:
    """An exam of which all has been read that is quick to fail; the rest is done by ``begin``.

    ``models`` are those that the fleet will have. ``settings`` decide the result.
    """

    models: tuple[str, ...]
    data: tuple[DataCard, ...]
    settings: Mapping[str, Setting]
    begin: Callable[[], Exam]
