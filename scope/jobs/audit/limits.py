"""The table of limits: a row a verdict with its reason, and a column a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.blocks import Column, SmallStrip, Table
from reports.estimates import SIGNS, limit_strips
from reports.prose import Span, Text, Written, plain, prose, written
from reports.wording import as_sentence, points, rounded_percent, short, short_points, two_digits
from scope.jobs.audit.verdict_words import (
    VerdictWords,
    in_plain_words,
    limit_key,
    measured,
    own_number,
    whole,
)
from scope.records import AuditResult, Endpoint, Estimate, Replacement, Undefined, marked

WORDS = {"may replace": "may replace", "not shown": "too early", "may not": "may not"}


class WrittenVerdict(NamedTuple):
    """A verdict in words, and what it is compared with.

    ``looks`` are earlier runs on the same texts, ``combined`` is the run whose texts count, too.
    """

    verdict: Replacement
    words: VerdictWords
    reference: str
    baseline: str = ""
    looks: tuple[str, ...] = ()
    combined: tuple[str, ...] = ()


def in_order(answers: Iterable[WrittenVerdict]) -> list[WrittenVerdict]:
    """The verdicts with *may replace* first, then the open ones."""
    return sorted(answers, key=lambda answer: [*SIGNS].index(answer.verdict.decision))


def limits_table(answers: Sequence[WrittenVerdict], result: AuditResult | None = None) -> Table:
    """The verdicts with their reasons, and each limit as zones with the verdict's own interval.

    Several references are named in the rows. With a ``result`` the yardstick and the floor have a
    pale row each.
    """
    rows = [(_name(answer, answers, result), _by_limit(answer)) for answer in answers]
    return _table(rows, answers, [] if result is None else list(_others(result)))


def capabilities_table(answers: Sequence[WrittenVerdict]) -> Table | None:
    """Each capability by itself, with its own limits; None where there are not several."""
    rows = []
    for answer in answers:
        over, parts = whole(answer.verdict.endpoints), dict[str, dict[str, Endpoint]]()
        for end in answer.verdict.endpoints:
            if end not in over and "changed texts" not in end.name:
                parts.setdefault(end.name.partition(" on ")[2], {})[end.measure] = end
        for name, ends in parts.items():
            rows.append((prose("{target} on {on}", target=answer.verdict.target, on=name), ends))
    return _table(rows, answers) if rows else None


def numbers_table(answers: Sequence[WrittenVerdict]) -> Table:
    """The number of each limit in one line a verdict, for a terminal."""
    names = [
        (
            Span(f"{SIGNS[each.verdict.decision][0]} "),
            *written(each.verdict.target),
            *_for(each, answers),
        )
        for each in answers
    ]
    table = _table([*zip(names, map(_by_limit, answers), strict=True)], answers)
    heads = [column.short.partition("\n") for column in table.columns[1:]]
    columns = (Column("", "name"), *(Column(head, "number") for head, _, _ in heads))
    cells = ([row.cells[0], *map(_in_short, row.cells[1:])] for row in table.rows)
    limits = ("limit", *(allowed or "none" for _, _, allowed in heads))
    return Table.with_columns(columns, (limits, *cells), close=True)


def _in_short(cell: Written | SmallStrip | None) -> Text:
    """A number without its interval, and the sign of its state."""
    if not isinstance(cell, SmallStrip):
        return written(plain(written(cell)).split(" ")[0] or "–")
    sign = {"good": " ✓", "bad": " ✗", "open": " ?"}.get(str(cell.verdict), "")
    return (Span(f"{cell.words.partition(' ')[0]}{sign}"),)


def measured_table(result: AuditResult) -> Table:
    """Same answers, and Hard-SCoPE on each capability, of every model: where no verdict is."""
    keys: dict[str, tuple[str, str | None]] = {"agreement": ("iid_agreement", None)}
    for capability in result.manifest.capabilities:
        keys[f"Hard-SCoPE on {capability.name}"] = ("hard_scope", capability.name)
    rows = []
    for card in result.manifest.targets:
        numbers = {key: measured(result, card.name, *names) for key, names in keys.items()}
        ends = {key: Endpoint(name=key, estimate=n) for key, n in numbers.items() if n is not None}
        rows.append((prose("{name}", name=marked(card.name, result.answer_shares)), ends))
    return _table(rows, [])


def _table(
    rows: Sequence[tuple[Text, Mapping[str, Endpoint]]],
    answers: Sequence[WrittenVerdict],
    others: Sequence[tuple[Text, Mapping[str, str]]] = (),
) -> Table:
    columns, strips = [], []
    for key, end in _judged_first(ends for _, ends in rows).items():
        by_points, head, column = _column(end, answers)
        ends = [row.get(key) for _, row in rows]
        # What is not judged is not drawn; with a yardstick for some, the others' kind differs.
        judged = [
            end if end and end.limit is not None and in_points(end) == by_points else None
            for end in ends
        ]
        drawn = limit_strips(judged, head, in_points=by_points)
        columns.append(column if any(judged) else replace(column, kind="text"))
        cells = [
            strip if judge else _pale(end)
            for strip, judge, end in zip(drawn, judged, ends, strict=True)
        ]
        pale = [(Span(values.get(key, "–"), "note"),) for _, values in others]
        strips.append([*cells, *pale])
    names = [name for name, _ in (*rows, *others)]
    return Table.with_columns((Column("", "name"), *columns), zip(names, *strips, strict=True))


def _pale(end: Endpoint | None) -> Text | None:
    if end is None:
        return None
    if isinstance(end.estimate, Undefined):
        return (Span(str(end.estimate), "pale"),)
    return (Span(_in_words(end, end.estimate.value), "pale"),)


def _in_words(end: Endpoint, value: float) -> str:
    """A model's own number that is not judged."""
    if end.measure in ("keeps", "accuracy", "recall"):
        return points(value)
    return f"{value:.2f}" if end.measure == "reach" else rounded_percent(value)


def _by_limit(answer: WrittenVerdict) -> dict[str, Endpoint]:
    return {limit_key(end): end for end in whole(answer.verdict.endpoints)}


def _judged_first(rows: Iterable[Mapping[str, Endpoint]]) -> dict[str, Endpoint]:
    """By limit the first endpoint with a number, one that is judged if any is; those come first."""
    columns: dict[str, Endpoint] = {}
    for key, end in (pair for row in rows for pair in row.items()):
        if isinstance(end.estimate, Estimate):
            first = columns.setdefault(key, end)
            columns[key] = end if first.limit is None else first
    return dict(sorted(columns.items(), key=lambda column: column[1].limit is None))


def _name(
    answer: WrittenVerdict, answers: Sequence[WrittenVerdict], result: AuditResult | None
) -> Text:
    sign, style = SIGNS[answer.verdict.decision]
    name = marked(answer.verdict.target, result.answer_shares if result else ())
    # What is open of a single target stands above the table.
    why = answer.words.why if answers[1:] else answer.words.why.partition("; open: ")[0]
    return (
        Span(f"{sign} {WORDS[answer.verdict.decision]}", style),
        Span(" "),
        Span(name, "strong", foreign=True),
        *_for(answer, answers),
        Span(f"\n{as_sentence(why)}.", "note", foreign=True),
    )


def _for(answer: WrittenVerdict, answers: Sequence[WrittenVerdict]) -> Text:
    """What is replaced, where there are several references."""
    several = any(other.reference != answer.reference for other in answers)
    return prose(" for {reference}", reference=answer.reference) if several else ()


def in_short(end: Endpoint) -> str:
    """What is limited, where there is little room."""
    return {"keeps": "keeps", "reach": "strength"}.get(end.measure, in_plain_words(limit_key(end)))


def _column(end: Endpoint, answers: Sequence[WrittenVerdict]) -> tuple[bool, str, Column]:
    """Whether it is a difference in points, its name, and its column with the limit in words."""
    head, limit, fewer = as_sentence(in_plain_words(limit_key(end))), "not judged", ""
    if end.limit is not None:
        names = {answer.reference for answer in answers}
        model = answers[0].reference if len(names) == 1 else "the model replaced"
        model = answers[0].baseline if end.measure in ("agreement", "concordance") else model
        limit = allowed(end) + (
            f" {model}" if end.limit < 0 else f" {answers[0].reference}’s" * bool(end.most)
        )
        least = f"−{-100 * end.limit:.3g}" if end.limit < 0 else two_digits(end.limit)
        fewer = f"{end.limit:.3g} to {end.most:.3g}" if end.most else f"≥ {least}"
    title = (Span(f"{head} "), Span(limit, "note", foreign=True))
    return in_points(end), head, Column(title, "strip", short=f"{in_short(end)}\n{fewer}")


def written_number(end: Endpoint) -> str:
    """The number with its interval, in points if it is a difference."""
    return (short_points if in_points(end) else short)(end.estimate)


def allowed(end: Endpoint) -> str:
    """A limit in words; nothing where none is judged."""
    if end.limit is None:
        return ""
    if end.most is not None:
        return f"{end.limit:.3g} to {end.most:.3g} times"
    return (
        f"≤ {-100 * end.limit:.3g} points below" if end.limit < 0 else f"at least {end.limit:.3g}"
    )


def in_points(end: Endpoint) -> bool:
    """Whether its number is a difference, written in points."""
    return (end.limit or 0) < 0 or end.measure in ("keeps", "accuracy", "recall")


def _others(result: AuditResult) -> Iterator[tuple[Text, dict[str, str]]]:
    """The yardstick and the floor with their own numbers, which are not judged."""
    verdict, reference = result.verdicts[0], result.manifest.reference.name
    for card in (card for card in result.manifest.targets if card.role != "target"):
        numbers = {}
        for end in whole(verdict.endpoints):
            value = own_number(end, verdict, card.name, result)
            usual = own_number(end, verdict, reference, result) if end.measure == "keeps" else 0.0
            if value is not None and usual is not None:
                numbers[limit_key(end)] = _in_words(end, value - usual)
        role = {"baseline": "yardstick"}.get(card.role, card.role)
        yield (Span(f"{role} ", "pale"), Span(card.name, "pale", foreign=True)), numbers
