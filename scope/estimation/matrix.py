"""Numbers over several models at once: audits in every direction, and labels of each two models.

Numbers are gathered by the names of models, in sorted order, so that the order in which references
are given plays no part in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

from scope.estimation.measurements import PRIMARY_ON_CAPABILITIES, Compared, tested_differences
from scope.metrics import METRICS, in_both, means_by_example, parse_metric
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
    for one in whole:
        rows = by_metric.setdefault((one.capability, one.metric), {})
        rows[str(one.against), one.target] = one
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
    return [(one, two) for one, two in pairs if (one, two) in rows and (two, one) in rows]


def _directions(first: str, second: str, rows: Rows) -> Compared:
    """SCoPE(second | first) and SCoPE(first | second), on the examples that have both."""
    forth, back = rows[first, second], rows[second, first]
    means, others = (
        dict(zip(ids, values.tolist(), strict=True))
        for values, ids in (means_by_example(one.values, one.example_ids) for one in (forth, back))
    )
    both = in_both({one: means[one] for one in sorted(means)}, others)
    undefined = (one.estimate for one in (forth, back) if isinstance(one.estimate, Undefined))
    reason = next((one.reason for one in undefined), _NOTHING_SHARED)
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
                pair: (one.value, two.value)
                for pair in sorted(rows.keys() & others.keys())
                if degenerate.isdisjoint(pair)
                and isinstance(one := rows[pair].estimate, Estimate)
                and isinstance(two := others[pair].estimate, Estimate)
            }
            yield Correlation(
                metric=metric,
                other=other,
                capability=capability,
                estimate=correlation_estimate(
                    [one for one, _ in defined.values()],
                    [two for _, two in defined.values()],
                    list(defined),
                ),
            )


def _group(
    name: str,
    reference: str,
    members: Sequence[str],
    rows: Rows,
    degenerate: Mapping[str, str],
) -> GroupEstimate:
    """The mean over the members; undefined where it is so for one of them, or one is degenerate."""
    others = tuple(member for member in members if member != reference)
    found = [rows[reference, one] for one in others if (reference, one) in rows]
    return GroupEstimate(
        group=name,
        members=others,
        against=reference,
        metric=found[0].metric,
        capability=found[0].capability,
        estimate=_mean(found, degenerate),
    )


def _mean(found: Sequence[Measurement], degenerate: Mapping[str, str]) -> Estimate | Undefined:
    for one in found:
        if one.target in degenerate:
            return Undefined(reason=f"{one.target} is degenerate: {degenerate[one.target]}")
        if isinstance(one.estimate, Undefined):
            return Undefined(reason=f"{one.target}: {one.estimate.reason}", n=one.estimate.n)
    metric = parse_metric(found[0].metric)
    values = [one.values for one in found]
    return mean_over_models(values, found[0].example_ids, low=metric.low, high=metric.high)


SHOWN = ("capa", "error_consistency")
"""The metrics of a comparison of choices that have no counterpart in an audit."""


def label_similarities(audits: Sequence[AuditResult]) -> Iterator[Measurement]:
    """Both metrics of each two models, on the unchanged texts of their first audit."""
    # Here and not above: an audit needs none of the estimates of tasks.
    from scope.estimation.tasks.choices import ChoiceTable, choice_pair_measurements

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
            tuple(Answer(choice=one.label, probabilities=one.probabilities) for one in row)
            for row in rows
        )
        table = ChoiceTable.of(TaskAnswers(task="labels", items=items, answers=answers))
        for measurement in choice_pair_measurements(table, names):
            if measurement.metric in SHOWN:
                yield measurement
