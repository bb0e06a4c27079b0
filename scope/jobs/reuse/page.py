"""The page of a test of reuse: the verdict on each reference, and what it is based on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Fold,
    Page,
    Passage,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.outcomes import answered_section
from reports.builders.run import asked, reproduce
from reports.prose import prose, written
from reports.wording import p_value, percent
from scope.jobs.reuse.models_page import by_reference, controls_section, evidence_section
from scope.jobs.reuse.verdict_page import brief_blocks, rate_of_one, verdict_section
from scope.records import InformativeItem, ReuseResult, Verdict

MOST_FINDINGS = 3
"""Number of questions shown at the top of the page."""

LONG_TEXT = 300
"""A text with more characters is folded behind its beginning."""

BEGINNING = 200
"""Number of characters shown of a folded text, and of a long answer."""


def page(result: ReuseResult) -> Page:
    """The whole report of a test of reuse; sections without content are left out."""
    verdicts, manifest = result.verdicts, result.manifest
    suspect, references = (
        ", ".join(card.name for card in manifest.models if card.role == role)
        for role in ("suspect", "reference")
    )
    hashes = [
        (f"questions, fixed in advance, for {verdict.reference}", verdict.probes)
        for verdict in verdicts
    ]
    # Perturbations that a search found are not answers to questions.
    searched = bool(manifest.capabilities) and "trials" in manifest.settings
    answered = result.outcomes and not searched
    sections = (
        verdict_section(verdicts),
        _findings(verdicts),
        evidence_section(verdicts),
        controls_section(result),
        _questions(verdicts),
        _looks(verdicts),
        _limits(verdicts),
        asked(manifest, capabilities="Questions"),
        answered_section(result.outcomes, title="What was answered") if answered else None,
        reproduce(manifest, result.clock, hashes),
    )
    return Page(
        title=f"SCoPE reuse: {suspect} against {references}",
        sections=tuple(
            replace(section, folded=section.anchor not in ("answer", "findings"))
            for section in sections
            if section is not None
        ),
        brief=tuple(brief_blocks(result)),
    )


def _findings(verdicts: Sequence[Verdict]) -> Section | None:
    """The strongest questions for reuse, and the strongest against it."""
    items = _for_reuse_first([item for verdict in verdicts for item in verdict.items])
    against = sorted((item for item in items if item.weight <= 0), key=lambda item: item.weight)[:1]
    chosen = [item for item in items if item.weight > 0][: MOST_FINDINGS - len(against)] + against
    title = "What speaks for reuse, and against"
    return Section(anchor="findings", title=title, blocks=(_cards(chosen),)) if chosen else None


def _questions(verdicts: Sequence[Verdict]) -> Section | None:
    """Every informative question, those for reuse first."""
    about = note(
        "The percentage is the probability that an independent model of the suspect’s skill gives "
        "the reference’s answer: the smaller, the stronger the evidence if the suspect gives it."
    )
    cards = by_reference(
        verdicts,
        lambda verdict: _cards(_for_reuse_first(verdict.items)) if verdict.items else None,
    )
    title = "Most informative questions"
    return Section(anchor="informative", title=title, blocks=(about, *cards)) if cards else None


def _for_reuse_first(items: Sequence[InformativeItem]) -> list[InformativeItem]:
    return sorted(items, key=lambda item: -item.weight)


def _cards(items: Sequence[InformativeItem]) -> Cards:
    return Cards(cards=tuple(map(_card, items)), narrow=True)


def _card(item: InformativeItem) -> Card:
    """A question with the answers, and how probable the reference's answer was."""
    title = (
        "**For reuse**: the reference’s answer, which {chance} of independent models give"
        if item.weight > 0
        else "**Against**: not the reference’s answer, which {chance} of independent models give"
    )
    answers = {"Right answer": item.gold, "Reference": item.reference, "Suspect": item.suspect}
    if item.reference == item.suspect:
        answers = {"Right answer": item.gold, "Both": item.reference}
    facts = [
        (prose(name), written(_beginning(text or "not known"))) for name, text in answers.items()
    ]
    chance = prose(f"{percent(item.expected)}\u00a0%")
    return Card(
        note=prose("{title} · question {id}", title=prose(title, chance=chance), id=item.id),
        blocks=(passage(item.text), Terms(tuple(facts), facts=True)),
    )


def _beginning(text: str) -> str:
    return text if len(text) <= LONG_TEXT else f"{' '.join(text.split())[:BEGINNING]}…"


def passage(text: str) -> Block:
    """A text, behind its beginning on one line if it is long.

    >>> passage("short")
    Passage(text=(Span(text='short', style='plain', foreign=True, link=''),))
    >>> len(passage("long " * 200).title[0].text)
    201
    """
    whole = Passage(written(text))
    return whole if len(text) <= LONG_TEXT else Fold(written(_beginning(text)), (whole,))


def _looks(verdicts: Sequence[Verdict]) -> Section | None:
    """The p-value after each batch of a sequential test."""
    if not any(verdict.looks for verdict in verdicts):
        return None
    rate = rate_of_one(verdicts)
    # A stored p-value has six decimals.
    table = Table.of(
        {
            **{"Reference": "name", "Questions asked": "number", "p": "number"},
            f"At most {rate:.3g}": "text",
        },
        (
            (
                *(verdict.reference, look.asked, p_value(look.p_value)),
                "yes" if look.p_value <= rate + 1e-6 else "no",
            )
            for verdict in verdicts
            for look in verdict.looks
        ),
        caption=prose(
            "The suspect was asked in batches, with anytime-valid p-values: stopping after any "
            "batch keeps the error rate"
        ),
        tall=True,
    )
    return Section(anchor="looks", title="Batches", blocks=(table,))


def _limits(verdicts: Sequence[Verdict]) -> Section:
    """How much reuse each verdict could detect, and the limits of the test."""

    def detectable(verdict: Verdict) -> Block:
        if verdict.detectable is None:
            none = (
                "No share of reused answers is known to be detectable: even a copy might be missed."
            )
            return paragraph(none)
        return paragraph(
            f"A suspect that took **{percent(verdict.detectable)}\u00a0%** of its answers from the "
            "reference would rank above the controls. A smaller share is not ruled out."
        )

    limits = [
        "It measures similarity, not its cause: which model was derived from which, how, or with "
        "what right. Training on the same data or from the same public base can make models "
        "similar without derivation: include such models among the controls.",
        "It assumes that an independent suspect is exchangeable with the controls, so that each "
        "rank is equally likely. Controls of very different skill, or related to the reference, "
        "violate this.",
    ]
    if verdicts:
        limits.append(
            "Of a hundred suspects that are exchangeable with the controls, at most about "
            f"{100 * verdicts[0].alpha:g} are called related. “Related” is not the probability of "
            "reuse. No error rate is stated for “not related”."
        )
    of_the_test = (heading("Limits of the test"), Bullets(tuple(map(prose, limits))))
    blocks = (*by_reference(verdicts, detectable), *of_the_test)
    return Section(anchor="limits", title="Limits", blocks=blocks)
