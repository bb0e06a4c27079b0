"""Numbers over several models at once: audits in every direction, and labels of each two models.

Numbers are gathered by the names of models, in sorted order, so that the order in which references
are given plays no part in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

from scope.estimation.audits import PRIMARY_ON_CAPABILITIES, Compared, tested_differences
from scope.metrics.catalog import METRICS, parse_metric
from scope.metrics.invariance import in_both
from scope.records import (
    Answer,
    AuditMatrix,
    AuditResult,
    Correlation,
    Estimate,
    GroupEstimate,
    Item,
    Measurement,
    Question,
    TaskAnswers,
    Undefined,
)
from scope.statistics.between_models import correlation_estimate, mean_over_models

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
                for first, second in _both_ways(rows)
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


def _both_ways(rows: Rows) -> list[tuple[str, str]]:
    """The pairs of models that are compared in both directions."""
    names = sorted({name for pair in rows for name in pair})
    pairs = combinations(names, 2)
    return [(a, b) for a, b in pairs if (a, b) in rows and (b, a) in rows]


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
    from scope.estimation.choices import ChoiceTable, choice_pair_measurements

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
