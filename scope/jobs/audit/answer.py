"""The answer of an audit: the verdict on each target, where targets differ, and what to do.

The table of limits: a row a verdict with its reason, and a column a limit.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from reports.blocks import (
    Block,
    Column,
    Fold,
    Paragraph,
    Preformatted,
    SmallStrip,
    Table,
    note,
    paragraph,
)
from reports.estimates import SIGNS, by_luck, drift_cell, limit_strips, three_parts
from reports.prose import Span, Text, Written, joined, plain, prose, together, written
from reports.regions import more_texts, no_region, region_sentence, regions_fold
from reports.sections import command_with
from reports.wording import (
    as_sentence,
    points,
    rounded_percent,
    short,
    short_points,
    short_share,
    two_digits,
)
from scope.jobs.audit.examples import listed_texts, telling_text
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Replacement,
    ReplacementDecision,
    Undefined,
    marked,
)
from scope.verdicts.decide import ENDPOINTS, IN_POINTS
from scope.verdicts.plan import is_own_yardstick, not_assessed
from scope.verdicts.words import (
    OPTION,
    VerdictWords,
    audit_words,
    carrying,
    finding,
    in_plain_words,
    in_some,
    limit_key,
    measured,
    own_number,
    whole,
)


def written_verdicts(result: AuditResult) -> Iterator[WrittenVerdict]:
    """The verdict on each target, if any is reached, with *may replace* first, then open ones."""
    manifest, runs = result.manifest, (result.earlier_looks, result.combined_with)
    usual = f"{manifest.reference.name} asked twice" * is_own_yardstick(manifest)
    names = (manifest.reference.name, manifest.baseline.name if manifest.baseline else usual)
    for verdict in sorted(result.verdicts, key=lambda each: [*SIGNS].index(each.decision)):
        yield WrittenVerdict(verdict, audit_words(verdict, result), *names, *runs)


_VERBS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": " may", "may not": " may not", "not shown": ": too early"}
)


def heading_of(answers: Sequence[WrittenVerdict]) -> Text:
    """The verdict on each target; more than four with one verdict are counted."""
    if len(answers) == 1:
        sign, style = SIGNS[answers[0].verdict.decision]
        return (Span(sign, style), *prose(" {words}", words=answers[0].words.opening))
    parts: list[Text] = []
    for decision, verb in _VERBS.items():
        alike = [answer for answer in answers if answer.verdict.decision == decision]
        names = [answer.verdict.target for answer in alike]
        some = [*names[:3], f"{len(names) - 3} more"] if names[4:] else names
        sign, style = SIGNS[decision]
        what = f" replace {answers[0].reference}" if decision != "not shown" and not parts else ""
        if alike:
            what += in_some(alike[0].verdict)
            parts.append(
                (Span(f"{sign} ", style), *joined(some, last=" and "), *written(verb + what))
            )
    return joined(parts, between="; ")


def about(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Text:
    """The texts, the yardstick, and how sure the verdicts are."""
    card, few = result.manifest.baseline, not_assessed(result, "keeps")
    words = "Yardstick __{name}__: as close is enough. " * (card is not None)
    name = {"name": card.name} if card else {}
    standard = prose(words + "Green: allowed, red: too far.", **name)
    part = result.manifest.settings.get("change")
    texts = prose(
        "{texts} texts, {changed} also changed{where} ({by}).{accuracy}",
        texts=result.manifest.data[0].used,
        changed=len({each.perturbation.example_id for each in result.candidates}),
        where=prose(" in {part}", part=str(part)) if part else (),
        by=joined(
            f"{each.name}: too few to judge" if each.name in few else each.name
            for each in result.manifest.capabilities
        ),
        accuracy=_accuracy(result),
    )
    return together(texts, standard, how_sure(answers))


def _accuracy(result: AuditResult) -> Text:
    """What accuracy is of written answers, and how much of it the reference has."""
    of_reference = next((share.accuracy for share in result.answer_shares), None)
    if not result.score or not isinstance(of_reference, Estimate):
        return ()
    return prose(
        " Accuracy is {what}, of which {name} has {value}.",
        what="the word F1" if result.score == "f1" else "the share of right answers",
        name=result.manifest.reference.name,
        value=short_share(of_reference),
    )


def how_sure(answers: Sequence[WrittenVerdict]) -> Text:
    """How often such verdicts are wrong, or why that is not known, or what is open."""
    if answers[0].looks:
        return prose(
            "**How sure?** Not known: other runs ({runs}) used these texts with another plan.",
            runs=", ".join(answers[0].looks),
        )
    often = "3 of 100 pairs of runs" if answers[0].combined else "1 run of 40"
    words = by_luck([answer.verdict.decision for answer in answers], often=often)
    undecided = answers[0].words.why.partition("open: ")[2]
    if answers[1:] and not words:
        words = "Not decided, for the reasons below."
    elif not words:
        words = f"Not decided: {undecided or answers[0].words.why}."
    return together(prose("**How sure?**"), written(words))


def verdict_sentences(answers: Iterable[WrittenVerdict]) -> Iterator[Paragraph]:
    """The sign and the reason of each for a terminal, and how sure they are where that is not."""
    for answer in answers:
        sign, name = SIGNS[answer.verdict.decision][0], answer.verdict.target
        yield paragraph("**{sign} {name}**: {why}.", sign=sign, name=name, why=answer.words.why)
    if looks := [answer for answer in answers if answer.looks]:
        yield Paragraph(how_sure(looks))


_MEANINGS = (
    "Same reaction: of two random changes of a text, the same one moves both models’ answers more; "
    "a coin does so in 50 of 100 pairs. Strength of reaction: how far {target} moves where "
    "{reference} moves, 1 for as far."
)


_STAR = "* Beyond its limit by itself, not once corrected for the other limits: no ✗."


def answer_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """The table of limits, then where, which texts, and what to do; many targets come last."""
    parts = three_parts(
        [*where_blocks(result, answers)], [*text_blocks(result, answers)], [*to_do(result, answers)]
    )
    table = limits_table(answers, result)
    blocks: Sequence[Block] = (table, *drift_lines(result, answers), parts)
    yield from (parts, table) if answers[5:] else blocks
    several = capabilities_table(answers)
    states = {end.state for each in answers for end in each.verdict.endpoints}
    target = answers[0].verdict.target if not answers[1:] else "the target"
    notes = [line for answer in answers for line in answer.words.notes]
    yield Fold(
        prose("What the limits mean" + (", and each capability by itself" if several else "")),
        (
            note(_MEANINGS, target=target, reference=result.manifest.reference.name),
            *([note(_STAR)] if "fails alone" in states else []),
            *(note("{line}.", line=line) for line in dict.fromkeys(notes)),
            *([several] if several else []),
        ),
    )


def drift_lines(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Paragraph]:
    """How far each target's next tokens are from the reference's, which no limit judges."""
    for answer in answers:
        name = answer.verdict.target
        rows = {row.metric: row.estimate for row in result.drift if row.target == name}
        same, kl = rows.get("same_top_token"), rows.get("kl")
        if isinstance(same, Estimate) and isinstance(kl, Estimate):
            cell = drift_cell("kl", kl)
            yield paragraph(
                "**{name}**: the likeliest next token is {reference}'s in {same} of places (KL "
                "divergence {kl}; not judged).",
                name=name,
                reference=answer.reference,
                same=short_share(same),
                kl=f"{cell.value} {cell.interval}",
            )


def where_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """The regions in which each target differs most, or that none was found."""
    without = []
    for answer in answers:
        verdict, name = answer.verdict, answer.verdict.target
        same = measured(result, name, "iid_agreement")
        share = rounded_percent(same.value) if isinstance(same, Estimate) else "–"
        ends = whole(carrying(verdict)) if verdict.decision != "may replace" else []
        confirmed = [*confirmed_regions(name, result)][:MOST_REGIONS]
        if ends and "unchanged" not in {ENDPOINTS[end.measure].kind for end in ends}:
            words = "**{name}**: {why}. On unchanged texts {share} of the answers are the same."
            yield paragraph(words, name=name, why=finding(ends[0], verdict, result), share=share)
        elif isinstance(same, Estimate) and same.value == 1 and not confirmed:
            yield paragraph("**{name}**: nowhere in these {n} texts.", name=name, n=same.n)
            continue
        yield from confirmed
        if not confirmed and (verdict.decision != "may replace" or not answers[1:]):
            without.append(name)
            yield from more_texts([each for each in result.regions if each.target == name][:1])
    if without:
        yield no_region(without, len(result.examples))
    if result.regions:
        addresses = [*map(_address, range(len(result.regions)))]
        yield from regions_fold(result.regions, result.manifest, addresses)


MOST_REGIONS = 2
"""Regions of a target on the first screen."""


def confirmed_regions(target: str, result: AuditResult) -> Iterator[Paragraph]:
    """A sentence on each confirmed region of a target."""
    for place, region in enumerate(result.regions):
        if region.target == target and region.confirmed:
            yield region_sentence(region, result.manifest, _address(place))


def _address(place: int) -> str:
    return f"examples?region={place}"


def text_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """A text of a target that may not, or else of one that is open, and links to all of each."""
    texts = (telling_text(answer.verdict, result) for answer in answers[::-1])
    if text := next(filter(None, texts), None):
        yield Paragraph(text)
    counts = Counter(place for text in listed_texts(result) for place in text.lost)
    links = [
        (Span(f"{card.name}: {counts[place]:,}", foreign=True, link=f"examples?lost={place}"),)
        for place, card in enumerate(result.manifest.targets)
        if counts[place] and card.name in [answer.verdict.target for answer in answers]
    ]
    if links:
        yield paragraph("Examples that differ, changed or not: {links}.", links=joined(links))
    else:
        n = result.manifest.data[0].used
        yield paragraph("None: all {n} answers are the same.", n=n)


def to_do(
    result: AuditResult, answers: Sequence[WrittenVerdict], *, brief: bool = False
) -> Iterator[Block]:
    """Which targets to use, which to leave out, and the command that would decide the others.

    Where it is to be ``brief``, only the options that are other ones.
    """
    names: dict[str, list[str]] = {}
    for answer in answers:
        names.setdefault(answer.verdict.decision, []).append(answer.verdict.target)
    confirm = "Confirm **{names}** on new texts." if answers[0].looks else "Use **{names}**."
    words = {"may replace": confirm, "may not": "Do not use **{names}** in its place."}
    sentences = [
        prose(template, names=joined(names[decision], last=" and "))
        for decision, template in words.items()
        if decision in names
    ]
    if sentences:
        yield Paragraph(together(*sentences))
    open_ = [answer for answer in answers if answer.verdict.decision == "not shown"]
    for answer in open_:
        why = answer.verdict.reason or ""
        unknown = f"No number of texts brings a ✓ as long as {why}" if why else _UNKNOWN
        if more := answer.words.more or unknown * (OPTION not in why):
            yield paragraph("**{name}**: {more}.", name=answer.verdict.target, more=more)
    if numbers := _further_options(result.manifest, open_):
        targets = [answer.verdict.target for answer in open_ if answer.words.options]
        options = " ".join(f"--{name} {number}" for name, number in numbers.items())
        yield Preformatted(options if brief else further_command(result.manifest, targets, numbers))
    same = (measured(result, answer.verdict.target, "iid_agreement") for answer in answers)
    differ = any(isinstance(share, Estimate) and share.value < 1 for share in same)
    if result.manifest.baseline is None and differ and {*names} != {"may not"}:
        yield paragraph(
            "To judge {what}, too, add ``--baseline``: {reference} trained again, or in another "
            "precision.",
            what="same answers and " * (not is_own_yardstick(result.manifest)) + "reactions",
            reference=answers[0].reference,
        )


_UNKNOWN = "How many texts decide is not known"


def _further_options(manifest: Manifest, answers: Sequence[WrittenVerdict]) -> dict[str, int]:
    """The greatest numbers of texts of open targets, and another seed; none without any."""
    numbers: dict[str, int] = {}
    for name, number in (pair for answer in answers for pair in answer.words.options.items()):
        numbers[name] = max(numbers.get(name, 0), number)
    return numbers and {**numbers, "seed": int(str(manifest.settings.get("seed", 0))) + 1}


def further_command(manifest: Manifest, targets: Sequence[str], numbers: Mapping[str, int]) -> str:
    """The command of a run on these targets alone, with other texts.

    With targets that are decided it would not be judged on the texts of this run, too.
    """
    replaced = [f"--{name}" for name in (*numbers, "run", "reference", "target", "group")]
    kept = shlex.split(command_with(manifest.command, replaced))[2:]
    specs = [card.spec for card in manifest.targets if card.name in targets]
    words = ["scope", "audit", "--reference", manifest.reference.spec]
    words += [word for spec in specs for word in ("--target", spec)]
    words += [word for word in kept if word != "--both-directions"]
    words += [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
    return shlex.join(words)


DECISIONS = {"may replace": "may replace", "not shown": "too early", "may not": "may not"}


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
    if end.measure in IN_POINTS:
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
        Span(f"{sign} {DECISIONS[answer.verdict.decision]}", style),
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
    return (end.limit or 0) < 0 or end.measure in IN_POINTS


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
