"""The table of both directions of two models: verdict, accuracy, agreement, capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reports.blocks import Column, Table
from reports.prose import prose
from reports.wording import number, percent, points, range_of_counts
from scope.jobs.audit.answer import SIGNS, estimates_of_models
from scope.metrics import metric_name
from scope.records import AuditResult, Endpoint, Estimate, Measurement, PairResult, Undefined

Found = Estimate | Undefined | None


def direction_table(result: PairResult) -> Table:
    """One column per direction: the standard, then numbers, and last the numbers of texts."""
    audits = result.audits
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
            _row(
                "same answer, %", [_of_target(audit, "iid_agreement") for audit in audits], percent
            ),
            *(
                _row(label, [_similarity(result, label, audit) for audit in audits], number)
                for label in dict.fromkeys(map(_label, result.similarities))
            ),
            *(
                _row(
                    name := f"{metric} on {capability}",
                    [_of_target(audit, metric, capability) for audit in audits],
                    number,
                    _signs(name, audits),
                )
                for capability in names
                for metric in ("concordance", "reach")
            ),
        ),
        close=True,
    )


def _label(similarity: Measurement) -> str:
    return metric_name(similarity.metric).label


def _similarity(result: PairResult, label: str, audit: AuditResult) -> Found:
    """How similar the answers of an audit's two models are, by a measure."""
    pair = {target_of(audit), reference_of(audit)}
    rows = (row for row in result.similarities if {row.target, row.against} == pair)
    return next((row.estimate for row in rows if _label(row) == label), None)


def _of_target(audit: AuditResult, metric: str, capability: str | None = None) -> Found:
    return estimates_of_models(audit, metric, capability).get(target_of(audit))


_STATES = {"within": "✓ ", "beyond": "✗ ", "not shown": "? "}


def _signs(name: str, audits: Sequence[AuditResult]) -> Sequence[str]:
    """For each audit whether this endpoint is within its limit; empty if it is not judged."""
    endpoints = (_endpoints(audit).get(name) for audit in audits)
    return ["" if end is None else _STATES.get(end.state, "") for end in endpoints]


def _row(
    name: str,
    estimates: Iterable[Found],
    write: Callable[[float], str],
    signs: Sequence[str] = (),
) -> Sequence[str]:
    """A number of each direction, with the sign of its state if it is judged."""
    each = tuple(estimates)
    texts = range_of_counts(estimate for estimate in each if isinstance(estimate, Estimate))
    cells = (_in_line(estimate, write) for estimate in each)
    return (name, *map(str.__add__, signs or [""] * len(each), cells), texts)


def verdict_matrix(audits: Sequence[AuditResult]) -> Table:
    """Which model may replace which: one row per target, one column per reference."""
    decided = {(target_of(audit), reference_of(audit)): _verdict(audit) for audit in audits}
    names = list(dict.fromkeys(name for pair in decided for name in reversed(pair)))
    decided |= {(name, name): "–" for name in names}
    heads = (Column(prose("in place of {name}", name=name)) for name in names)
    return Table.with_columns(
        (Column("", "name"), *heads),
        ((name, *(decided.get((name, other), "not run") for other in names)) for name in names),
        caption=prose("Who may replace whom"),
    )


def _verdict(audit: AuditResult) -> str:
    return next(
        (f"{SIGNS[verdict.decision]} {verdict.decision}" for verdict in audit.verdicts), "none"
    )


def _standard(audit: AuditResult) -> str:
    """The model whose similarity to the reference is the standard for the target."""
    baseline = audit.manifest.baseline
    return f"{reference_of(audit)} itself" if baseline is None else baseline.name


def target_of(audit: AuditResult) -> str:
    """The name of the target."""
    return next(card.name for card in audit.manifest.targets if card.role == "target")


def reference_of(audit: AuditResult) -> str:
    """The name of the reference."""
    return audit.manifest.reference.name


def _accuracy(audit: AuditResult) -> Found:
    """The target's accuracy minus the reference's."""
    endpoint = _endpoints(audit).get("accuracy")
    return None if endpoint is None else endpoint.estimate


def _endpoints(audit: AuditResult) -> dict[str, Endpoint]:
    return {end.name: end for verdict in audit.verdicts for end in verdict.endpoints}


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
