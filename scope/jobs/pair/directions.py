"""The table of both directions of two models: verdict, accuracy, agreement, capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from reports.blocks import Column, Table
from reports.prose import prose
from reports.wording import number, percent, points, range_of_counts
from scope.jobs.audit.answer import SIGNS, estimates_of_models
from scope.metrics import metric_name
from scope.records import AuditResult, Estimate, Measurement, PairResult, Undefined

Found = Estimate | Undefined | None


def direction_tables(result: PairResult) -> Iterator[Table]:
    """A table for each two models, with a column a direction."""
    together: dict[frozenset[str], list[AuditResult]] = {}
    for audit in result.audits:
        together.setdefault(frozenset((target_of(audit), reference_of(audit))), []).append(audit)
    for both, audits in together.items():
        same = [
            similarity
            for similarity in result.similarities
            if {similarity.target, similarity.against} == both
        ]
        yield _table(audits, same)


def _table(audits: Sequence[AuditResult], similarities: Sequence[Measurement]) -> Table:
    """What is measured against, then numbers with the texts that they rest on."""
    names = dict.fromkeys(card.name for audit in audits for card in audit.manifest.capabilities)
    directions = (
        prose("{target} for {reference}", target=target_of(audit), reference=reference_of(audit))
        for audit in audits
    )
    return Table.with_columns(
        (
            Column("", "name"),
            *(Column(head, "number") for head in directions),
            Column("texts", "number"),
        ),
        (
            ("verdict", *map(_verdict, audits), None),
            ("measured against", *map(_standard, audits), None),
            _row("accuracy, points", map(_accuracy, audits), points, _signs("accuracy", audits)),
            _row("same answer, %", map(same_answers, audits), percent),
            *(
                _row(metric_name(row.metric).label, [row.estimate] * len(audits), number)
                for row in similarities
            ),
            *(
                _row(
                    name := f"{metric} on {capability}",
                    map(partial(_of_target, metric, capability), audits),
                    number,
                    _signs(name, audits),
                )
                for capability in names
                for metric in ("concordance", "reach")
            ),
        ),
        close=True,
    )


def _of_target(metric: str, capability: str | None, audit: AuditResult) -> Found:
    return estimates_of_models(audit, metric, capability).get(target_of(audit))


same_answers = partial(_of_target, "iid_agreement", None)
"""How often both give the same answer to unchanged texts."""


_STATES = {"within": "✓ ", "beyond": "✗ ", "not shown": "? "}


def _signs(name: str, audits: Sequence[AuditResult]) -> Sequence[str]:
    """Of each audit whether this endpoint is within its limit; empty where it is not judged."""
    states = (
        {end.name: end.state for verdict in audit.verdicts for end in verdict.endpoints}
        for audit in audits
    )
    return [_STATES.get(of.get(name, ""), "") for of in states]


def _row(
    name: str,
    estimates: Iterable[Found],
    write: Callable[[float], str],
    signs: Sequence[str] = (),
) -> Sequence[str]:
    """A number of each direction, with the sign of its state where it is judged."""
    each = tuple(estimates)
    texts = range_of_counts(estimate for estimate in each if isinstance(estimate, Estimate))
    cells = (_in_line(estimate, write) for estimate in each)
    return (name, *map(str.__add__, signs or [""] * len(each), cells), texts)


def verdict_matrix(audits: Sequence[AuditResult]) -> Table:
    """Which model may replace which: a row a target, a column a reference."""
    decided = {(target_of(audit), reference_of(audit)): _verdict(audit) for audit in audits}
    names = list(dict.fromkeys(name for pair in decided for name in reversed(pair)))
    decided |= {(name, name): "–" for name in names}
    heads = (Column(prose("in place of {name}", name=name)) for name in names)
    return Table.with_columns(
        (Column("", "name"), *heads),
        ((one, *(decided.get((one, other), "not run") for other in names)) for one in names),
        caption=prose("Who may replace whom"),
    )


def _verdict(audit: AuditResult) -> str:
    return next(
        (f"{SIGNS[verdict.decision]} {verdict.decision}" for verdict in audit.verdicts), "none"
    )


def _standard(audit: AuditResult) -> str:
    """Whose likeness to the reference the target's is compared with."""
    baseline = audit.manifest.baseline
    return f"{reference_of(audit)} itself" if baseline is None else baseline.name


def target_of(audit: AuditResult) -> str:
    """The name of the model that is judged."""
    return next(card.name for card in audit.manifest.targets if card.role == "target")


def reference_of(audit: AuditResult) -> str:
    """The name of the model in whose place it is judged."""
    return audit.manifest.reference.name


def _accuracy(audit: AuditResult) -> Found:
    """The target's accuracy minus the reference's."""
    endpoints = (end for verdict in audit.verdicts for end in verdict.endpoints)
    return next((endpoint.estimate for endpoint in endpoints if endpoint.name == "accuracy"), None)


def _in_line(estimate: Found, write: Callable[[float], str]) -> str:
    """A number and its interval.

    Examples
    --------
    >>> _in_line(Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap"), percent)
    '50.0 [25.0, 75.0]'
    """
    if not isinstance(estimate, Estimate):
        return "not measured" if estimate is None else "undefined"
    value, low, high = map(write, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"
