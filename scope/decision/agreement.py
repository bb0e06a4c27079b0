"""Tests whether the suspect agrees with the reference more than dependent controls of its skill do.

The joint statistic depends on the answers of the controls. If all controls are of one family, two
models of another origin share mistakes that are common outside of it: on simulated families
(`benchmarks/reuse_error_rates.py`) the rank alone called most independent suspects related. This
second test uses the agreement of two models alone: discrete CAPA, and if all models give
probabilities its mean with the correlation of their log-probabilities, both on Fisher's scale
(artanh), on which the spread does not depend on the value. It corrects for unfit controls:

- agreement depends on skill: a linear fit over the controls' skill, whose prediction is less
  certain the farther the suspect's skill is from theirs;
- controls that answer alike count as fewer. Independent models agree as reference and suspect
  agree with the controls; controls c and d that agree more, κ_cd, correlate by
  (κ_cd - κ_0) / (1 - κ_0), where κ_0 is the median of those.

See `scope.statistics.prediction`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.decision.case import Case
from scope.evidence.answers import AnswerMatrix
from scope.evidence.arrays import Square
from scope.evidence.kinship import pairwise_kappa
from scope.evidence.log_probabilities import plain_correlations
from scope.evidence.option_blocks import option_blocks
from scope.evidence.skill import skill
from scope.records import Agreement, ModelScore
from scope.statistics.prediction import prediction_test

MOST = 0.9999
"""Upper limit of agreement: Fisher's scale is unbounded."""

FEWEST_INDEPENDENT = 4
"""The least number of independent controls that the controls must count as for a decision."""


def agreement_test(case: Case, usable: NDArray[np.bool_]) -> Agreement | None:
    """Compare the suspect's agreement with the reference with that of the usable controls.

    Parameters
    ----------
    usable
        Which controls count; shape (controls,).

    Returns
    -------
    Agreement
        None if the suspect or all but one control have none.
    """
    answers = case.sample
    kappas = pairwise_kappa(answers, option_blocks(answers))
    values, skills = _agreements(answers, kappas), skill(answers)
    known = ~(np.isnan(values) | np.isnan(skills))
    controls = np.flatnonzero(known[2:] & usable) + 2
    if not known[1] or len(controls) < 2:
        return None
    found = prediction_test(
        float(values[1]),
        float(skills[1]),
        values[controls],
        skills[controls],
        _correlations(kappas, controls),
    )
    return Agreement(
        suspect=float(values[1]),
        controls=tuple(
            ModelScore(model=case.controls[row - 2], value=float(values[row])) for row in controls
        ),
        independent=found.independent,
        p_value=found.p_value,
    )


def _agreements(answers: AnswerMatrix, kappas: Square) -> NDArray[np.float64]:
    """Of every model with the reference; NaN for the reference itself and if undefined."""
    values = _on_fishers_scale(kappas[0])
    correlations = plain_correlations(answers)
    if correlations is not None:
        values = (values + _on_fishers_scale(correlations)) / 2
    values[0] = np.nan
    return values


def _on_fishers_scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.arctanh(np.clip(values, -MOST, MOST)), dtype=np.float64)


def _correlations(kappas: Square, controls: NDArray[np.intp]) -> Square:
    """The correlation of the controls, beyond the agreement of independent models."""
    usual = float(np.nanmedian(kappas[:2, controls]))
    among = np.nan_to_num(kappas[np.ix_(controls, controls)], nan=usual)
    table = np.clip((among - usual) / max(1 - usual, 1e-9), 0.0, 1.0)
    np.fill_diagonal(table, 1.0)
    return table
