"""The kinds of evidence: how similar each model of the pool is to the reference.

Shared mistakes and log-probabilities decide the verdict: they correct for the other models'
answers. CAPA and error consistency correct for chance, given the skill of the two models, but not
for the mistakes that all models have in common, so they are shown but do not decide. Neither do
Hard- and Soft-SCoPE on perturbations of the reference: a robust model keeps most invariances, and
models with the same base keep the same ones.

**Correlated uncertainty** of two models, controlling for all other models. Independent models are
certain of the same easy questions and uncertain of the same hard ones, and models with the same
public base even more so. What the other models of the pool do not predict depends on a model's own
training. With x_M the log-probabilities of model M over all items and options, centred over an
item's options and then over the items, and normalised to length 1, and Z those of all models but A
and B,

    r_M = x_M - Z' (Z Z' + λ)⁻¹ Z x_M,

and the evidence is the cosine of r_A and r_B: their partial correlation given the others, with a
ridge of λ = 0.1, without which some twenty models would predict noise too. Suspect and controls are
treated alike: each is compared with the reference, given all models but these two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.answer_matrix import UNKNOWN, AnswerMatrix, Scores
from scope.jobs.reuse.case import Case, Kind
from scope.jobs.reuse.shared_mistakes import SharedMistakes, value_of_a_copy
from scope.metrics import METRICS, Metric, capa, capa_discrete, error_consistency
from scope.metrics.consistency import ChanceCorrected
from scope.statistics import mean_estimate


def kinds_of_evidence(case: Case, shared: SharedMistakes, soft_scope: Metric) -> Iterator[Kind]:
    """The kinds that decide the verdict, then those that are only shown."""
    copy = value_of_a_copy(case.answers, shared)
    yield Kind(name="shared_mistakes", scores=shared.scores, copy=copy, most=math.inf, decides=True)
    scores = log_probability_scores(case.answers)
    if scores is not None:
        yield Kind(name="log_probabilities", scores=scores, decides=True)
    for pairs in case.pairs:
        for metric in (METRICS["hard_scope"], soft_scope):
            scores = invariance_scores(pairs, metric, case.units)
            if scores is not None:
                yield Kind(
                    name=str(metric),
                    capability=pairs.capability,
                    scores=scores,
                    # Examples without a pair do not count, although their part is 0.
                    suspect=mean_estimate(*pairs.by_text(metric, 0)),
                )
    for key, scores in chance_corrected_scores(case.answers).items():
        yield Kind(name=key, scores=scores)


def chance_corrected_scores(answers: AnswerMatrix) -> dict[str, Scores]:
    """The scores by the metric's key; empty if no right answer is known.

    CAPA uses the probabilities if every model gives them with its answers, otherwise the choices.
    """
    known = answers.gold != UNKNOWN
    if not known.any():
        return {}
    shown = answers.asked & known
    gold, options, chances = answers.gold, answers.options, answers.probabilities

    def scores(
        measure: Callable[..., ChanceCorrected],
        rows: NDArray[np.generic],
        *of_items: NDArray[np.int64],
    ) -> Scores:
        similarities = Scores.undefined(len(rows), answers.n_units)
        for model in range(1, len(rows)):
            both = shown[0] & shown[model]
            index = measure(rows[0, both], rows[model, both], *(array[both] for array in of_items))
            if index.value is not None:
                terms = (index.value + index.influence) / index.n
                similarities.put(model, index.value, answers.units[both], terms)
        return similarities

    if chances is not None and np.isfinite(chances[shown & answers.given]).all():
        first = {"capa": scores(capa, np.nan_to_num(chances), gold, options)}
    else:
        first = {"capa_discrete": scores(capa_discrete, answers.answers, gold, options)}
    return {**first, "error_consistency": scores(error_consistency, answers.answers, gold)}


def invariance_scores(pairs: AuditedPairs, metric: Metric, units: Sequence[str]) -> Scores | None:
    """The metric of each model of the pool; the pool is the pairs' targets, in their order.

    None if the reference is invariant on no pair. ``units`` are the examples of the questions, to
    which the pairs' examples belong.
    """
    if not pairs.example_ids:
        return None
    numbers = {unit: number for number, unit in enumerate(units)}
    scores = Scores.undefined(len(pairs.targets) + 1, len(units))
    for target in range(len(pairs.targets)):
        values, texts = pairs.by_text(metric, target)
        terms, owners = values / len(texts), np.array([numbers[text] for text in texts])
        scores.put(target + 1, terms.sum(), owners, terms)
    return scores


LEAST_PROBABILITY: Final = 1e-4
"""Lower bound of a probability: differences between very small ones are not informative."""

RIDGE: Final = 0.1
"""λ, where a model's own length is 1."""

_NOTHING_LEFT: Final = 1e-9

Rows = NDArray[np.float64]
"""Shape (models, items · options)."""


def log_probability_scores(answers: AnswerMatrix) -> Scores | None:
    """The partial correlation of each model's log-probabilities with the reference's, in -1..1.

    None if the reference gives no probabilities, or no model of the pool does. A model without
    probabilities has the value NaN; an item without probabilities, or without an answer, adds
    nothing to the products of its model.

    Examples
    --------
    The first model is unsure of the same items as the reference, the second of the other items:

    >>> sure = np.array([0.9, 0.6, 0.8, 0.7])
    >>> chances = np.stack([sure, sure, sure[::-1]])
    >>> scores = log_probability_scores(AnswerMatrix(
    ...     answers=np.zeros((3, 4), int), options=np.full(4, 2), gold=np.zeros(4, int),
    ...     units=np.arange(4), probabilities=np.stack([chances, 1 - chances], axis=2),
    ... ))
    >>> scores.values.round(2).tolist()
    [nan, 1.0, -0.06]
    """
    if answers.probabilities is None:
        return None
    rows, shown = _centred(answers, answers.probabilities)
    if not shown[0].any() or not shown[1:].any():
        return None
    owners = np.repeat(answers.units, rows.shape[1] // len(answers.units))
    products = rows @ rows.T

    scores = Scores.undefined(len(rows), answers.n_units)
    for model in range(1, len(rows)):
        pair = [0, model]
        others = [row for row in range(len(rows)) if row not in pair and shown[row].any()]
        left = rows[pair]
        if others:
            ridge = products[np.ix_(others, others)] + RIDGE * np.eye(len(others))
            predicted = np.linalg.solve(ridge, products[np.ix_(others, pair)])
            left = left - predicted.T @ rows[others]
        lengths = np.sqrt((left**2).sum(axis=1))
        if (shown[0] & shown[model]).any() and lengths.min() >= _NOTHING_LEFT:
            terms = left[0] * left[1] / lengths.prod()
            scores.put(model, terms.sum(), owners, terms)
    return scores


def plain_correlations(answers: AnswerMatrix) -> NDArray[np.float64] | None:
    """The correlation of every model's log-probabilities with the reference's, without controlling.

    Shape (models,), in -1..1; None if a model gave answers without probabilities.
    """
    if answers.probabilities is None:
        return None
    rows, shown = _centred(answers, answers.probabilities)
    return None if (answers.given & ~shown).any() else np.asarray(rows @ rows[0])


def _centred(
    answers: AnswerMatrix, probabilities: NDArray[np.float64]
) -> tuple[Rows, NDArray[np.bool_]]:
    """Every model's log-probabilities in one row of length 1, 0 if there are none.

    The second array is whether each model gave probabilities, shape (models, items).
    """
    shown = np.isfinite(probabilities).all(axis=2) & answers.given
    real = np.arange(probabilities.shape[2]) < answers.options[:, None]
    logs = np.log(np.maximum(np.nan_to_num(probabilities), LEAST_PROBABILITY)) * real
    logs = (logs - logs.sum(axis=2, keepdims=True) / answers.options[:, None]) * real
    # A model may prefer an option in every item, such as a label or the first one.
    counted = shown[:, :, None] & real
    mean = (logs * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    rows = ((logs - mean[:, None]) * counted).reshape(len(logs), -1)
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), shown
