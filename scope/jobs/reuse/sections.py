"""The page of a test of reuse: the verdict on each reference, and all that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Column,
    Fold,
    Page,
    Passage,
    Row,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.outcomes import answered_section
from reports.builders.run import asked, reproduce
from reports.prose import Text, prose, written
from reports.wording import p_value, percent
from scope.jobs.reuse.controls_section import controls_section, evidence_section, headed
from scope.jobs.reuse.verdict_section import brief_blocks, rate_of_one, verdict_section
from scope.records import InformativeItem, ReuseResult, Verdict

OPEN = ("answer", "findings")
"""The sections that are not folded."""

MOST_FINDINGS = 3
"""Questions that are shown before the others."""

LONG_TEXT = 300
"""A text of more characters is folded behind its beginning."""

BEGINNING = 200
"""Number of characters shown of a folded text, and of a long answer."""


def page(result: ReuseResult) -> Page:
    """The whole report of a test of reuse; sections without content are left out."""
    verdicts, manifest = result.verdicts, result.manifest
    suspect = ", ".join(card.name for card in manifest.models if card.role == "suspect")
    references = ", ".join(card.name for card in manifest.models if card.role == "reference")
    hashes = [
        (f"questions, fixed in advance, for {verdict.reference}", verdict.probes)
        for verdict in verdicts
    ]
    searched = bool(manifest.capabilities) and "trials" in manifest.settings
    answered = result.outcomes and not searched
    sections = (
        verdict_section(verdicts),
        _findings(verdicts),
        evidence_section(verdicts),
        controls_section(verdicts),
        _questions(verdicts),
        _looks(verdicts),
        _limits(verdicts),
        asked(manifest, capabilities="Questions"),
        # Perturbations that a search found are not answers to questions.
        answered_section(result.outcomes, title="What was answered") if answered else None,
        reproduce(manifest, result.clock, hashes),
    )
    shown = (one for one in sections if one is not None)
    return Page(
        title=f"SCoPE reuse: {suspect} against {references}",
        sections=tuple(replace(one, folded=one.anchor not in OPEN) for one in shown),
        brief=tuple(brief_blocks(result)),
    )


def _findings(verdicts: Sequence[Verdict]) -> Section | None:
    """The strongest questions for reuse, and the strongest against it."""
    items = [item for verdict in verdicts for item in verdict.items]
    for_reuse = sorted((one for one in items if one.weight > 0), key=lambda one: -one.weight)
    against = sorted((one for one in items if one.weight <= 0), key=lambda one: one.weight)[:1]
    chosen = (*for_reuse[: MOST_FINDINGS - len(against)], *against)
    if not chosen:
        return None
    return Section(
        anchor="findings",
        title="What speaks for reuse, and against",
        blocks=(Cards(cards=tuple(map(_card, chosen)), narrow=True),),
    )


def _card(item: InformativeItem) -> Card:
    """A question with the answers, and how probable the reference's answer was."""
    chance = prose(f"{percent(item.expected)}\u00a0%")
    if item.weight > 0:
        title = "**For reuse**: the reference’s answer, which {chance} of independent models give"
    else:
        title = "**Against**: not the reference’s answer, which {chance} of independent models give"
    same = item.reference == item.suspect
    answers = [
        ("Right answer", item.gold),
        ("Both" if same else "Reference", item.reference),
    ]
    if not same:
        answers.append(("Suspect", item.suspect))
    facts = Terms(
        tuple((prose(name), written(_beginning(text or "not known"))) for name, text in answers),
        facts=True,
    )
    about = prose("{title} · question {id}", title=prose(title, chance=chance), id=item.id)
    return Card(note=about, blocks=(passage(item.text), facts))


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
    if len(text) <= LONG_TEXT:
        return whole
    return Fold(written(_beginning(text)), (whole,))


def _questions(verdicts: Sequence[Verdict]) -> Section | None:
    """Every informative question, those for reuse first."""
    found = [verdict for verdict in verdicts if verdict.items]
    if not found:
        return None
    blocks: list[Block] = [
        note(
            "The percentage is the probability that an independent model of the suspect’s skill "
            "gives the reference’s answer: the smaller, the stronger the evidence if the suspect "
            "gives it."
        )
    ]
    for verdict in found:
        items = sorted(verdict.items, key=lambda one: -one.weight)
        blocks += (*headed(verdict, verdicts), Cards(cards=tuple(map(_card, items)), narrow=True))
    title = "Most informative questions"
    return Section(anchor="informative", title=title, blocks=tuple(blocks))


def _looks(verdicts: Sequence[Verdict]) -> Section | None:
    """The p-value after each batch of a sequential test."""
    looks = [(one.reference, look) for one in verdicts for look in one.looks]
    if not looks:
        return None
    rate = rate_of_one(verdicts)
    # A stored p-value has six decimals.
    rows = (
        (name, look.asked, p_value(look.p_value), "yes" if look.p_value <= rate + 1e-6 else "no")
        for name, look in looks
    )
    table = Table(
        columns=(
            Column("Reference", "name"),
            Column("Questions asked", "number"),
            Column("p", "number"),
            Column(prose("At most {rate}", rate=f"{rate:.3g}")),
        ),
        rows=tuple(Row(cells=row) for row in rows),
        caption=prose(
            "The suspect was asked in batches, with anytime-valid p-values: stopping after any "
            "batch keeps the error rate"
        ),
        tall=True,
    )
    return Section(anchor="looks", title="Batches", blocks=(table,))


def _limits(verdicts: Sequence[Verdict]) -> Section:
    """How much reuse each verdict could detect, and the limits of the test."""
    blocks: list[Block] = []
    for verdict in verdicts:
        blocks += (*headed(verdict, verdicts), paragraph(_detectable(verdict)))
    blocks += (heading("Limits of the test"), Bullets(tuple(_limits_of_the_test(verdicts))))
    return Section(anchor="limits", title="Limits", blocks=tuple(blocks))


def _detectable(verdict: Verdict) -> str:
    if verdict.detectable is None:
        return "No share of reused answers is known to be detectable: even a copy might be missed."
    return (
        f"A suspect that took **{percent(verdict.detectable)}\u00a0%** of its answers from the "
        "reference would rank above the controls. A smaller share is not ruled out."
    )


def _limits_of_the_test(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    yield prose(
        "It measures similarity, not its cause: which model was derived from which, how, or with "
        "what right. Training on the same data or from the same public base can make models "
        "similar without derivation: include such models among the controls."
    )
    yield prose(
        "It assumes that an independent suspect is exchangeable with the controls, so that each "
        "rank is equally likely. Controls of very different skill, or related to the reference, "
        "violate this."
    )
    if verdicts:
        yield prose(
            "Of a hundred suspects that are exchangeable with the controls, at most about "
            f"{100 * verdicts[0].alpha:g} are called related. “Related” is not the probability of "
            "reuse. No error rate is stated for “not related”."
        )
