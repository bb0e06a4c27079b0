"""How alike each model of the pool is to the reference, by other measures than shared mistakes.

CAPA and error consistency correct for chance, given the skill of the two models, but not for the
mistakes that all models have in common, so they are shown but do not decide. Hard- and Soft-SCoPE
are taken on perturbations of the reference.

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

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import AuditedPairs
from scope.evidence.answers import UNKNOWN, AnswerMatrix, Scores
from scope.metrics import Metric, capa, capa_discrete, error_consistency
from scope.metrics.consistency import ChanceCorrected


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


BeforeAndAfter = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A model's probabilities for the original texts and for the changed ones."""


def asked_pairs(pairs: AuditedPairs, units: Sequence[str]) -> AuditedPairs:
    """The pairs of these examples, without those of another reference."""
    known = set(units)
    kept = [place for place, one in enumerate(pairs.example_ids) if one in known]
    if len(kept) == len(pairs.example_ids):
        return pairs

    def of_kept(rows: BeforeAndAfter) -> BeforeAndAfter:
        return rows[0][kept], rows[1][kept]

    return replace(
        pairs,
        example_ids=tuple(pairs.example_ids[place] for place in kept),
        trials=tuple(pairs.trials[place] for place in kept),
        reference=of_kept(pairs.reference),
        targets=tuple(map(of_kept, pairs.targets)),
    )


def invariance_scores(pairs: AuditedPairs, metric: Metric, units: Sequence[str]) -> Scores | None:
    """The metric of each model of the pool; the pool is the pairs' targets, in their order.

    None if the reference is invariant on no pair. ``units`` are the examples of the probes, to
    which the pairs' examples belong.
    """
    if not pairs.example_ids:
        return None
    number = {unit: place for place, unit in enumerate(units)}
    owners = np.array([number[one] for one in pairs.example_ids])
    models = len(pairs.targets) + 1
    values, parts = np.full(models, np.nan), np.zeros((models, len(units)))
    for place in range(len(pairs.targets)):
        each = pairs.values(metric, place) / len(owners)
        values[place + 1] = each.sum()
        parts[place + 1] = np.bincount(owners, weights=each, minlength=len(units))
    return Scores(values=values, parts=parts)


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
    probabilities has the value NaN; an item without probabilities is left out for its model.

    Examples
    --------
    The first of the pool is as unsure as the reference, the second where it is sure:

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
    models, units = len(rows), int(answers.units.max(initial=-1)) + 1
    values, parts = np.full(models, np.nan), np.zeros((models, units))
    owners = np.repeat(answers.units, rows.shape[1] // len(answers.units))
    products = rows @ rows.T
    for model in range(1, models):
        pair = [0, model]
        others = [one for one in range(models) if one not in pair and shown[one].any()]
        ridge = products[np.ix_(others, others)] + RIDGE * np.eye(len(others))
        predicted = np.linalg.solve(ridge, products[np.ix_(others, pair)]) if others else None
        left = rows[pair] if predicted is None else rows[pair] - predicted.T @ rows[others]
        lengths = np.sqrt((left**2).sum(axis=1))
        if not (shown[0] & shown[model]).any() or lengths.min() < _NOTHING_LEFT:
            continue
        each = left[0] * left[1] / lengths.prod()
        values[model] = each.sum()
        parts[model] = np.bincount(owners, weights=each, minlength=units)
    return Scores(values=values, parts=parts)


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

    And for which items each model gave probabilities, shape (models, items).
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
