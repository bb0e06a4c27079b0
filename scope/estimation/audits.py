"""From predictions to every number of an audit: estimates, differences, regions, curves.

The pairs are those of an original and a changed text on which the reference is invariant.
Differences between two targets are taken on the same examples and corrected for multiple tests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.errors import ScopeError
from scope.estimation.conditions import changed_conditions, conditions_of, text_check
from scope.estimation.pairs import (
    AuditedPairs,
    ScoredCandidates,
    Values,
    are_written,
    candidate_measurements,
    invariant_pairs,
    measured,
)
from scope.estimation.regions import Further, Measured, Proposal, find_regions
from scope.metrics.agreement import accuracy_difference_values, agreement_values
from scope.metrics.catalog import METRICS, Metric, parse_metric
from scope.records import (
    ERROR,
    Curve,
    Difference,
    Estimate,
    Example,
    Measurement,
    Prediction,
    Region,
    ScoredExample,
    ScoredPerturbation,
    Undefined,
    unit_of,
)
from scope.records.text_parts import parts_of
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import (
    absolute,
    holm,
    paired_difference,
    resamples_for,
    sign_flip_p_value,
)


class Numbers(NamedTuple):
    """Everything that is estimated in an audit, but for its regions."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]


Draw = Callable[[int, Callable[[Example], bool], int], Sequence[ScoredExample]]
"""Further texts for one region, scored by the reference, the target and the baseline if any.

It is called with the place of the target, a function that says whether a text lies in the region,
and the number of texts that confirm the region.
"""


def measure(
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    candidates: ScoredCandidates | None = None,
    *,
    capabilities: Sequence[str],
    targets: Sequence[str],
    reference: str = "",
    baseline: str | None = None,
    labels: Sequence[str],
    soft_scope: Metric,
    more: Sequence[Metric] = (),
    seed: int,
) -> Numbers:
    """Estimate every metric of every target: over all examples, in parts, and along the cutoff.

    Parameters
    ----------
    examples, perturbations
        Scored by the reference and, in their order, by the ``targets``.
    candidates
        Random candidates; None in an audit without.
    capabilities
        Those that were measured.
    reference
        The name of the reference, whose base rate is measured, too.
    baseline
        The name of the target that the others are compared with, if there is one.
    labels
        The reference's label names, in the order of the probabilities.
    soft_scope
        Soft-SCoPE with its tolerance and cutoff.
    more
        Further metrics on pairs.
    seed
        Of the permutations behind the p-values.
    """
    metrics = (*metrics_of_kept_pairs(soft_scope), *more)
    all_pairs = [invariant_pairs(name, examples, perturbations) for name in capabilities]
    whole = list(clean_measurements(examples, targets, labels))
    texts = (scored.example for scored in examples)
    gold = {text.id: labels.index(text.label) for text in texts if text.label in labels}
    if written := are_written(examples):
        # Right answers in words have no number: answers hold how right they are.
        gold = {each.example.id: 0 for each in examples if each.example.gold}
    for pairs in all_pairs:
        whole += pair_measurements(pairs, metrics, targets)
        if candidates is not None:
            names = (reference, *targets)
            whole += candidate_measurements(pairs, examples, candidates, names, gold)
    parts = [
        part for pairs in all_pairs for part in more_similar_half(pairs, metrics[1:3], targets)
    ]
    # Hard- and Flip-SCoPE on the trials that informedness takes are parts as well.
    matched = [measurement for measurement in whole if measurement.subset is not None]
    whole = [measurement for measurement in whole if measurement.subset is None]
    return Numbers(
        measurements=(*whole, *matched, *parts),
        differences=(
            *target_differences(whole, targets, seed),
            *between_capabilities(whole, targets, (reference, baseline), seed),
        ),
        curves=tuple(
            curve
            for pairs in all_pairs
            if not written
            for curve in soft_scope_curves(pairs, soft_scope, targets)
        ),
    )


def regions_of(
    examples: Sequence[ScoredExample],
    candidates: Sequence[ScoredPerturbation],
    *,
    reference: str,
    targets: Sequence[str],
    baseline: str | None,
    labels: Sequence[str],
    margin: float,
    error: float = ERROR,
    seed: int,
    draw: Draw | None = None,
) -> tuple[Region, ...]:
    """Where each target but the baseline differs from the reference: texts, and random changes.

    Regions of unchanged texts and of random changes have half of the error each. The texts of which
    the reference is unsure are a region only with a baseline; without one, texts of which it is
    equally sure are compared.

    Parameters
    ----------
    examples, candidates
        Scored by the reference and, in their order, by the ``targets``.
    baseline
        The name of the target that the others are compared with, if there is one.
    labels
        The reference's label names; language models have none.
    margin, error
        By how much a region differs beyond the baseline, and beyond other texts; and how often one
        end of an interval of a target's regions may be wrong.
    seed
        Of the halves that propose and confirm.
    draw
        Further texts, which take part in the confirmation of one region of unchanged texts each.
    """
    if not examples:
        return ()
    conditions = conditions_of(
        [" ".join(parts_of(scored.example.text)) for scored in examples],
        dict(_named(examples, reference, labels, with_doubt=baseline is not None)),
        seed=seed,
    )
    rows = {scored.example.id: place for place, scored in enumerate(examples)}
    changed = [each for each in candidates if each.targets and each.perturbation.example_id in rows]
    before = [rows[each.perturbation.example_id] for each in changed]
    of_changes = changed_conditions(
        conditions,
        before,
        [
            (examples[row].example.text, each.perturbation.text or "")
            for row, each in zip(before, changed, strict=True)
        ],
        [each.capability for each in changed],
    )
    sure = _confidence(examples)
    families = (
        ([*rows], conditions, sure, partial(_differences, examples, labels), draw),
        (
            [each.perturbation.example_id for each in changed],
            of_changes,
            None if sure is None else sure[before],
            partial(_kept_otherwise, examples, changed, before),
            None,
        ),
    )
    place_of_baseline = targets.index(baseline) if baseline is not None else None
    return tuple(
        region
        for place, target in enumerate(targets)
        if target != baseline
        for ids, known, confidence, measures, more in families
        for region in find_regions(
            target,
            ids,
            known,
            [Measured(name, *rows) for name, rows in measures(place, place_of_baseline)],
            confidence=confidence,
            margin=margin,
            error=error / (2 if changed else 1),
            seed=seed,
            further=more and partial(_further, more, labels, place, baseline is not None),
        )
    )


def _further(
    draw: Draw,
    labels: Sequence[str],
    target: int,
    with_baseline: bool,
    proposal: Proposal,
    confirming: int,
) -> Further:
    """Further texts of a region, and how far the models differ there."""
    checks = {name: text_check(name) for name in proposal.names}
    every = any if proposal.joined_by == "or" else all

    def lies_in(example: Example) -> bool:
        text, columns = " ".join(parts_of(example.text)), [*map(_of_column, example.slices)]
        return every(check(text) if check else name in columns for name, check in checks.items())

    scored = draw(target, lies_in, confirming)
    differ = dict(_differences(scored, labels, 0, 1 if with_baseline else None))
    sampled = [values for values in proposal.measured[1:] if values is not None]
    measure = proposal.measured.measure
    measured = Measured(measure, *map(np.append, sampled, differ[measure]))
    sure = [max(each.reference.probabilities, default=0.0) for each in scored]
    return Further([each.example.id for each in scored], measured, sure)


def _of_column(part: str) -> str:
    """The condition that a value of a column is, such as ``of year 2020`` of ``year: 2020``."""
    return f"of {part.replace(': ', ' ', 1)}"


def _confidence(examples: Sequence[ScoredExample]) -> Values | None:
    """The reference's probability of each answer; None if it cannot score what it writes."""
    answers = [each.reference for each in examples]
    if any(answer.reply and answer.support is None for answer in answers):
        return None
    return np.array([max(answer.probabilities, default=0.0) for answer in answers])


def _named(
    examples: Sequence[ScoredExample], reference: str, labels: Sequence[str], *, with_doubt: bool
) -> Iterator[tuple[str, list[str | None]]]:
    """The conditions that rest on columns of the data and on the reference's answer."""
    columns = {part.partition(": ")[0] for each in examples for part in each.example.slices}
    for column in sorted(columns):
        values = (
            [part for part in each.example.slices if part.startswith(f"{column}: ")]
            for each in examples
        )
        yield column, [_of_column(part[0]) if part else None for part in values]
    if not any(each.reference.tokens for each in examples):
        yield "label", [f"that {reference} labels {labels[e.reference.label]}" for e in examples]
    sure = _confidence(examples)
    if with_doubt and sure is not None:
        doubt = f"of which {reference} is unsure (at most 0.75)"
        yield "confidence", [doubt if value <= 0.75 else None for value in sure]


def _differences(
    examples: Sequence[ScoredExample], labels: Sequence[str], *places: int | None
) -> Iterator[tuple[str, list[Values]]]:
    """By text, how far targets differ from the reference: in answers, accuracy and confidence.

    In accuracy only where each text has a right answer.
    """
    models = [place for place in places if place is not None]
    yield "answers", [_values(examples, place, _answered_otherwise) for place in models]
    if all(each.example.gold or each.example.label in labels for each in examples):
        right = partial(_less_right, labels)
        yield "accuracy", [_values(examples, place, right) for place in models]
    if not any(each.reference.tokens for each in examples):
        yield "confidence", [_values(examples, place, _moved) for place in models]


def _values(
    examples: Sequence[ScoredExample],
    place: int,
    differ: Callable[[ScoredExample, Prediction], float],
) -> Values:
    return np.array([differ(each, each.targets[place]) for each in examples])


def _answered_otherwise(scored: ScoredExample, answer: Prediction) -> float:
    return float(answer.choice != scored.reference.choice)


def _less_right(labels: Sequence[str], scored: ScoredExample, answer: Prediction) -> float:
    """How much less right an answer is than the reference's."""
    if scored.example.gold:
        return (scored.reference.score or 0.0) - (answer.score or 0.0)
    gold = labels.index(str(scored.example.label))
    return float(scored.reference.choice == gold) - float(answer.choice == gold)


def _moved(scored: ScoredExample, answer: Prediction) -> float:
    """Half the L1 distance of two predictions; 1 where one is missing."""
    if not (answer.given and scored.reference.given):
        return 1.0
    both = zip(scored.reference.probabilities, answer.probabilities, strict=True)
    return 0.5 * sum(abs(first - second) for first, second in both)


def _kept_otherwise(
    examples: Sequence[ScoredExample],
    changed: Sequence[ScoredPerturbation],
    before: Sequence[int],
    *places: int | None,
) -> Iterator[tuple[str, list[Values]]]:
    """For each random change, whether only one of target and reference keeps its answer."""

    def kept(row: int, each: ScoredPerturbation, place: int | None) -> bool:
        first, last = examples[row].reference, each.reference
        if place is not None:
            first, last = examples[row].targets[place], each.targets[place]
        return last is not None and first.choice == last.choice

    both = list(zip(before, changed, strict=True))
    yield (
        "changes",
        [
            np.array([float(kept(*pair, place) != kept(*pair, None)) for pair in both])
            for place in places
            if place is not None
        ],
    )


RESAMPLES = 9999
MINUS = " minus "
"""Stands between the two capabilities in the name of their difference."""


def between_capabilities(
    measurements: Sequence[Measurement],
    targets: Sequence[str],
    others: tuple[str, str | None],
    seed: int,
) -> tuple[Difference, ...]:
    """Concordance on one capability minus that on another, of a target minus another model's.

    For the reference it is 0: it follows itself everywhere. The interval is a bootstrap over all
    texts or clusters that gives each a random weight, the same for both capabilities and models.
    Two made-up texts, on each of which the target follows one of the capabilities alone, leave it a
    width where no text differs. With k pairs of capabilities, each interval has level 1 - .05 / k.

    Parameters
    ----------
    measurements
        Those of concordance count, where they have values.
    targets
        Their names, the baseline's among them.
    others
        The reference, and the baseline if there is one.
    seed
        Of the weights.
    """
    rows = {
        (measurement.target, str(measurement.capability)): measurement
        for measurement in measurements
        if measurement.metric == "concordance" and measurement.values
    }
    texts = {key for row in rows.values() for key in row.example_ids}
    units = sorted(set(map(unit_of, texts)))
    weights = np.random.default_rng(seed).standard_exponential((RESAMPLES + 1, len(units) + 2))
    # The first row holds the texts as they are; those made up are a cluster of the mean size each.
    weights[0] = [1.0] * len(units) + [0.0] * 2
    weights[:, -2:] *= len(texts) / max(len(units), 1)
    sums = {}
    for key, row in rows.items():
        selected = weights[:, np.searchsorted(units, [*map(unit_of, row.example_ids)])]
        sums[key] = selected @ np.array(row.values), selected.sum(axis=1)
    pairs = list(combinations(dict.fromkeys(capability for _, capability in rows), 2))
    differences = []
    for target, pair, other in product(targets, pairs, filter(None, others)):
        models = (target,) if other == others[0] else (target, other)
        if target == other or not set(product(models, pair)) <= rows.keys():
            continue
        resampled = _difference([sums[target, part] for part in pair], weights[:, -2:])
        if other in models:
            resampled -= _difference([sums[other, part] for part in pair], 0 * weights[:, -2:])
        ids = {key for part in pair for key in rows[target, part].example_ids}
        differences.append(
            Difference(
                metric="concordance",
                capability=MINUS.join(pair),
                first=target,
                second=other,
                estimate=_estimate(resampled, len(ids), 1 - 0.05 / len(pairs)),
            )
        )
    return tuple(differences)


def _difference(sums: Sequence[tuple[Values, Values]], made_up: Values) -> Values:
    """First minus second in each resample; of two made-up texts each has one of them."""
    first, second = (
        (weighed + made_up[:, place]) / (total + made_up.sum(axis=1))
        for place, (weighed, total) in enumerate(sums)
    )
    return np.asarray(first - second)


def _estimate(resampled: Values, n: int, level: float) -> Estimate:
    """The first value, with the quantiles of the others."""
    value, tail = float(resampled[0]), (1 - level) / 2
    low, high = np.quantile(resampled[1:], [tail, 1 - tail]).tolist()
    # The made-up texts draw the interval towards 0, and the value must stay inside.
    low, high = min(low, value), max(high, value)
    return Estimate(value=value, low=low, high=high, n=n, level=level, method="bootstrap of texts")


PRIMARY = ("iid_agreement", "concordance", "hard_scope")
"""The metrics of tests: agreement on unchanged texts, and on a capability the first of the others
that has values."""

PRIMARY_ON_CAPABILITIES = PRIMARY[1:]

CUTOFFS = tuple(round(0.1 * step, 1) for step in range(1, 21))
"""The cutoffs of the curve of Soft-SCoPE; L1 distances of two changes reach at most 4."""

NOTHING_INVARIANT = "the reference keeps its answer on no pair"
MORE_SIMILAR = "more similar half"
"""The part of the kept pairs whose changed texts are at least as similar as the median."""

NO_HALF = "no pair is less similar than the median"
OF_TOKENS = "models are compared by their next token, which has no gold label"
_NO_LABELS = "no text of this run has a known right answer"


def metrics_of_kept_pairs(soft_scope: Metric) -> tuple[Metric, ...]:
    """The metrics on kept pairs that every audit has."""
    return (METRICS["ood_agreement"], METRICS["hard_scope"], soft_scope)


def clean_measurements(
    examples: Sequence[ScoredExample], targets: Sequence[str], labels: Sequence[str]
) -> Iterator[Measurement]:
    """IID agreement and the gap in IID accuracy of each target.

    Tokens are not ``labels``: the predictions of language models are compared, and have no gold.
    """
    ids = [scored.example.id for scored in examples]
    # Labels are numbered; tokens are numbered by first occurrence.
    numbers: dict[int | str | float, int] = {index: index for index in range(len(labels))}
    reference = [numbers.setdefault(example.reference.choice, len(numbers)) for example in examples]
    gold = {label: index for index, label in enumerate(labels)}
    labelled = [index for index, scored in enumerate(examples) if scored.example.label in gold]
    gold_labels = [gold[examples[index].example.label or ""] for index in labelled]
    labelled_ids = [ids[index] for index in labelled]
    for position, name in enumerate(targets):
        predicted = [
            numbers.setdefault(example.targets[position].choice, len(numbers))
            for example in examples
        ]
        agreement = agreement_values(reference, predicted)
        estimate = mean_estimate(agreement, ids, empty="there is no example")
        yield measured(METRICS["iid_agreement"], name, estimate, ids, agreement)
        gaps = accuracy_difference_values(
            [reference[index] for index in labelled],
            [predicted[index] for index in labelled],
            gold_labels,
        )
        if are_written(examples):
            labelled_ids, gaps = _score_gaps(examples, position)
        empty = _NO_LABELS if labels or are_written(examples) else OF_TOKENS
        gap = paired_difference(gaps, np.zeros_like(gaps), labelled_ids, empty=empty)
        yield measured(METRICS["iid_accuracy_gap"], name, absolute(gap), labelled_ids, gaps)


def _score_gaps(examples: Sequence[ScoredExample], target: int) -> tuple[list[str], Values]:
    """How much more right a target's written answers are, of the texts with a right answer."""
    known = [scored for scored in examples if scored.example.gold]
    scores = [
        [answer.score or 0.0 for answer in (scored.targets[target], scored.reference)]
        for scored in known
    ]
    values = np.array(scores, dtype=float).reshape(-1, 2)
    return [scored.example.id for scored in known], values[:, 0] - values[:, 1]


def pair_measurements(
    pairs: AuditedPairs, metrics: Sequence[Metric], targets: Sequence[str]
) -> Iterator[Measurement]:
    """Each metric of each target over all texts with kept pairs."""
    capability = pairs.capability
    for position, name in enumerate(targets):
        for metric in metrics:
            try:
                values, ids = pairs.by_text(metric, position)
            except ScopeError as error:
                # A plugin's metric costs no other number.
                reason = Undefined(reason=error.found)
                yield measured(metric, name, reason, capability=capability)
                continue
            estimate = mean_estimate(
                values, ids, low=metric.low, high=metric.high, empty=NOTHING_INVARIANT
            )
            yield measured(metric, name, estimate, ids, values, capability=capability)


def more_similar_half(
    pairs: AuditedPairs, metrics: Sequence[Metric], targets: Sequence[str]
) -> Iterator[Measurement]:
    """Each metric over the pairs of at least the median similarity.

    Pairs without a similarity are ignored; without any, nothing is yielded. Undefined if no pair is
    below the median: for one pair, and for equal similarities.
    """
    known = pairs.similarities[~np.isnan(pairs.similarities)]
    if not len(known):
        return
    middle = np.median(known)
    chosen = np.flatnonzero(pairs.similarities >= middle)
    for position, name in enumerate(targets):
        for metric in metrics:
            values, ids = pairs.by_text(metric, position, chosen)
            estimate = mean_estimate(values, ids, low=metric.low, high=metric.high)
            if not (known < middle).any():
                estimate = Undefined(reason=NO_HALF)
            half = measured(metric, name, estimate, capability=pairs.capability)
            yield replace(half, subset=MORE_SIMILAR)


def soft_scope_curves(
    pairs: AuditedPairs, metric: Metric, targets: Sequence[str]
) -> Iterator[Curve]:
    """Soft-SCoPE of each target along its cutoff, from the tolerance on."""
    chosen = metric.parameters["cutoff"]
    cutoffs = sorted({chosen, *(c for c in CUTOFFS if c >= metric.parameters["tolerance"])})
    for position, name in enumerate(targets):
        estimates = (
            mean_estimate(*pairs.by_text(metric.at(cutoff=cutoff), position)) for cutoff in cutoffs
        )
        points = tuple(
            (cutoff, estimate)
            for cutoff, estimate in zip(cutoffs, estimates, strict=True)
            if isinstance(estimate, Estimate)
        )
        if points:
            yield Curve(
                metric=str(metric),
                parameter="cutoff",
                target=name,
                capability=pairs.capability,
                points=points,
            )


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with Holm-corrected p-values; those without one are unchanged."""
    tested = [row.p_value for row in differences if row.p_value is not None]
    adjusted = iter(holm(tested))
    return tuple(
        row if row.p_value is None else replace(row, p_adjusted=next(adjusted))
        for row in differences
    )


def target_differences(
    measurements: Sequence[Measurement], targets: Sequence[str], seed: int
) -> tuple[Difference, ...]:
    """First target minus second, metric by metric on the same examples; see `tested_differences`.

    The gap in accuracy is left out: the difference of two absolute values is not a mean. So are
    reach, which has no range, and base rate and excess, which are no claims on likeness.
    """
    left_out = ("iid_accuracy_gap", "reach", "base_rate", "excess", "changed_accuracy")
    untested = {str(METRICS[key]) for key in left_out}
    kept = [measurement for measurement in measurements if measurement.metric not in untested]
    by_key = {(row.target, row.capability, row.metric): row for row in kept}
    keys = dict.fromkeys((row.capability, row.metric) for row in kept)
    pairs = [
        (by_key[first, *key], by_key[second, *key])
        for key in keys
        for first, second in combinations(targets, 2)
    ]
    rows = [
        Compared(
            first,
            second,
            (first.values, second.values, first.example_ids),
            first.estimate.reason if isinstance(first.estimate, Undefined) else "",
        )
        for first, second in pairs
        # A metric that fails on one target has no values there.
        if first.example_ids == second.example_ids
    ]
    return tested_differences(rows, seed)


class Compared(NamedTuple):
    """Two measurements on the same examples.

    ``both`` has the values of the first and the second, and the example of each. ``empty`` is the
    reason where there are none.
    """

    first: Measurement
    second: Measurement
    both: tuple[ArrayLike, ArrayLike, Sequence[str]]
    empty: str


def tested_differences(rows: Sequence[Compared], seed: int) -> tuple[Difference, ...]:
    """First minus second; one metric a capability and pair of targets is tested, Holm-corrected.

    It is the first of `PRIMARY` that has values. The others describe and have no p-value. The
    number of tests decides that of the resamples: see `resamples_for`.
    """
    keyed = [((a.capability, a.target, b.target), a.metric, both[2]) for a, b, both, _ in rows]
    tested = primary(keyed)
    resamples = dict.fromkeys(tested, resamples_for(len(tested)))
    return corrected(
        [
            difference(
                *row[:3],
                seed,
                empty=row.empty,
                width=metric_width(row.first.metric),
                resamples=resamples.get(place),
            )
            for place, row in enumerate(rows)
        ]
    )


def primary(rows: Sequence[tuple[Hashable, str, Sequence[object]]]) -> list[int]:
    """The places of the rows to test: of each key the first metric of `PRIMARY` with values."""
    tested: dict[Hashable, int] = {}
    for wanted in PRIMARY:
        for place, (key, metric, values) in enumerate(rows):
            if metric == wanted and values:
                tested.setdefault(key, place)
    return list(tested.values())


def difference(
    first: Measurement,
    second: Measurement,
    both: tuple[ArrayLike, ArrayLike, Sequence[str]],
    seed: int,
    *,
    empty: str,
    width: float = 1.0,
    resamples: int | None = 9999,
) -> Difference:
    """First measurement minus second, tested paired; not corrected for other tests.

    ``both`` and ``empty`` are as for `Compared`; ``width`` is that of the metric's range. Without
    ``resamples`` there is no p-value.
    """
    estimate = paired_difference(*both, width=width, empty=empty)
    p_value = None
    if resamples and isinstance(estimate, Estimate):
        generator = np.random.default_rng(seed)
        p_value = sign_flip_p_value(*both, generator, width=width, resamples=resamples)
    return Difference(
        metric=first.metric,
        capability=first.capability,
        first=first.target,
        second=second.target,
        estimate=estimate,
        p_value=p_value,
    )


def metric_width(spelling: str) -> float:
    """The width of a metric's range: no two values of it are further apart."""
    metric = parse_metric(spelling)
    return metric.high - metric.low
