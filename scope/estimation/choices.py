"""The numbers of several models at once, on a task with options and in audits in every direction.

`ChoiceTable` holds every model's choices and probabilities, one row a model, one column an item.
Each two models on one task: who is more like whom, and which questions both answer correctly.

A ~ B against A ~ C is tested by discrete CAPA where answers are choices, since the more accurate of
B and C agrees more with any good model, and by word F1 where they are texts. Whether A is more like
B than like the truth is tested by agreement, or word F1. Each item is a unit: of CAPA, its value
and its influence.

Numbers of audits are gathered by the names of models, in sorted order, so that the order in which
references are given plays no part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, compress, permutations
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scope.estimation.audits import PRIMARY_ON_CAPABILITIES, Compared, tested_differences
from scope.estimation.pairs import measured
from scope.metrics.agreement import (
    ChanceCorrected,
    agreement_values,
    capa,
    capa_discrete,
    cohen_kappa,
    error_consistency,
    js_divergence_values,
)
from scope.metrics.arrays import NO_ANSWER
from scope.metrics.catalog import METRICS, parse_metric
from scope.metrics.invariance import in_both
from scope.records import (
    GOLD,
    Answer,
    AuditMatrix,
    AuditResult,
    Correlation,
    Difference,
    Estimate,
    FourCells,
    GroupEstimate,
    Item,
    Measurement,
    Question,
    TaskAnswers,
    Undefined,
    are_clustered,
)
from scope.statistics.between_models import correlation_estimate, mean_over_models
from scope.statistics.intervals import chance_corrected_estimate, mean_estimate
from scope.statistics.paired import (
    detectable_difference,
    mcnemar_p_value,
    paired_difference,
    paired_p_values,
    recovery,
    sum_estimate,
)

NOTHING = NO_ANSWER
"""Stands where no option was chosen, and where the right one is not known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceTable:
    """The answers to a task with options.

    ``options`` and ``right`` have shape (items,), ``choices`` and ``asked`` (models, items), and
    ``probabilities`` (models, items, most options), with 0 behind an item's last option and in
    rows that a model did not give; ``has_probabilities`` says which are given.
    """

    task: str
    item_ids: tuple[str, ...]
    categories: tuple[str | None, ...]
    options: NDArray[np.intp]
    right: NDArray[np.intp]
    choices: NDArray[np.intp]
    asked: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    has_probabilities: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: TaskAnswers) -> ChoiceTable:
        """Gather the answers; each choice is one of the options."""
        items, models = answers.items, len(answers.answers)
        options = np.array([len(item.question.options) for item in items], dtype=np.intp)
        right = [NOTHING if item.right is None else item.right for item in items]
        table = cls(
            task=answers.task,
            item_ids=tuple(item.question.id for item in items),
            categories=tuple(item.category for item in items),
            options=options,
            right=np.array(right, dtype=np.intp),
            choices=np.full((models, len(items)), NOTHING, dtype=np.intp),
            asked=np.zeros((models, len(items)), dtype=np.bool_),
            probabilities=np.zeros((models, len(items), int(options.max(initial=0)))),
            has_probabilities=np.zeros((models, len(items)), dtype=np.bool_),
        )
        for model, row in enumerate(answers.answers):
            for item, answer in enumerate(row):
                table.asked[model, item] = answer.asked
                if answer.choice is not None:
                    shares = answer.probabilities
                    table.choices[model, item] = answer.choice
                    table.probabilities[model, item, : len(shares)] = shares
                    table.has_probabilities[model, item] = bool(shares)
        return table

    def ids(self, items: NDArray[np.bool_]) -> tuple[str, ...]:
        """The names of the marked items."""
        return tuple(compress(self.item_ids, items))


MOST_CATEGORIES = 60
"""More parts than this are ids rather than categories."""

NO_RIGHT_OPTION = "no item has a known right option"
NONE_TO_BOTH = "no item was put to both models"
_NONE_WITH_PROBABILITIES = "no item has probabilities of both models"
_NO_ROOM = "chance alone would make both agree everywhere"


def accuracy_measurements(table: ChoiceTable, models: Sequence[str]) -> list[Measurement]:
    """Each model's accuracy over the items whose right option is known, with its values."""
    known = table.right != NOTHING
    return [
        _accuracy(table, row, name, np.flatnonzero(known & table.asked[row]))
        for row, name in enumerate(models)
    ]


def category_measurements(table: ChoiceTable, models: Sequence[str]) -> Iterator[Measurement]:
    """Each model's accuracy by category, where there are some and not too many."""
    names = sorted({category for category in table.categories if category is not None})
    if not 2 <= len(names) <= MOST_CATEGORIES:
        return
    of_item = np.array([category or "" for category in table.categories])
    named = np.array([category is not None for category in table.categories])
    for row, model in enumerate(models):
        for name in names:
            here = named & (of_item == name)
            chosen = np.flatnonzero(here & (table.right != NOTHING) & table.asked[row])
            if len(chosen):
                measured = _accuracy(table, row, model, chosen)
                yield replace(without_values(measured), subset=f"category = {name}")


def choice_pair_measurements(table: ChoiceTable, models: Sequence[str]) -> Iterator[Measurement]:
    """What each two models share, on the items that were put to both."""
    for (first, target), (second, against) in combinations(enumerate(models), 2):
        estimates = _pair_estimates(table, [first, second], models)
        for key, estimate in estimates.items():
            yield measured(METRICS[key], target, estimate, against=against, capability=table.task)
    # How far CAPA can reach: of a model that is unsure it is below 1 even with itself.
    for row, name in enumerate(models):
        if table.has_probabilities[row].any():
            itself = _pair_estimates(table, [row, row], models)["capa"]
            yield measured(METRICS["capa"], name, itself, against=name, capability=table.task)


def without_values(measurement: Measurement) -> Measurement:
    """The measurement alone: its values can be read off the answers."""
    return replace(measurement, example_ids=(), values=())


def _accuracy(table: ChoiceTable, row: int, model: str, items: NDArray[np.intp]) -> Measurement:
    values = (table.choices[row, items] == table.right[items]).astype(np.float64)
    ids = tuple(table.item_ids[item] for item in items)
    estimate = mean_estimate(values, ids, empty=NO_RIGHT_OPTION)
    metric = METRICS["accuracy"]
    return measured(metric, model, estimate, ids, values, against=GOLD, capability=table.task)


def _pair_estimates(
    table: ChoiceTable, rows: Sequence[int], models: Sequence[str]
) -> dict[str, Estimate | Undefined]:
    """Every metric of two models by key, on the items that were put to both.

    An answer that was not given counts with agreement 0 and divergence 1; one that was given
    without probabilities leaves its item out of CAPA and of the divergence.
    """
    of_first, of_second = table.asked[rows]
    both = of_first & of_second
    known = both & (table.right != NOTHING)
    of_first, of_second = table.has_probabilities[rows] | (table.choices[rows] == NOTHING)
    probable = both & of_first & of_second
    missing = Undefined(reason=NONE_TO_BOTH) if not both.any() else None
    for row in rows:
        if not missing and not table.has_probabilities[row].any():
            missing = Undefined(reason=f"{models[row]} gives no probabilities")

    def corrected(
        index: ChanceCorrected, items: NDArray[np.bool_], empty: str = NONE_TO_BOTH
    ) -> Estimate | Undefined:
        return chance_corrected_estimate(
            index.observed,
            index.expected,
            index.influence,
            index.made_up,
            table.ids(items),
            empty=empty if known.any() or not both.any() else NO_RIGHT_OPTION,
            no_room=_NO_ROOM,
        )

    def of_two(values: NDArray[Any], items: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        first, second = values[rows][:, items]
        return first, second

    right, options = table.right, table.options
    scored = known & probable
    divergences = js_divergence_values(*of_two(table.probabilities, probable), options[probable])
    chances = of_two(table.probabilities, scored)
    choices, of_known = of_two(table.choices, both), of_two(table.choices, known)
    return {
        "agreement": mean_estimate(agreement_values(*choices), table.ids(both), empty=NONE_TO_BOTH),
        "cohen_kappa": corrected(cohen_kappa(*choices), both),
        "capa": missing
        or corrected(
            capa(*chances, right[scored], options[scored]), scored, _NONE_WITH_PROBABILITIES
        ),
        "capa_discrete": corrected(capa_discrete(*of_known, right[known], options[known]), known),
        "error_consistency": corrected(error_consistency(*of_known, right[known]), known),
        "js_divergence": missing
        or mean_estimate(divergences, table.ids(probable), empty=_NONE_WITH_PROBABILITIES),
    }


MOST_MODELS = 6
"""With more models there are too many triples: 60 tests of 6, 105 of 7."""

Model = TypeVar("Model", int, str)


def choice_likeness(table: ChoiceTable, models: Mapping[int, str], seed: int) -> list[Difference]:
    """The tests between models whose answers are choices; ``models`` are names by row."""
    known, asked = table.right != NOTHING, table.asked
    tests = []
    for first, second, third in _triples(list(models)):
        items = known & asked[first] & asked[second] & asked[third]
        right, options = table.right[items], table.options[items]
        both = [
            capa_discrete(table.choices[first, items], table.choices[other, items], right, options)
            for other in (second, third)
        ]
        with_second, with_third = (each.value for each in both)
        if with_second is not None and with_third is not None:
            moves = with_second + both[0].influence - with_third - both[1].influence
            names = _pair(models[first], models[second]), _pair(models[first], models[third])
            tests.append(_tested("capa_discrete", table.task, names, moves, seed))
    for first, second in permutations(models, 2):
        items = known & asked[first] & asked[second]
        chosen, others = table.choices[first, items], table.choices[second, items]
        moves = agreement_values(chosen, others) - (chosen == table.right[items])
        names = _pair(models[first], models[second]), _pair(models[first], GOLD)
        tests += [_tested("agreement", table.task, names, moves, seed)] if len(moves) else []
    return tests


def text_likeness(
    measured: Sequence[Measurement], task: str, models: Mapping[int, str], seed: int
) -> list[Difference]:
    """The tests between models whose answers are texts, from the values of word F1."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in measured:
        if row.metric == "word_f1" and row.against is not None:
            by_item = dict(zip(row.example_ids, row.values, strict=True))
            values[row.target, row.against] = values[row.against, row.target] = by_item
    compared = [((a, b), (a, c)) for a, b, c in _triples(list(models.values()))]
    compared += [((a, b), (a, GOLD)) for a, b in permutations(models.values(), 2)]
    tests = []
    for pair, other in compared:
        first, second, shared = in_both(values[pair], values[other])
        moves = np.subtract(first, second)
        names = _pair(*pair), _pair(*other)
        tests += [_tested("word_f1", task, names, moves, seed)] if shared else []
    return tests


def _triples(models: Sequence[Model]) -> Iterator[tuple[Model, Model, Model]]:
    """Each model with each two others."""
    for first in models:
        for second, third in combinations([model for model in models if model != first], 2):
            yield first, second, third


def _pair(first: str, second: str) -> str:
    return f"{first} ~ {'gold' if second == GOLD else second}"


def _tested(
    metric: str, task: str, names: tuple[str, str], moves: NDArray[np.float64], seed: int
) -> Difference:
    """The mean over the items, tested by random signs."""
    p_values = paired_p_values(moves, np.random.default_rng(seed))
    return Difference(
        metric=str(METRICS[metric]),
        capability=task,
        first=names[0],
        second=names[1],
        estimate=sum_estimate(moves / len(moves)),
        p_value=min(1.0, 2 * min(p_values)),
    )


RIGHT = ("accuracy", "exact_match")
"""The metrics whose values say whether an answer is right: one a task."""


def four_cells(
    against_gold: Sequence[Measurement], differing: Callable[[str, str], Collection[str]]
) -> Iterator[FourCells]:
    """The cells of each two models, from the values of each against the right answers.

    A model with scores between 0 and 1 has none: its answers are neither right nor wrong.
    ``differing`` gives the items to which two models give different answers, by their names.
    """
    measured = [
        row for row in against_gold if row.metric in RIGHT and {0.0, 1.0}.issuperset(row.values)
    ]
    for first, second in combinations(measured, 2):
        of_first = dict(zip(first.example_ids, first.values, strict=True))
        of_second = dict(zip(second.example_ids, second.values, strict=True))
        *both, ids = in_both(of_first, of_second)
        before, after = map(np.array, both)
        if ids:
            names = first.target, second.target
            differ = differing(*names)
            apart = np.array([item in differ for item in ids])
            flips = _share(abs(before - after), ids)
            alone = not are_clustered(ids)
            both, lost, gained = before * after, before * (1 - after), (1 - before) * after
            n_both, n_lost, n_gained = (round(float(part.sum())) for part in (both, lost, gained))
            neither = (1 - before) * (1 - after)
            yield FourCells(
                task=first.capability or "",
                first=first.target,
                second=second.target,
                both=_share(both, ids),
                only_first=_share(lost, ids),
                only_second=_share(gained, ids),
                neither=_share(neither, ids),
                difference=cast(Estimate, paired_difference(before, after, ids)),
                flips=flips,
                other_wrong=_share(neither * apart, ids),
                # What the counts show of a replacement of the first model by the second; counts
                # know of no clusters.
                recovery=recovery(n_both, n_lost, n_gained, len(ids)) if alone else None,
                p_value=mcnemar_p_value(n_gained, n_lost) if alone else None,
                detectable=detectable_difference(flips) if alone else None,
            )


def _share(values: NDArray[np.float64], ids: Sequence[str]) -> Estimate:
    return cast(Estimate, mean_estimate(values, ids))


CORRELATED = ("hard_scope", "soft_scope", "concordance")
WITH = ("ood_agreement", "iid_accuracy_gap")
"""The metrics of the paper's table of correlations, and concordance."""

NOT_AVERAGED = ("iid_accuracy_gap", "reach", "flip_scope", "informedness")
"""No mean within a range, or not over the same texts for all members of a group."""

_NOTHING_SHARED = "no example has pairs in both directions"

Rows = Mapping[tuple[str, str], Measurement]
"""One metric on one capability, by reference and target."""


def measure_matrix(
    measurements: Sequence[Measurement],
    groups: Mapping[str, Sequence[str]],
    degenerate: Mapping[str, str] = MappingProxyType({}),
    *,
    seed: int,
) -> AuditMatrix:
    """Asymmetries, correlations and groups of audits against several references.

    Parameters
    ----------
    measurements
        Those of all audits; ``against`` names the reference.
    groups
        The names of the models of each group.
    degenerate
        Why the answers of a model are no evidence, by its name. Such a model takes no part in
        correlations, and leaves the mean of its group undefined.
    seed
        Of the permutations behind the p-values.
    """
    whole = [measurement for measurement in measurements if measurement.subset is None]
    by_metric: dict[tuple[str | None, str], dict[tuple[str, str], Measurement]] = {}
    for measurement in whole:
        rows = by_metric.setdefault((measurement.capability, measurement.metric), {})
        rows[str(measurement.against), measurement.target] = measurement
    return AuditMatrix(
        asymmetries=tested_differences(
            [
                _directions(first, second, rows)
                for (_, metric), rows in by_metric.items()
                if metric in PRIMARY_ON_CAPABILITIES
                for first, second in sorted(rows)
                if first < second and (second, first) in rows
            ],
            seed,
        ),
        correlations=tuple(_correlations(by_metric, degenerate.keys())),
        groups=tuple(
            _group(name, reference, members, rows, degenerate)
            for name, members in groups.items()
            for (_, metric), rows in by_metric.items()
            if metric not in NOT_AVERAGED
            for reference in sorted({against for against, _ in rows})
            if any((reference, member) in rows for member in members if member != reference)
        ),
    )


def _directions(first: str, second: str, rows: Rows) -> Compared:
    """SCoPE(second | first) and SCoPE(first | second), on the examples that have both."""
    forth, back = rows[first, second], rows[second, first]
    means, others = forth.by_text(), back.by_text()
    both = in_both({example: means[example] for example in sorted(means)}, others)
    undefined = (row.estimate for row in (forth, back) if isinstance(row.estimate, Undefined))
    reason = next((estimate.reason for estimate in undefined), _NOTHING_SHARED)
    return Compared(replace(forth, target=first), replace(back, target=second), both, reason)


def _correlations(
    by_metric: Mapping[tuple[str | None, str], Rows], degenerate: Set[str]
) -> Iterator[Correlation]:
    for capability, metric in by_metric:
        if capability is None or parse_metric(metric).key not in CORRELATED:
            continue
        for key in WITH:
            other = str(METRICS[key])
            rows = by_metric[capability, metric]
            others = by_metric.get((None if METRICS[key].clean else capability, other), {})
            defined = {
                pair: (first.value, second.value)
                for pair in sorted(rows.keys() & others.keys())
                if degenerate.isdisjoint(pair)
                and isinstance(first := rows[pair].estimate, Estimate)
                and isinstance(second := others[pair].estimate, Estimate)
            }
            yield Correlation(
                metric=metric,
                other=other,
                capability=capability,
                estimate=correlation_estimate(
                    [first for first, _ in defined.values()],
                    [second for _, second in defined.values()],
                    list(defined),
                ),
            )


def _group(
    name: str, reference: str, members: Sequence[str], rows: Rows, degenerate: Mapping[str, str]
) -> GroupEstimate:
    """The mean over the members; undefined where it is so for one of them, or one is degenerate."""
    others = tuple(member for member in members if member != reference)
    measurements = [rows[reference, other] for other in others if (reference, other) in rows]
    return GroupEstimate(
        group=name,
        members=others,
        against=reference,
        metric=measurements[0].metric,
        capability=measurements[0].capability,
        estimate=_mean(measurements, degenerate),
    )


def _mean(rows: Sequence[Measurement], degenerate: Mapping[str, str]) -> Estimate | Undefined:
    for row in rows:
        if row.target in degenerate:
            return Undefined(reason=f"{row.target} is degenerate: {degenerate[row.target]}")
        if isinstance(row.estimate, Undefined):
            return Undefined(reason=f"{row.target}: {row.estimate.reason}", n=row.estimate.n)
    metric = parse_metric(rows[0].metric)
    values = [row.values for row in rows]
    return mean_over_models(values, rows[0].example_ids, low=metric.low, high=metric.high)


SHOWN = ("capa_discrete", "error_consistency")
"""The metrics of a comparison of choices that have no counterpart in an audit."""


def label_similarities(audits: Sequence[AuditResult]) -> Iterator[Measurement]:
    """Both metrics of each two models, on the unchanged texts of their first audit."""
    # Here and not above: an audit needs none of the estimates of tasks.

    seen: set[frozenset[str]] = set()
    for audit in audits:
        reference = audit.manifest.reference
        roles = [card.role for card in audit.manifest.targets]
        place, labels = roles.index("target"), reference.labels
        names = (reference.name, audit.manifest.targets[place].name)
        if frozenset(names) in seen or not labels:
            continue
        seen.add(frozenset(names))
        texts = [scored.example for scored in audit.examples]
        items = tuple(
            Item(
                question=Question(id=text.id, text=text.text, options=labels),
                right=labels.index(text.label) if text.label in labels else None,
            )
            for text in texts
        )
        rows = (
            [scored.reference for scored in audit.examples],
            [scored.targets[place] for scored in audit.examples],
        )
        answers = tuple(
            tuple(Answer(choice=answer.label, probabilities=answer.probabilities) for answer in row)
            for row in rows
        )
        table = ChoiceTable.of(TaskAnswers(task="labels", items=items, answers=answers))
        for measurement in choice_pair_measurements(table, names):
            if measurement.metric in SHOWN:
                yield measurement
