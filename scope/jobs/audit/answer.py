"""The answer of an audit: the verdict on each target, where targets differ, and what to do."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import (
    Block,
    Column,
    Fold,
    Paragraph,
    Preformatted,
    Table,
    note,
    paragraph,
)
from reports.builders.answer import SIGNS, three_parts
from reports.prose import Span, Text, joined, prose, together, written
from reports.wording import rounded_percent, short_share
from scope.jobs.audit.examples import listed_texts
from scope.jobs.audit.limits import (
    WrittenVerdict,
    allowed,
    capabilities_table,
    in_order,
    limits_table,
    written_number,
)
from scope.jobs.audit.telling import telling_text
from scope.jobs.audit.verdict_words import (
    carrying,
    in_plain_words,
    in_words,
    measured,
    whole,
)
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Measurement,
    ReplacementDecision,
)

MOST_SHOWN, MOST_ABOVE = 2, 5
"""Most targets beside where they differ and with a text, and in a table above these."""

_CHANCE, _CONFIDENCE = 0.05, "reference's confidence "


def written_verdicts(result: AuditResult) -> Iterator[WrittenVerdict]:
    """The verdict on each target, if any is reached."""
    manifest, runs = result.manifest, (result.earlier_looks, result.combined_with)
    names = (manifest.reference.name, manifest.baseline.name if manifest.baseline else "")
    for verdict in result.verdicts:
        yield WrittenVerdict(verdict, in_words(verdict, result), *names, *runs)


_VERBS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": " may", "may not": " may not", "not shown": ": too early"}
)


def heading_of(answers: Sequence[WrittenVerdict]) -> Text:
    """The verdict on each target; more than four with one verdict are counted."""
    if len(answers) == 1:
        sign = SIGNS[answers[0].verdict.decision][0]
        return prose("{words}", words=f"{sign} {answers[0].words.opening}")
    parts: list[Text] = []
    for decision, verb in _VERBS.items():
        names = [answer.verdict.target for answer in answers if answer.verdict.decision == decision]
        some = [*names[:3], f"{len(names) - 3} more"] if names[4:] else names
        words = prose(f"{SIGNS[decision][0]} {{names}}", names=joined(some, last=" and "))
        what = f" replace {answers[0].reference}" if decision != "not shown" and not parts else ""
        parts += [(*words, *written(verb + what))] if names else []
    return joined(parts, between="; ")


def about(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Text:
    """The texts, the yardstick, and how sure the verdicts are."""
    card = result.manifest.baseline
    standard = prose("No yardstick: pale numbers are not judged.")
    if card is not None:
        standard = prose("Yardstick: __{name}__ counts as close enough.", name=card.name)
    texts = prose(
        "{texts} texts, {changed} also changed ({by}).",
        texts=result.manifest.data[0].used,
        changed=len({each.perturbation.example_id for each in result.candidates}),
        by=joined(each.name for each in result.manifest.capabilities),
    )
    return together(texts, standard, how_sure(answers))


def how_sure(answers: Sequence[WrittenVerdict]) -> Text:
    """How often such verdicts are wrong, or why that is not known."""
    if answers[0].looks:
        return prose(
            "**How sure?** Not known: an earlier run ({runs}) used these texts with another plan.",
            runs=", ".join(answers[0].looks),
        )
    decided = {answer.verdict.decision: answer.verdict for answer in answers}
    often = "3 of 100 pairs of runs" if answers[0].combined else "1 run of 40"
    words = f"A model just beyond a limit would pass this test in {often}."
    if {"may replace", "may not"} <= {*decided}:
        words = f"A model just beyond a limit would pass, or one just within fail, in {often}."
    elif "may not" in decided:
        words = f"A model just within its limits would fail it in {often}."
    elif "may replace" not in decided:
        undecided = [answer.verdict for answer in answers if not answer.verdict.reason]
        open_ = [end for verdict in undecided for end in whole(carrying(verdict))]
        reaches = [in_plain_words(end.name) for end in open_ if _reaches_past(end)]
        words = "Not decided: neither ✓ nor ✗ is sure enough."
        if not undecided:
            words = "Not decided: the data do not allow a verdict."
        if reaches:
            interval = "an interval" if answers[1:] else f"the interval of {reaches[0]}"
            words = f"Not decided: {interval} still reaches past its limit."
    return together(prose("**How sure?**"), written(words))


def _reaches_past(end: Endpoint) -> bool:
    if not isinstance(end.estimate, Estimate):
        return False
    limits = (limit for limit in (end.limit, end.most) if limit is not None)
    return any(end.estimate.low <= limit <= end.estimate.high for limit in limits)


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
    ordered = in_order(answers)
    where, slices = where_blocks(result, ordered)
    texts, to_do = text_blocks(result, ordered), to_do_blocks(result, ordered)
    parts = three_parts(where, [*texts], [*to_do])
    table = limits_table(ordered, result)
    yield from (table, parts) if len(ordered) <= MOST_ABOVE else (parts, table)
    several = capabilities_table(ordered)
    states = {end.state for each in ordered for end in each.verdict.endpoints}
    target = ordered[0].verdict.target if not ordered[1:] else "the target"
    notes = [line for answer in ordered for line in answer.words.notes]
    yield Fold(
        prose("What the limits mean" + (", and each capability by itself" if several else "")),
        (
            *(note("{line}.", line=line) for line in dict.fromkeys(notes)),
            *([note(_STAR)] if "fails alone" in states else []),
            note(_MEANINGS, target=target, reference=result.manifest.reference.name),
            *([several] if several else []),
            *slices,
        ),
    )


def undecided_first(answers: Sequence[WrittenVerdict]) -> list[WrittenVerdict]:
    """Those to look at, at most two: what is open, then *may not*, then *may replace*."""
    order = ("not shown", "may not", "may replace")
    return sorted(answers, key=lambda answer: order.index(answer.verdict.decision))[:MOST_SHOWN]


def where_blocks(
    result: AuditResult, answers: Sequence[WrittenVerdict]
) -> tuple[list[Block], list[Paragraph]]:
    """What decides on changed texts, and same answers by confidence; and slices that differ."""
    shown = undecided_first(answers)
    blocks: list[Block] = [Paragraph(text) for answer in shown if (text := _on_changes(answer))]
    same: dict[str, dict[str, Estimate]] = {}
    for row in result.measurements:
        if row.metric == "iid_agreement" and row.subset and isinstance(row.estimate, Estimate):
            same.setdefault(row.target, {})[row.subset] = row.estimate
    yardstick = result.manifest.baseline.name if result.manifest.baseline else ""
    names = [answer.verdict.target for answer in shown]
    rows = {name: same.get(name, {}) for name in (*names, *([yardstick] if yardstick else []))}
    if rows and all(
        shares and min(share.value for share in shares.values()) == 1 for shares in rows.values()
    ):
        return [*blocks, paragraph("On unchanged texts nowhere: all answers are the same.")], []
    bands = [band for band in next(iter(rows.values()), {}) if band.startswith(_CONFIDENCE)]
    bands = [*bands[:1], *bands[1:][-1:]]
    slices = [
        Paragraph(_slice(row.worst, same.get(yardstick, {}), yardstick))
        for row in result.slice_tests
        if row.worst.metric == "iid_agreement" and row.worst.target in names
        if row.p_adjusted < _CHANCE and not (row.worst.subset or "").startswith(_CONFIDENCE)
    ]
    if not bands[1:]:
        return [*blocks, *(slices or [paragraph("No part of the texts differs clearly.")])], []
    reference = result.manifest.reference.name
    table = Table.with_columns(
        (Column("", "name"), *(Column(band.removeprefix(_CONFIDENCE)) for band in bands)),
        (
            (
                (Span(name, "pale" if name == yardstick else "plain", foreign=True),),
                *(_share(shares.get(band)) for band in bands),
            )
            for name, shares in rows.items()
        ),
        caption=prose("Same answers by {reference}’s confidence", reference=reference),
    )
    return [*blocks, table], slices


def _share(estimate: Estimate | None) -> Text:
    return (Span(f"{100 * estimate.value:.0f}\u00a0%", "share"),) if estimate else (Span("–"),)


def _on_changes(answer: WrittenVerdict) -> Text:
    """The numbers of the limit that decides, by capability; nothing for unchanged texts."""
    verdict = answer.verdict
    first = whole(carrying(verdict))[:1] if verdict.decision != "may replace" else []
    ends = [end for end in verdict.endpoints if first and end.measure == first[0].measure]
    numbers = [
        f"{in_plain_words(end.name)} {written_number(end)}" + f" ({allowed(end)})" * bool(end.limit)
        for end in ([end for end in ends if " on " in end.name] or ends)
    ]
    if not ends or ends[0].measure not in ("keeps", "concordance", "reach"):
        return ()
    return prose("**{target}**: {numbers}.", target=verdict.target, numbers="; ".join(numbers))


def _slice(worst: Measurement, usual: Mapping[str, Estimate], yardstick: str) -> Text:
    """The slice with the fewest same answers, which differs from the others."""
    subset = worst.subset or ""
    other = f", {yardstick} {rounded_percent(usual[subset].value)}" if subset in usual else ""
    return prose(
        "**{target}** has the fewest same answers where {slice}: {same}{other}.",
        target=worst.target,
        slice=subset,
        same=short_share(worst.estimate),
        other=other,
    )


def text_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """A text on which a target differs, and links to all of each."""
    counts = Counter(place for text in listed_texts(result) for place in text.lost)
    places = {card.name: place for place, card in enumerate(result.manifest.targets)}
    for answer in undecided_first(answers):
        if text := telling_text(answer.verdict, result):
            yield paragraph("**{target}** {text}", target=answer.verdict.target, text=text)
            break
    names = [answer.verdict.target for answer in answers if counts[places[answer.verdict.target]]]
    links = joined(
        (Span(f"{name} {counts[place]:,}", foreign=True, link=f"examples?lost={place}"),)
        for name in names
        for place in [places[name]]
    )
    if names:
        yield paragraph("All, changed texts too: {links}.", links=links)
    else:
        yield paragraph("None of the [[examples|texts below]].")


def to_do_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """Which targets to use, which to leave out, and the command that would decide the others."""
    yield from to_do(result, answers)
    if options := _further_options(result.manifest, answers):
        open_ = [each.verdict.target for each in answers if each.words.options]
        command = Preformatted(further_command(result.manifest, open_, options))
        yield Fold(prose("The whole command"), (command,))


def to_do(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Paragraph]:
    """The same in sentences, with the options alone."""
    names: dict[str, list[str]] = {}
    for answer in answers:
        names.setdefault(answer.verdict.decision, []).append(answer.verdict.target)
    confirm = "Confirm **{names}** on new texts." if answers[0].looks else "Use **{names}**."
    words = {"may replace": confirm, "may not": "Leave out **{names}**."}
    sentences = [
        prose(template, names=joined(names[decision], last=" and "))
        for decision, template in words.items()
        if decision in names
    ]
    if sentences:
        yield Paragraph(together(*sentences))
    for answer in answers:
        if answer.verdict.decision == "not shown":
            unknown = f"How many texts decide on {answer.verdict.target} is not known"
            numbers = _further_options(result.manifest, [answer])
            options = " ".join(f"--{name} {number}" for name, number in numbers.items())
            more = answer.words.more or unknown
            yield (
                paragraph("{more}: ``{options}``", more=more, options=options)
                if options and not answers[1:]
                else paragraph("{more}.", more=more)
            )
    same = (measured(result, answer.verdict.target, "iid_agreement") for answer in answers)
    differ = any(isinstance(share, Estimate) and share.value < 1 for share in same)
    if result.manifest.baseline is None and differ and set(names) != {"may not"}:
        yield paragraph(
            "To judge same answers and reactions, too, name a yardstick (``--baseline``): "
            "{reference} trained again with another seed, or in another precision.",
            reference=answers[0].reference,
        )


def _further_options(manifest: Manifest, answers: Sequence[WrittenVerdict]) -> dict[str, int]:
    """The greatest numbers of texts of open targets, and another seed; none without any."""
    numbers: dict[str, int] = {}
    options = " ".join(answer.words.options for answer in answers)
    for name, number in re.findall(r"--(\S+) (\d+)", options):
        numbers[name] = max(numbers.get(name, 0), int(number))
    return numbers and {**numbers, "seed": int(str(manifest.settings.get("seed", 0))) + 1}


def further_command(manifest: Manifest, targets: Sequence[str], numbers: Mapping[str, int]) -> str:
    """The command of a run on these targets alone, with other texts.

    With targets that are decided it would not be judged on the texts of this run, too.
    """
    replaced = {f"--{name}" for name in (*numbers, "run", "reference", "target", "group")}
    words = iter(shlex.split(manifest.command)[2:])
    kept = []
    for word in words:
        if word in replaced:
            next(words, None)
        elif word.partition("=")[0] not in replaced and word != "--both-directions":
            kept.append(word)
    specs = [card.spec for card in manifest.targets if card.name in targets]
    models = [
        f"--reference {shlex.quote(manifest.reference.spec)}",
        *(f"--target {shlex.quote(spec)}" for spec in specs),
    ]
    more = (f"--{name} {number}" for name, number in numbers.items())
    return " ".join(("scope audit", *models, *([shlex.join(kept)] if kept else []), *more))
