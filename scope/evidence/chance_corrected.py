"""CAPA and error consistency of every model of the pool with the reference.

Both correct for chance, given the skill of the two models, but not for the mistakes that all models
have in common, so they are shown but do not decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import UNKNOWN, AnswerMatrix, Scores
from scope.metrics import capa, capa_discrete, error_consistency
from scope.metrics.chance import ChanceCorrected


def chance_corrected_scores(answers: AnswerMatrix) -> dict[str, Scores]:
    """The scores by the metric's key; empty if no right answer is known.

    CAPA uses the probabilities if every model gives them, otherwise the choices.
    """
    known = answers.gold != UNKNOWN
    if not known.any():
        return {}
    shown = answers.given & known
    gold, options, choices = answers.gold, answers.options, answers.answers
    probabilities = answers.probabilities
    with_probabilities = probabilities is not None and bool(np.isfinite(probabilities[shown]).all())

    def of_probabilities(model: int, both: NDArray[np.bool_]) -> ChanceCorrected:
        rows = np.asarray(probabilities)
        return capa(rows[0, both], rows[model, both], gold[both], options[both])

    def of_choices(model: int, both: NDArray[np.bool_]) -> ChanceCorrected:
        return capa_discrete(choices[0, both], choices[model, both], gold[both], options[both])

    def of_errors(model: int, both: NDArray[np.bool_]) -> ChanceCorrected:
        return error_consistency(choices[0, both], choices[model, both], gold[both])

    first = {"capa": of_probabilities} if with_probabilities else {"capa_discrete": of_choices}
    return {
        key: _scores(answers, shown, measure)
        for key, measure in {**first, "error_consistency": of_errors}.items()
    }


def _scores(
    answers: AnswerMatrix,
    shown: NDArray[np.bool_],
    measure: Callable[[int, NDArray[np.bool_]], ChanceCorrected],
) -> Scores:
    models, units = len(answers.answers), int(answers.units.max(initial=-1)) + 1
    values, parts = np.full(models, np.nan), np.zeros((models, units))
    for model in range(1, models):
        both = shown[0] & shown[model]
        found = measure(model, both)
        if found.value is None:
            continue
        values[model] = found.value
        each = (found.value + found.influence) / found.n
        parts[model] = np.bincount(answers.units[both], weights=each, minlength=units)
    return Scores(values=values, parts=parts)
