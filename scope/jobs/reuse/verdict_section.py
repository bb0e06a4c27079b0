"""The first section of a test of reuse: the verdict on each reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Fold,
    Heading,
    Paragraph,
    Section,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.prose import Span, Text, joined, prose, written
from reports.wording import percent
from scope.records import Decision, Verdict

MOST_WARNINGS = 5
"""Warnings shown at once; the others are folded."""

_GLYPHS: Mapping[Decision, str] = MappingProxyType(
    {"related": "◆", "not related": "○", "undecided": "?"}
)
"""The mark of each decision, so that colour is never the only sign."""

FRAMES: Mapping[Decision, Literal["related", "not-related", "undecided"]] = MappingProxyType(
    {"related": "related", "not related": "not-related", "undecided": "undecided"}
)
"""The kind of frame around a verdict."""


def verdict_section(verdicts: Sequence[Verdict], facts: Sequence[Terms], suspect: str) -> Section:
    """The verdicts at a glance; ``facts`` are those of `verdict_facts`."""
    several = len(verdicts) > 1
    both = zip(verdicts, facts, strict=True)
    boxes: list[Block] = [_verdict(one, terms, several=several) for one, terms in both]
    if not boxes:
        boxes.append(paragraph("No verdict was reached."))
    if several:
        boxes += [Heading(prose("The set of sources")), *sources(verdicts)]
    return Section(
        anchor="answer",
        title="Verdict",
        blocks=(
            *boxes,
            note(
                "Null hypothesis: the suspect, **{suspect}**, is no more similar to the "
                "reference than independent models of its skill are. The p-value is the greater "
                "of two. By rank: the share of models, including the suspect, that are at least "
                "as similar to the reference. By agreement: the probability of at least this "
                "agreement with the reference for a model of the suspect’s skill; controls that "
                "answer alike count as fewer. The smaller the p-value, the less skill alone "
                "explains the similarity.",
                suspect=suspect,
            ),
        ),
    )


def _verdict(verdict: Verdict, facts: Terms, *, several: bool) -> Callout:
    mark = f"**{_GLYPHS[verdict.decision]} {verdict.decision}**"
    compared = prose(" compared with **{reference}**", reference=verdict.reference)
    return Callout(
        FRAMES[verdict.decision],
        (
            Paragraph((*prose(mark), *(compared if several else ()))),
            Paragraph(written(verdict.sentence), lead=True),
            facts,
            *_warnings(verdict.warnings),
        ),
    )


def _warnings(warnings: Sequence[str]) -> Iterator[Block]:
    if warnings:
        first, others = warnings[:MOST_WARNINGS], warnings[MOST_WARNINGS:]
        blocks: list[Block] = [paragraph("**⚠ Warning**"), _listed(first)]
        if others:
            blocks.append(Fold(prose("{more} more", more=len(others)), (_listed(others),)))
        yield Callout("warning", tuple(blocks))


def _listed(warnings: Sequence[str]) -> Bullets:
    return Bullets(tuple(map(written, warnings)))


def sources(verdicts: Sequence[Verdict]) -> Iterator[Paragraph]:
    """The references by decision, the related ones first; nothing with a single reference."""
    found: dict[Decision, Text] = {
        decision: joined(
            [
                (Span(one.reference, "strong", foreign=True),)
                for one in verdicts
                if one.decision == decision
            ],
            last=" and ",
        )
        for decision in _GLYPHS
    }
    if len(verdicts) < 2:
        return
    if found["related"]:
        yield paragraph(
            "The suspect is found **related** to {references}.", references=found["related"]
        )
    else:
        yield paragraph("The suspect is found **related to none** of the references.")
    if names := found["not related"]:
        yield paragraph("It is found **not related** to {references}.", references=names)
    if names := found["undecided"]:
        yield paragraph(
            "It is **undecided** whether it is related to {references}.", references=names
        )


def verdict_facts(verdict: Verdict, *, several: bool) -> Terms:
    """The numbers of a verdict; with several references, the corrected p-value as well."""
    pairs = [(prose("p-value of the verdict"), _p_values(verdict, several=several))]
    if verdict.assume_no_label_training:
        assumed = prose("the suspect was not trained on answers of the reference")
        pairs.append((prose("Assumed"), assumed))
    pairs.append((prose("Controls"), _controls(verdict)))
    once = verdict.queries < verdict.shared
    questions = prose(
        "{shared} answered by both; the suspect was asked {queries} times"
        f"{': questions with the same words are asked once' if once else ''}",
        shared=verdict.shared,
        queries=verdict.queries,
    )
    pairs.append((prose("Questions"), questions))
    return Terms(tuple(pairs), facts=True)


def _p_values(verdict: Verdict, *, several: bool) -> Text:
    """The p-value that decides, beside alpha, and the two that it is the greater of."""
    p, adjusted = (_beside_alpha(verdict, one) for one in (verdict.p_value, verdict.p_adjusted))
    corrected = f"; after Holm’s correction over the references {adjusted}" if several else ""
    parts = ""
    if verdict.agreement is not None and verdict.p_rank is not None:
        rank, agreement = map(verdict.written, (verdict.p_rank, verdict.agreement.p_value))
        parts = f"; the greater of {rank} by rank among the controls and {agreement} by agreement"
    return prose(f"{p}{corrected} (α\u00a0=\u00a0{verdict.alpha:g}){parts}")


def _beside_alpha(verdict: Verdict, p_value: float | None) -> str:
    return "none" if p_value is None else verdict.written(p_value)


def _controls(verdict: Verdict) -> Text:
    """How many controls there are, and how many of them count."""
    ranked = {standing.model for standing in verdict.standings}
    skipped = sum(check.model not in ranked for check in verdict.controls)
    agreement = verdict.agreement
    least = len(ranked - {verdict.suspect}) + 1
    bound = f", so that no p-value by rank is below 1/{least}" if least > 1 else ""
    worth = f"{agreement.independent:.1f} independent ones" if agreement else ""
    return prose(
        f"{{controls}}{bound}; at least {{needed}} are needed for this α; {{comparable}} are "
        "comparable with the suspect (at least {comparable_needed} are needed)"
        f"{f'; because some answer alike, they count as {worth}' if worth else ''}{{skipped}}",
        controls=len(verdict.controls),
        needed=verdict.controls_needed,
        comparable=verdict.comparable,
        comparable_needed=verdict.comparable_needed,
        skipped=_skipped(skipped) if skipped else (),
    )


def _skipped(count: int) -> Text:
    one = count == 1
    return prose(
        f"; {{count}} {'has' if one else 'have'} no usable answers, or "
        f"{'guesses' if one else 'guess'}, and no rank",
        count=count,
    )


def limits_section(verdicts: Sequence[Verdict]) -> Section:
    """The limits of every verdict, and what could change it."""
    return Section(
        anchor="limits",
        title="Limits",
        heading="What would change the verdict, and its limits",
        blocks=(
            *(block for one in verdicts for block in _limits_of(one, several=len(verdicts) > 1)),
            heading("Limits of the test", level=4),
            Bullets(tuple(_limits_of_the_test(verdicts))),
        ),
    )


def _limits_of(verdict: Verdict, *, several: bool) -> Iterator[Block]:
    if several:
        yield heading(
            f"Compared with {{reference}}: {verdict.decision}", reference=verdict.reference
        )
    for title, lines in (
        ("Why it is not clearer", verdict.reasons),
        ("What would change it", verdict.changes),
    ):
        if lines:
            yield heading(title, level=4)
            yield Bullets(tuple(map(written, lines)))
    yield heading("How much reuse is detectable", level=4)
    yield _detectable(verdict)


def _detectable(verdict: Verdict) -> Paragraph:
    if verdict.detectable is None:
        return paragraph(
            "No share of reused answers is known to be detectable by this test: it might miss "
            "even a copy of the reference."
        )
    meant = (
        "“Not related” means no more than this, and assumes that the suspect was not trained on "
        "answers of the reference: reuse of a smaller share is not ruled out."
    )
    cleared = verdict.decision == "not related"
    return paragraph(
        f"A suspect that took **{percent(verdict.detectable)}\u00a0%** of its answers from the "
        "reference would rank above the controls. "
        f"{meant if cleared else 'The test may miss a smaller share.'}"
    )


def _limits_of_the_test(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    yield prose(
        "It measures similarity: whether the suspect’s answers are more similar to the "
        "reference’s than those of independent models of its skill. It does not show the cause "
        "of the similarity: which model was derived from which, how, or with what right."
    )
    yield prose(
        "Training on the same data, or from the same public base model, can make models similar "
        "without derivation. Only controls with this data or base show how much of the "
        "similarity they explain: include such models among the controls."
    )
    yield prose(
        "It assumes that a suspect that is independent of the reference is exchangeable with the "
        "controls, so that each rank is equally likely. Controls of very different skill, or "
        "related to the reference, violate this assumption."
    )
    if verdicts:
        together = "all references of this suspect together"
        yield prose(
            f"The error rate holds for {together if len(verdicts) > 1 else 'this test by itself'}: "
            "of a hundred suspects that are exchangeable with the controls, at most about "
            f"{100 * verdicts[0].alpha:g} are called related. With many suspects, expect such "
            "errors among them. “Related” is not the probability of reuse. No error rate is "
            "stated for “not related”."
        )
    yield prose("“Undecided” is a verdict neither for nor against the suspect.")
