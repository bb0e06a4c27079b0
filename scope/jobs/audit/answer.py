"""The answer of an audit: the verdict on each target, where targets differ, and what to do."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import Block, Column, Fold, Paragraph, Preformatted, Table, note, paragraph
from reports.estimates import SIGNS, by_luck, three_parts
from reports.prose import Span, Text, joined, prose, together, written
from reports.wording import rounded_percent, short_share
from scope.jobs.audit.assessed import not_assessed
from scope.jobs.audit.examples import listed_texts, telling_text
from scope.jobs.audit.limits import WrittenVerdict, capabilities_table, in_order, limits_table
from scope.jobs.audit.verdict_words import carrying, finding, in_some, in_words, measured, whole
from scope.records import AuditResult, Estimate, Manifest, ReplacementDecision

_CHANCE, _CONFIDENCE = 0.05, "reference's confidence "

_ANSWERS = {"agreement", "accuracy", "recovery", "recall"}
"""What is measured on unchanged texts."""


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
    card, few = result.manifest.baseline, not_assessed(result, "base_rate")
    words = "Yardstick __{name}__: as close is enough. " * (card is not None)
    name = {"name": card.name} if card else {}
    standard = prose(words + "Green: allowed, red: too far.", **name)
    texts = prose(
        "{texts} texts, {changed} also changed ({by}).",
        texts=result.manifest.data[0].used,
        changed=len({each.perturbation.example_id for each in result.candidates}),
        by=joined(
            f"{each.name}: too few to judge" if each.name in few else each.name
            for each in result.manifest.capabilities
        ),
    )
    return together(texts, standard, how_sure(answers))


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
    ordered = in_order(answers)
    parts = three_parts(
        [*where_blocks(result, ordered)], [*text_blocks(result, ordered)], [*to_do(result, ordered)]
    )
    table = limits_table(ordered, result)
    yield from (table, parts) if not ordered[5:] else (parts, table)
    several = capabilities_table(ordered)
    states = {end.state for each in ordered for end in each.verdict.endpoints}
    target = ordered[0].verdict.target if not ordered[1:] else "the target"
    notes = [line for answer in ordered for line in answer.words.notes]
    yield Fold(
        prose("What the limits mean" + (", and each capability by itself" if several else "")),
        (
            note(_MEANINGS, target=target, reference=result.manifest.reference.name),
            *([note(_STAR)] if "fails alone" in states else []),
            *(note("{line}.", line=line) for line in dict.fromkeys(notes)),
            *([several] if several else []),
        ),
    )


def where_blocks(result: AuditResult, answers: Sequence[WrittenVerdict]) -> Iterator[Block]:
    """The reaction that decides; same answers by the reference's confidence, where these do."""
    names = []
    for answer in answers:
        verdict, name = answer.verdict, answer.verdict.target
        same = measured(result, name, "iid_agreement")
        ends = whole(carrying(verdict)) if verdict.decision != "may replace" else []
        if ends and not _ANSWERS & {end.measure for end in ends}:
            reaction = finding(ends[0], verdict, result)
            share = rounded_percent(same.value) if isinstance(same, Estimate) else "–"
            words = "**{name}**: {why}. On unchanged texts {share} of the answers are the same."
            yield paragraph(words, name=name, why=reaction, share=share)
        elif isinstance(same, Estimate) and same.value == 1:
            yield paragraph("**{name}**: nowhere in these {n} texts.", name=name, n=same.n)
        elif verdict.decision != "may replace" or not answers[1:]:
            names.append(name)
    if names:
        yield from _by_confidence(result, names)


def _by_confidence(result: AuditResult, names: Sequence[str]) -> Iterator[Block]:
    """Same answers where the reference is unsure and where it is sure, and in the worst slice."""
    reference, card = result.manifest.reference.name, result.manifest.baseline
    same: dict[str, dict[str, Estimate]] = {}
    for row in result.measurements:
        if row.metric == "iid_agreement" and row.subset and isinstance(row.estimate, Estimate):
            same.setdefault(row.target, {})[row.subset] = row.estimate
    bands = [band for band in same.get(names[0], {}) if band.startswith(_CONFIDENCE)]
    bands = [*bands[:1], *bands[1:][-1:]]
    heads = (band.removeprefix(_CONFIDENCE) for band in bands)
    rows = [(prose("{name}", name=name), same.get(name, {})) for name in names]
    rows += [((Span(card.name, "pale", foreign=True),), same.get(card.name, {}))] if card else []
    if bands:
        yield Table.with_columns(
            (Column("", "name"), *(Column(head) for head in heads)),
            ((name, *(_share(shares.get(band)) for band in bands)) for name, shares in rows),
            caption=prose("Same answers, by {reference}’s confidence", reference=reference),
        )
    for worst in (test.worst for test in result.slice_tests if test.p_adjusted < _CHANCE):
        part = worst.subset or ""
        if (worst.metric, [worst.target]) == ("iid_agreement", names) and _CONFIDENCE not in part:
            words, share = (
                "{a} and {b} agree least where {part}: {share}.",
                short_share(worst.estimate),
            )
            yield paragraph(words, a=worst.target, b=reference, part=part, share=share)


def _share(estimate: Estimate | None) -> Text:
    return (Span(f"{100 * estimate.value:.0f}\u00a0%", "share"),) if estimate else (Span("–"),)


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
        yield paragraph("Texts that differ, changed or not: {links}.", links=joined(links))
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
    words = {"may replace": confirm, "may not": "Leave out **{names}**."}
    sentences = [
        prose(template, names=joined(names[decision], last=" and "))
        for decision, template in words.items()
        if decision in names
    ]
    if sentences:
        yield Paragraph(together(*sentences))
    open_ = [answer for answer in answers if answer.verdict.decision == "not shown"]
    for answer in open_:
        more = answer.words.more or "How many texts decide is not known"
        yield paragraph("**{name}**: {more}.", name=answer.verdict.target, more=more)
    if numbers := _further_options(result.manifest, open_):
        targets = [answer.verdict.target for answer in open_ if answer.words.options]
        options = " ".join(f"--{name} {number}" for name, number in numbers.items())
        yield Preformatted(options if brief else further_command(result.manifest, targets, numbers))
    same = (measured(result, answer.verdict.target, "iid_agreement") for answer in answers)
    differ = any(isinstance(share, Estimate) and share.value < 1 for share in same)
    if result.manifest.baseline is None and differ and {*names} != {"may not"}:
        yield paragraph(
            "To judge same answers and reactions, too, add ``--baseline``: {reference} trained "
            "again, or in another precision.",
            reference=answers[0].reference,
        )


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
