"""The table of limits: a row a verdict with its reason, and a column a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from reports.blocks import Column, Row, Table
from reports.builders.answer import limit_strips
from reports.charts import SmallStrip
from reports.prose import Span, Style, Text, prose, written
from reports.wording import in_percent, points, two_digits
from scope.jobs.audit.verdict_words import VerdictWords, whole
from scope.records import (
    AuditResult,
    Endpoint,
    Replacement,
    ReplacementDecision,
    Undefined,
    marked,
)
from scope.records.verdicts import State

SIGNS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": "✓", "not shown": "?", "may not": "✗"}
)
"""The sign of each decision, so that colour is never the only one; the order of a table."""

_VERDICTS: Mapping[ReplacementDecision, tuple[str, Style]] = MappingProxyType(
    {
        "may replace": ("✓ may replace", "good"),
        "not shown": ("? too early", "open"),
        "may not": ("✗ may not", "alarm"),
    }
)

_STATES: Mapping[State, str] = MappingProxyType(
    {"within": " ✓", "beyond": " ✗", "fails alone": " ?", "not shown": " ?", "not judged": ""}
)


class Answered(NamedTuple):
    """A verdict in words, and what it is compared with.

    ``looks`` are earlier runs on the same texts, ``combined`` is the run whose texts count, too.
    """

    verdict: Replacement
    words: VerdictWords
    reference: str
    baseline: str = ""
    facts: tuple[tuple[Text, Text], ...] = ()
    looks: tuple[str, ...] = ()
    combined: tuple[str, ...] = ()


class _Limit(NamedTuple):
    """A limit in words: its column's head, the words below it, and the head in a terminal."""

    head: str
    below: str
    short: str
    in_points: bool


def in_order(answers: Iterable[Answered]) -> list[Answered]:
    """The verdicts with *may replace* first, then the open ones."""
    return sorted(answers, key=lambda answer: [*SIGNS].index(answer.verdict.decision))


def limits_table(answers: Sequence[Answered], result: AuditResult | None = None) -> Table:
    """The verdicts with their reasons, and each limit as zones with the verdict's own interval.

    Several references are named in the rows. With a ``result`` the yardstick and the floor have a
    pale row each. A single verdict has a row for each of several capabilities.
    """
    several = len({answer.reference for answer in answers}) > 1
    names = [_name(answer, several, result) for answer in answers]
    rows = [*zip(names, map(_by_limit, answers), strict=True)]
    if len(answers) == 1:
        rows += _capabilities(answers[0])
    return _table("", rows, answers, others=[] if result is None else list(_others(result)))


def capabilities_table(answers: Sequence[Answered]) -> Table | None:
    """Each capability by itself, with its limits; None where there are not several."""
    rows = [
        (prose("{target} {on}", target=answer.verdict.target, on=name), ends)
        for answer in answers
        for name, ends in _capabilities(answer)
    ]
    return _table("Each capability", rows, answers) if rows else None


def numbers_table(answers: Sequence[Answered]) -> Table:
    """The number of each limit in one line a verdict, for a terminal."""
    several = len({answer.reference for answer in answers}) > 1
    columns = _columns(map(_by_limit, answers))
    heads = {key: _limit(end, answers[0]) for key, end in columns.items()}
    rows = [
        (
            prose(
                f"{SIGNS[answer.verdict.decision]} {{target}}{{for_reference}}",
                target=answer.verdict.target,
                for_reference=f" for {answer.reference}" if several else "",
            ),
            *(_number(ends.get(key), heads[key]) for key in columns),
        )
        for answer in answers
        for ends in [_by_limit(answer)]
    ]
    limits = (_allowed(end, heads[key]) for key, end in columns.items())
    return Table.with_columns(
        (Column("", "name"), *(Column(head.short, "number") for head in heads.values())),
        (("limit", *limits), *rows),
        close=True,
    )


def _table(
    head: str,
    rows: Sequence[tuple[Text, Mapping[str, Endpoint]]],
    answers: Sequence[Answered],
    others: Sequence[tuple[Text, Mapping[str, str]]] = (),
) -> Table:
    columns = _columns(ends for _, ends in rows)
    several = len({answer.reference for answer in answers}) > 1
    first = answers[0]._replace(reference="the model replaced") if several else answers[0]
    limits = {key: _limit(end, first) for key, end in columns.items()}
    strips = {
        key: limit_strips(
            [ends.get(key) for _, ends in rows], limit.head, in_points=limit.in_points
        )
        for key, limit in limits.items()
    }
    cells: list[tuple[Text | str | SmallStrip, ...]] = [
        (name, *(strips[key][place] for key in columns)) for place, (name, _) in enumerate(rows)
    ]
    cells += [
        (name, *((Span(values.get(key, "–"), "note"),) for key in columns))
        for name, values in others
    ]
    return Table(
        columns=(
            Column(head, "name"),
            *(
                Column((Span(f"{limit.head} "), Span(limit.below, "note", foreign=True)), "strip")
                for limit in limits.values()
            ),
        ),
        rows=tuple(Row(cells=row) for row in cells),
    )


def _by_limit(answer: Answered) -> dict[str, Endpoint]:
    return {_key(end): end for end in whole(answer.verdict.endpoints)}


def _key(end: Endpoint) -> str:
    return end.name if end.measure == "recall" else end.measure


def _columns(rows: Iterable[Mapping[str, Endpoint]]) -> dict[str, Endpoint]:
    """By limit the first endpoint with a number, one that is judged if any is."""
    columns: dict[str, Endpoint] = {}
    for key, end in ((key, end) for row in rows for key, end in row.items()):
        if isinstance(end.estimate, Undefined):
            continue
        first = columns.setdefault(key, end)
        if first.limit is None and end.limit is not None:
            columns[key] = end
    return columns


def _capabilities(answer: Answered) -> Iterator[tuple[Text, dict[str, Endpoint]]]:
    """The endpoints of each capability where a number is over several."""
    over = set(map(id, whole(answer.verdict.endpoints)))
    parts: dict[str, dict[str, Endpoint]] = {}
    for end in answer.verdict.endpoints:
        on = end.name.partition(" on ")[2]
        if id(end) not in over and "changed texts" not in end.name:
            parts.setdefault(on, {})[end.measure] = end
    for capability, ends in parts.items():
        yield (Span(f"on {capability}", "note", foreign=True),), ends


def _name(answer: Answered, several: bool, result: AuditResult | None) -> Text:
    verdict = answer.verdict
    words, style = _VERDICTS[verdict.decision]
    shares = result.answer_shares if result else ()
    why = answer.words.why
    return (
        Span(words, style),
        Span(" "),
        *(part._replace(style="strong") for part in written(marked(verdict.target, shares))),
        *((Span(f" for {answer.reference}", foreign=True),) if several else ()),
        Span(f"{why[:1].upper()}{why[1:]}.", "note", foreign=True),
    )


_HEADS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "accuracy": ("Accuracy", "accuracy", "points lower"),
        "recovery": ("Accuracy kept", "accuracy", ""),
        "agreement": ("Same answers", "same answers", "below {yardstick}"),
        "keeps": ("Keeps its answer", "keeps", "below {reference}"),
        "concordance": ("Same reaction", "same reaction", "below {yardstick}"),
        "reach": ("Strength", "strength", ""),
    }
)
"""By measure, the head of its column, in a terminal, and what a difference is compared with."""


def _limit(end: Endpoint, answer: Answered) -> _Limit:
    head, short, less = _HEADS.get(end.measure, (end.name.capitalize(), end.name, "points lower"))
    differs = (end.limit or 0) < 0 or end.measure == "keeps" or "accuracy" in end.measure
    if end.limit is None:
        below = "shown, not judged"
    elif end.limit < 0:
        compared = less.format(yardstick=answer.baseline, reference=answer.reference)
        below = f"at most {-100 * end.limit:.3g} {compared}"
    elif end.most is None:
        below = f"at least {end.limit:.3g}"
    else:
        below = f"{end.limit:.3g} to {end.most:.3g}"
    return _Limit(head, below, short, differs)


def _number(end: Endpoint | None, limit: _Limit) -> str:
    if end is None or isinstance(end.estimate, Undefined):
        return "–"
    value = end.estimate.value
    return f"{points(value) if limit.in_points else two_digits(value)}{_STATES[end.state]}"


def _allowed(end: Endpoint, limit: _Limit) -> str:
    if end.limit is None:
        return "none"
    least = f"{100 * end.limit:.3g}" if limit.in_points else two_digits(end.limit)
    least = least.replace("-", "−")
    return f"{least} to {two_digits(end.most)}" if end.most else f"≥ {least}"


def _others(result: AuditResult) -> Iterator[tuple[Text, dict[str, str]]]:
    """The yardstick and the floor with their own numbers, which are not judged."""
    ends = whole([end for verdict in result.verdicts[:1] for end in verdict.endpoints])
    for card in result.manifest.targets:
        if card.role == "target":
            continue
        role = "yardstick" if card.role == "baseline" else card.role
        name = (Span(f"{role} ", "pale"), Span(card.name, "pale", foreign=True))
        yield name, {_key(end): _of_model(result, card.name, end) for end in ends}


_METRICS = {
    "accuracy": "iid_accuracy_gap",
    "agreement": "iid_agreement",
    "keeps": "base_rate",
    "concordance": "concordance",
    "reach": "reach",
}


def _of_model(result: AuditResult, model: str, end: Endpoint) -> str:
    """A model's own number: the mean over the capabilities of an endpoint."""
    reference = result.manifest.reference.name
    parts = {each.name for each in result.verdicts[0].endpoints if each.measure == end.measure}
    parts = {end.name} if " on " in end.name else parts
    means: dict[str, list[float]] = {model: [], reference: []}
    for row in result.measurements:
        same = row.metric == _METRICS.get(end.measure) and row.subset is None
        part = f"{end.measure} on {row.capability}" if row.capability else end.name
        if same and row.target in means and row.values and part in parts:
            means[row.target].append(fmean(row.values))
    if not means[model]:
        return "–"
    value = fmean(means[model])
    if end.measure == "keeps":
        value -= fmean(means[reference] or [value])
    if end.measure in ("keeps", "accuracy"):
        return points(value)
    share = f"{in_percent(value)[0]}\u00a0%"
    return two_digits(value) if end.measure == "reach" else share
