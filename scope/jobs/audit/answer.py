"""The answer of an audit: the verdict on each target, where targets differ, and what to do."""

from __future__ import annotations

import re
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
from reports.builders.answer import three_parts
from reports.prose import Span, Text, joined, prose, together
from reports.wording import in_percent
from scope.jobs.audit.examples import listed_texts
from scope.jobs.audit.limits import SIGNS, Answered, capabilities_table, in_order, limits_table
from scope.jobs.audit.telling import telling_text
from scope.jobs.audit.verdict_words import WITHOUT_BASELINE, in_words, measured
from scope.jobs.audit.where import (
    FEWEST,
    Slice,
    confidence_of,
    same_answers,
    unsure_below,
    worst_slice,
)
from scope.records import AuditResult, Estimate, Manifest, ReplacementDecision, Undefined

MOST_SHOWN, MOST_ABOVE = 2, 5
"""Most targets beside where they differ and with a text, and in a table above these."""


def answered(result: AuditResult) -> Iterator[Answered]:
    """The verdict on each target, if any is reached."""
    manifest, runs = result.manifest, (result.earlier_looks, result.combined_with)
    names = (manifest.reference.name, manifest.baseline.name if manifest.baseline else "")
    for verdict in result.verdicts:
        yield Answered(verdict, in_words(verdict, result), *names, *runs)


_COUNTED: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": "yes", "may not": "no", "not shown": "too early to say"}
)


def heading_of(answers: Sequence[Answered]) -> Text:
    """The verdict on one target, or how many of several may replace the reference."""
    reference = answers[0].reference
    if len(answers) == 1:
        sign = SIGNS[answers[0].verdict.decision]
        return prose("{words}", words=f"{sign} {answers[0].words.opening}")
    counts = Counter(answer.verdict.decision for answer in answers)
    parts = ", ".join(f"{counts[name]} {word}" for name, word in _COUNTED.items() if counts[name])
    return prose(f"May one of these replace {{reference}}? {parts}", reference=reference)


def about(result: AuditResult, answers: Sequence[Answered]) -> Text:
    """The texts, the yardstick, what green means, and how sure the verdicts are."""
    card = result.manifest.baseline
    standard = prose("No yardstick: same answers and reactions are not judged.")
    if card is not None:
        standard = prose(
            "Yardstick: __{name}__, which counts as close enough.",
            name=card.name,
        )
    texts = prose(
        "{texts} texts, {changed} also changed ({by}).",
        texts=result.manifest.data[0].used,
        changed=len({each.perturbation.example_id for each in result.candidates}),
        by=joined(each.name for each in result.manifest.capabilities),
    )
    green = prose("Green is within the limit.")
    return together(texts, standard, green, how_sure(answers))


def how_sure(answers: Sequence[Answered]) -> Text:
    """How often such verdicts are wrong, or why that is not known."""
    if answers[0].looks:
        return prose(
            "**Sure?** Not known: an earlier run ({runs}) used these texts with another plan. "
            "Confirm the verdict on texts that no run has used.",
            runs=", ".join(answers[0].looks),
        )
    decided = {answer.verdict.decision for answer in answers}
    often = "3 of 100 pairs of runs" if answers[0].combined else "1 run of 40"
    if "may replace" in decided:
        return prose(f"**Sure?** A model just beyond a limit gets such a ✓ in about {often}.")
    if "may not" in decided:
        return prose(f"**Sure?** A model just within its limits gets such a ✗ in about {often}.")
    return prose("**Sure?** Not yet.")


def verdict_sentences(verdicts: Iterable[Answered], *, brief: bool = False) -> Iterator[Text]:
    """One for each target; none where no verdict is reached. The same reason is given once.

    If ``brief``, the verdict is its sign.
    """
    targets: dict[str, str] = {}
    for answer in verdicts:
        target, why = answer.verdict.target, answer.words.why
        first = targets.setdefault(why, target)
        yield prose(
            "**{sign} {head}**: {why}.",
            sign=SIGNS[answer.verdict.decision],
            head=target if brief else answer.words.opening,
            why=why if first == target else f"as for {first}",
        )


def exploratory(looks: Sequence[str]) -> Iterator[Paragraph]:
    """A note on earlier runs on the same texts; nothing without any."""
    if looks:
        yield paragraph(
            "**Exploratory**: {runs} used these texts with another plan before. Each look makes an "
            "error more likely than one plan says; texts that no run has used give the stated "
            "rates.",
            runs=", ".join(looks),
        )


_MEANINGS = (
    "Same reaction: of two random changes of a text, the same one moves both models’ answers more; "
    "a coin does so in 50 of 100 pairs. Strength of reaction: how far {target} moves where "
    "{reference} moves, 1 for as far."
)


def answer_blocks(result: AuditResult, answers: Sequence[Answered]) -> Iterator[Block]:
    """The table of limits, then where, which texts, and what to do; many targets come last."""
    ordered = in_order(answers)
    parts = three_parts(
        [*where_blocks(result, ordered)],
        [*text_blocks(result, ordered)],
        [*to_do_blocks(result, ordered)],
    )
    table: tuple[Block, ...] = (limits_table(ordered, result),)
    if any(end.state == "fails alone" for each in ordered for end in each.verdict.endpoints):
        table += (note("* Outside by itself, not once corrected for the other limits: no ✗."),)
    yield from (*table, parts) if len(ordered) <= MOST_ABOVE else (parts, *table)
    several = capabilities_table(ordered) if ordered[1:] else None
    target = ordered[0].verdict.target if not ordered[1:] else "the target"
    notes = [line for answer in ordered for line in answer.words.notes]
    notes += [answer.words.also for answer in ordered if answer.words.also]
    yield Fold(
        prose("What the limits mean" + (", and each capability by itself" if several else "")),
        (
            *(note("{line}.", line=line) for line in dict.fromkeys(notes)),
            note(_MEANINGS, target=target, reference=result.manifest.reference.name),
            *([note(WITHOUT_BASELINE)] if result.manifest.baseline is None else []),
            *([several] if several else []),
        ),
    )


def undecided_first(answers: Sequence[Answered]) -> list[Answered]:
    """Those to look at, at most two: what is open, then *may not*, then *may replace*."""
    order = ("not shown", "may not", "may replace")
    return sorted(answers, key=lambda answer: order.index(answer.verdict.decision))[:MOST_SHOWN]


def where_blocks(result: AuditResult, answers: Sequence[Answered]) -> Iterator[Block]:
    """Same answers by the reference's confidence, and each target's worst slice."""
    manifest, texts = result.manifest, result.examples
    if len(texts) < 2 * FEWEST:
        yield paragraph("{n} texts are too few to say where.", n=len(texts))
        return
    confidence = confidence_of(texts)
    cut = unsure_below(confidence)
    places = {card.name: place for place, card in enumerate(manifest.targets)}
    shown = [answer.verdict.target for answer in undecided_first(answers)]
    yardstick = manifest.baseline.name if manifest.baseline else None
    if cut is not None:
        unsure = confidence <= cut
        rows = []
        for name in (*shown, *([yardstick] if yardstick else [])):
            same = same_answers(texts, places[name])
            shares = (100 * float(same[part].mean()) for part in (unsure, ~unsure))
            cells = ((Span(f"{share:.0f}\u00a0%", "share"),) for share in shares)
            title = Span(name, "pale" if name == yardstick else "plain", foreign=True)
            rows.append(((title,), *cells))
        heads = (f"≤ {cut:g} ({unsure.sum():,} texts)", f"above ({(~unsure).sum():,})")
        yield Table.with_columns(
            (Column("", "name"), *(Column(head) for head in heads)),
            rows,
            caption=prose(
                "Same answer where {reference}’s confidence is", reference=manifest.reference.name
            ),
        )
    labels = manifest.reference.labels
    usual = places[yardstick] if yardstick else None
    worst = ((name, worst_slice(texts, labels, places[name], usual)) for name in shown)
    told = cut is not None  # the table shows what the confidence does
    sentences = [
        _where(name, slice_, yardstick)
        for name, slice_ in worst
        if not told or (slice_ is not None and "confidence" not in slice_.name)
    ]
    yield from map(Paragraph, sentences[:MOST_SHOWN])


def _where(target: str, worst: Slice | None, yardstick: str | None) -> Text:
    """The slice in which a target differs most, or that there is none."""
    if worst is None:
        other = prose("{name} does", name=yardstick) if yardstick else prose("elsewhere")
        return prose(
            "**{target}** differs in no slice more than {other}.", target=target, other=other
        )
    same, expected = (f"{in_percent(share)[0]}\u00a0%" for share in (worst.same, worst.expected))
    return prose(
        "**{target}** differs most on {slice}: {same} the same ({other}: {expected}; {n} texts)"
        "{may}.",
        target=target,
        slice=worst.name,
        same=same,
        other=yardstick or "other texts of like confidence",
        expected=expected,
        n=worst.texts,
        may=""
        if worst.p_value < 0.05
        else f", the worst of {worst.slices} slices, which may be chance",
    )


def text_blocks(result: AuditResult, answers: Sequence[Answered]) -> Iterator[Block]:
    """A text on which each target differs, with a link to all of them."""
    counts = Counter(place for text in listed_texts(result) for place in text.lost)
    places = {card.name: place for place, card in enumerate(result.manifest.targets)}
    for answer in undecided_first(answers):
        target = answer.verdict.target
        text, place = telling_text(answer.verdict, result), places[target]
        if text is not None:
            link = Span(f"all {counts[place]:,}", link=examples_of(place))
            yield paragraph(
                "**{target}** {text} {link}",
                target=target,
                text=text,
                link=(link,) if counts[place] else (),
            )
        elif not counts[place]:
            yield paragraph(
                "**{target}** differs on none of the [[examples|texts below]].", target=target
            )


def examples_of(place: int) -> str:
    """The address of the examples on which a target differs."""
    return f"examples?lost={place}"


def to_do_blocks(result: AuditResult, answers: Sequence[Answered]) -> Iterator[Block]:
    """Which targets to use, which to leave out, and the command that would decide the others."""
    yield from to_do(result, answers)
    if options := _further_options(result.manifest, answers):
        command = Preformatted(further_command(result.manifest, options))
        yield Fold(prose("The whole command"), (command,)) if answers[1:] else command


def to_do(result: AuditResult, answers: Sequence[Answered]) -> Iterator[Paragraph]:
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
                if options
                else (paragraph("{more}.", more=more))
            )


def _further_options(manifest: Manifest, answers: Sequence[Answered]) -> dict[str, int]:
    """The greatest numbers of texts of open targets, and another seed; none without any."""
    numbers: dict[str, int] = {}
    options = " ".join(answer.words.options for answer in answers)
    for name, number in re.findall(r"--(\S+) (\d+)", options):
        numbers[name] = max(numbers.get(name, 0), int(number))
    return numbers and {**numbers, "seed": int(str(manifest.settings.get("seed", 0))) + 1}


def further_command(manifest: Manifest, numbers: Mapping[str, int]) -> str:
    """The command of a run with other numbers of texts, and another seed."""
    replaced = "|".join((*numbers, "run"))
    command = re.sub(rf" --(?:{replaced})[ =](?:'[^']*'|\S+)", "", manifest.command)
    return " ".join((command, *(f"--{name} {number}" for name, number in numbers.items())))


def estimates_of_models(
    result: AuditResult, metric: str, capability: str | None
) -> dict[str, Estimate | Undefined]:
    """Each model's metric on all texts of a capability, or on the unchanged texts."""
    names = (card.name for card in result.manifest.targets)
    numbers = {name: measured(result, name, metric, capability) for name in names}
    return {name: number for name, number in numbers.items() if number is not None}
