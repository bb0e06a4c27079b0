"""The table of both directions of two models: verdict, accuracy, agreement, capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from reports.blocks import Column, Row, Table
from reports.prose import prose
from reports.wording import number, percent, points
from scope.jobs.audit.picture import estimates_of_models
from scope.records import AuditResult, Estimate, Undefined

Found = Estimate | Undefined | None


def direction_tables(audits: Sequence[AuditResult]) -> Iterator[Table]:
    """A table for each two models, with a column a direction."""
    together: dict[frozenset[str], list[AuditResult]] = {}
    for audit in audits:
        together.setdefault(frozenset((target_of(audit), reference_of(audit))), []).append(audit)
    for both in together.values():
        yield _table(both)


def _table(audits: Sequence[AuditResult]) -> Table:
    names = dict.fromkeys(card.name for audit in audits for card in audit.manifest.capabilities)
    rows = {
        "verdict": [next((v.decision for v in audit.verdicts), "none") for audit in audits],
        "measured against": [_standard(audit) for audit in audits],
        "accuracy, points": [_in_line(_accuracy(audit), points) for audit in audits],
        "same answer, %": [_in_line(labels_shared(audit), percent) for audit in audits],
        **{
            f"{metric} on {name}": [
                _in_line(estimates_of_models(audit, metric, name).get(target_of(audit)), number)
                for audit in audits
            ]
            for name in names
            for metric in ("concordance", "reach")
        },
    }
    directions = (
        prose("{target} for {reference}", target=target_of(audit), reference=reference_of(audit))
        for audit in audits
    )
    return Table(
        columns=(Column("", "name"), *(Column(direction, "number") for direction in directions)),
        rows=tuple(Row(cells=(name, *cells)) for name, cells in rows.items()),
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


def labels_shared(audit: AuditResult) -> Found:
    """How often both give the same answer to unchanged texts."""
    target = target_of(audit)
    return next(
        (
            one.estimate
            for one in audit.measurements
            if one.metric == "iid_agreement" and one.target == target and one.subset is None
        ),
        None,
    )


def _accuracy(audit: AuditResult) -> Found:
    """The target's accuracy minus the reference's."""
    endpoints = (end for one in audit.verdicts for end in one.endpoints)
    return next((one.estimate for one in endpoints if one.name == "accuracy"), None)


def _in_line(estimate: Found, write: Callable[[float], str]) -> str:
    """A number and its interval.

    Examples
    --------
    >>> _in_line(Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap"), percent)
    '50.0 [25.0, 75.0]'
    """
    if not isinstance(estimate, Estimate):
        return "unknown"
    value, low, high = map(write, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"
