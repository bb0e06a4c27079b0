"""The kinds of evidence: how similar each model of the pool is to the reference.

Shared mistakes and log-probabilities decide the verdict: they are known of all pairs of models, and
correct for the other models' answers. CAPA and error consistency correct for chance, given the
skill of the two models, but not for the mistakes that all models have in common, so they are shown
but do not decide. Neither do Hard- and Soft-SCoPE on perturbations of the reference: a robust model
keeps most invariances, and models with the same base keep the same ones.

**Correlated uncertainty** of two models, controlling for all other models. Independent models are
certain of the same easy questions and uncertain of the same hard ones, and models with the same
public base even more so. What the other models of the pool do not predict depends on a model's own
training. With x_M the log-probabilities of model M over all items and options, centred over an
item's options and then over the items, and normalised to length 1, and Z those of all models but A
and B,

    r_M = x_M - Z' (Z Z' + λ)⁻¹ Z x_M,

and the evidence is the cosine of r_A and r_B: their partial correlation given the others, with a
ridge of λ = 0.1, without which some twenty models would predict noise too. All pairs are
treated alike: each is compared given all models but these two.

A case: all models' answers to the same questions, and one number of similarity for each pair.

The joint statistic combines all kinds of evidence that decide in one number for each pair of
models. The most informative questions are the strongest evidence for a relation and against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.pool import UNKNOWN, AnswerMatrix, Indices, Square, Values
from scope.jobs.reuse.shared_mistakes import SharedMistakes, shared_mistakes
from scope.metrics import Metric
from scope.metrics.agreement import ChanceCorrected, capa, capa_discrete, error_consistency
from scope.metrics.catalog import METRICS
from scope.records import Estimate, InformativeItem, MistakeCount, Undefined
from scope.statistics.between_models import joint_statistic
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import sum_estimate

NOTHING_SHARED: Final = "suspect and reference have no answers in common to compute it from"


def kinds_of_evidence(case: Case, shared: SharedMistakes, soft_scope: Metric) -> Iterator[Kind]:
    """The kinds that decide the verdict, then those that are only shown."""
    answers = case.answers
    parts = {SHARED: shared.parts, LOG_PROBABILITIES: log_probability_parts(answers)}
    for name, pairs in deciding_pairs(answers, shared).items():
        bound = None if name == SHARED else 1.0
        suspect = _estimate(pairs[0, 1], parts[name], bound)
        yield Kind(name=name, values=pairs[0], suspect=suspect, pairs=pairs)
    for audited in case.pairs:
        for metric in (METRICS["hard_scope"], soft_scope) if audited.example_ids else ():
            by_text = [audited.by_text(metric, target) for target in range(len(audited.targets))]
            yield Kind(
                name=str(metric),
                capability=audited.capability,
                values=np.array([np.nan, *(values.mean() for values, _ in by_text)]),
                suspect=mean_estimate(*by_text[0]),
            )
    yield from chance_corrected(answers)


SHARED: Final = "shared_mistakes"
LOG_PROBABILITIES: Final = "log_probabilities"


def deciding_pairs(
    answers: AnswerMatrix, shared: SharedMistakes | None = None
) -> dict[str, Square]:
    """The similarity of all pairs of models by each kind that decides."""
    by_doubts = log_probability_pairs(answers)
    return {
        SHARED: (shared or shared_mistakes(answers)).standing_out,
        **({} if by_doubts is None else {LOG_PROBABILITIES: by_doubts}),
    }


def _estimate(value: float, parts: Values, bound: float | None = 1.0) -> Estimate | Undefined:
    """The sum of the parts of the units with its interval, within the bound."""
    if np.isnan(value):
        return Undefined(reason=NOTHING_SHARED)
    estimate = sum_estimate(parts)
    if bound is None or isinstance(estimate, Undefined):
        return estimate
    # The interval of a sum is not bounded.
    low, middle, high = (
        max(-bound, min(bound, end)) for end in (estimate.low, estimate.value, estimate.high)
    )
    return replace(estimate, low=low, value=middle, high=high)


def chance_corrected(answers: AnswerMatrix) -> Iterator[Kind]:
    """CAPA and error consistency; none if no right answer is known.

    CAPA uses the probabilities if every model gives them with its answers, otherwise the choices.
    """
    known = answers.gold != UNKNOWN
    if not known.any():
        return
    shown = answers.asked & known
    gold, options, chances = answers.gold, answers.options, answers.probabilities

    def kind(
        name: str,
        measure: Callable[..., ChanceCorrected],
        rows: NDArray[np.generic],
        *of_items: NDArray[np.int64],
    ) -> Kind:
        values, parts = np.full(len(rows), np.nan), np.zeros(answers.n_units)
        for model in range(1, len(rows)):
            both = shown[0] & shown[model]
            index = measure(rows[0, both], rows[model, both], *(array[both] for array in of_items))
            if index.value is not None:
                values[model] = index.value
                if model == 1:
                    terms = (index.value + index.influence) / index.n
                    np.add.at(parts, answers.units[both], terms)
        return Kind(name=name, values=values, suspect=_estimate(values[1], parts))

    if chances is not None and np.isfinite(chances[shown & answers.given]).all():
        yield kind("capa", capa, np.nan_to_num(chances), gold, options)
    else:
        yield kind("capa_discrete", capa_discrete, answers.answers, gold, options)
    yield kind("error_consistency", error_consistency, answers.answers, gold)


LEAST_PROBABILITY: Final = 1e-4
"""Lower bound of a probability: differences between very small ones are not informative."""

RIDGE: Final = 0.1
"""λ, where a model's own length is 1."""

_NOTHING_LEFT: Final = 1e-6

Rows = NDArray[np.float64]
"""Shape (models, items · options)."""


def log_probability_pairs(answers: AnswerMatrix) -> Square | None:
    """The partial correlation of every two models' log-probabilities, in -1..1.

    None if the reference gives no probabilities, or no model of the pool does. A pair with a model
    without probabilities has the value NaN; an item without probabilities, or without an answer,
    adds nothing to the products of its model.

    Examples
    --------
    The first model is unsure of the same items as the reference, the second of the other items:

    >>> sure = np.array([0.9, 0.6, 0.8, 0.7])
    >>> chances = np.stack([sure, sure, sure[::-1]])
    >>> pairs = log_probability_pairs(AnswerMatrix(
    ...     answers=np.zeros((3, 4), int), options=np.full(4, 2), gold=np.zeros(4, int),
    ...     units=np.arange(4), probabilities=np.stack([chances, 1 - chances], axis=2),
    ... ))
    >>> pairs[0].round(2).tolist()
    [nan, 1.0, -0.06]
    """
    if answers.probabilities is None:
        return None
    rows, shown = _centred(answers, answers.probabilities)
    if not shown[0].any() or not shown[1:].any():
        return None
    products = rows @ rows.T
    values = np.full_like(products, np.nan)
    has = np.flatnonzero(shown.any(axis=1))
    for first, second in combinations(has.tolist(), 2):
        pair, others = np.array([first, second]), has[(has != first) & (has != second)]
        weights = _weights(products, pair, others)
        crossed = products[np.ix_(pair, others)] @ weights
        left = products[np.ix_(pair, pair)] - crossed - crossed.T
        left += weights.T @ products[np.ix_(others, others)] @ weights
        lengths = np.sqrt(np.maximum(left.diagonal(), 0))
        if (shown[first] & shown[second]).any() and lengths.min() >= _NOTHING_LEFT:
            values[first, second] = values[second, first] = left[0, 1] / lengths.prod()
    return values


def _weights(products: Square, pair: Indices, others: Indices) -> Square:
    """The ridge regression of both models of a pair on the others; shape (others, 2)."""
    ridge: Square = products[np.ix_(others, others)] + RIDGE * np.eye(len(others))
    return np.asarray(np.linalg.solve(ridge, products[np.ix_(others, pair)]))


def log_probability_parts(answers: AnswerMatrix) -> Values:
    """The contribution of each unit to the suspect's value in `log_probability_pairs`."""
    parts = np.zeros(answers.n_units)
    if answers.probabilities is not None:
        rows, shown = _centred(answers, answers.probabilities)
        others = np.flatnonzero(shown[2:].any(axis=1)) + 2
        left = rows[:2] - _weights(rows @ rows.T, np.arange(2), others).T @ rows[others]
        lengths = np.sqrt((left**2).sum(axis=1))
        if lengths.min() >= _NOTHING_LEFT:
            owners = np.repeat(answers.units, rows.shape[1] // len(answers.units))
            np.add.at(parts, owners, left[0] * left[1] / lengths.prod())
    return parts


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


class CaseItem(NamedTuple):
    """One question to all models, in words, with the answers of the reference and the suspect.

    ``unit`` is the id of the example that it belongs to; a missing answer is empty.
    """

    id: str
    unit: str
    text: str
    gold: str | None
    reference: str
    suspect: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One suspect, one reference, the controls, and their answers to the same questions.

    ``answers`` has the reference in row 0, the suspect in row 1 and the controls after them;
    ``derivatives`` has the same for each known derivative of the reference by its name, in the
    suspect's row. ``pairs`` are the perturbations of the reference, a capability each, with the
    suspect and the controls as targets. ``hash`` is that of the questions, ``queries`` counts the
    questions to the suspect. ``labels`` are those of classified texts.
    """

    reference: str
    suspect: str
    controls: tuple[str, ...]
    items: Sequence[CaseItem]
    answers: AnswerMatrix
    derivatives: Mapping[str, AnswerMatrix] = field(default_factory=dict)
    pairs: tuple[AuditedPairs, ...] = ()
    hash: str
    queries: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of evidence: the similarity of each model to the reference, which is row 0.

    ``suspect`` is the suspect's value with its interval. A kind decides if it has the similarity of
    all ``pairs`` of models.
    """

    name: str
    capability: str | None = None
    values: Values
    suspect: Estimate | Undefined
    pairs: Square | None = None


def joint_pairs(kinds: Sequence[Square], counted: NDArray[np.bool_]) -> Square:
    """The joint statistic of every pair of the models that are counted, NaN for other pairs.

    A kind that the pair of reference and suspect lacks is left out.

    Examples
    --------
    Reference and suspect are most similar by both kinds; the last control is not counted:

    >>> first = np.array([[0, 5, 1, 2], [5, 0, 1, 2], [1, 1, 0, 9], [2, 2, 9, 0]])
    >>> joint_pairs([first, first / 10], np.array([True, True, True, False]))[0].round(2).tolist()
    [nan, 1.41, -0.71, nan]
    """
    rows, columns = np.triu_indices(len(counted), 1)
    known = counted[rows] & counted[columns]
    deciding = [kind for kind in kinds if not np.isnan(kind[0, 1])]
    table = [np.where(known, kind[rows, columns], np.nan) for kind in deciding]
    joint = np.full((len(counted), len(counted)), np.nan)
    if table:
        joint[rows, columns] = joint[columns, rows] = joint_statistic(table)
    return joint


FOR_REUSE, AGAINST = 15, 5
"""The number of questions shown for each side."""


def _mistakes(case: Case, shared: SharedMistakes) -> tuple[Values, Values, Values]:
    """By question: is the reference wrong, is the suspect's answer the same, and how probably."""
    answers = case.answers
    reference, suspect = answers.answers[0], answers.answers[1]
    mistaken = answers.given[0] & answers.given[1] & (reference != answers.expected_right())
    return mistaken, (reference == suspect).astype(float), shared.expected[1]


def mistake_count(case: Case, shared: SharedMistakes) -> MistakeCount | None:
    """How many of the reference's mistakes the suspect shares, and how many are expected."""
    mistaken, same, expected = _mistakes(case, shared)
    n, chance = int(mistaken.sum()), expected[mistaken]
    if not n or np.isnan(chance).any():
        return None
    return MistakeCount(n=n, same=float(same[mistaken].mean()), expected=float(chance.mean()))


def informative_items(case: Case, shared: SharedMistakes) -> tuple[InformativeItem, ...]:
    """The strongest evidence of each side, that for reuse first; of equals, the first asked.

    Only the reference's mistakes are evidence; without right answers, its answers that most models
    do not give. The same answer is evidence for reuse, and stronger if it is less probable for a
    model of the suspect's skill. Another answer is evidence against reuse, and stronger if the
    reference's answer is more probable.
    """
    mistaken, same, expected = _mistakes(case, shared)
    weight = np.where(mistaken, same - expected, 0.0)
    most, least = (np.argsort(order, kind="stable") for order in (-weight, weight))
    strongest = [place for place in most[:FOR_REUSE] if weight[place] > 0]
    strongest += [place for place in least[:AGAINST] if weight[place] < 0]
    return tuple(
        InformativeItem(
            id=item.id,
            text=item.text,
            gold=item.gold,
            reference=item.reference,
            suspect=item.suspect,
            expected=float(expected[place]),
            weight=float(weight[place]),
        )
        for place in strongest
        for item in [case.items[place]]
    )
