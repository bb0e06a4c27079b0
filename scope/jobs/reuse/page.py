"""The page of a test of reuse: the verdict on each reference, and what it is based on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import Block, Bullets, Card, Cards, Fold, Page, Passage, Section, Terms, note
from reports.builders.outcomes import answered_section
from reports.builders.run import asked, folded, reproduce
from reports.prose import prose, written
from reports.wording import percent
from scope.jobs.reuse.models_page import by_reference, controls_section, evidence_section
from scope.jobs.reuse.verdict_page import brief_blocks, verdict_section
from scope.records import InformativeItem, ReuseResult, Verdict

MOST_FOR, MOST_AGAINST = 2, 1
"""Number of questions that speak for reuse, and against it, shown at once; others are folded."""

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
    fixed = "questions, fixed in advance, for"
    hashes = [(f"{fixed} {verdict.reference}", verdict.probes) for verdict in verdicts]
    # Perturbations that a search found are not answers to questions.
    searched = bool(manifest.capabilities) and "trials" in manifest.settings
    answered = result.outcomes and not searched
    return Page(
        title=f"SCoPE reuse: {suspect} against {references}",
        sections=(
            verdict_section(verdicts),
            *_questions_section(verdicts),
            *folded(
                evidence_section(verdicts),
                controls_section(result),
                _limits(verdicts[0].alpha),
                asked(manifest, capabilities="Questions"),
                answered_section(result.outcomes, title="What was answered") if answered else None,
                reproduce(manifest, result.clock, hashes),
            ),
        ),
        brief=tuple(brief_blocks(result)),
    )


def _questions_section(verdicts: Sequence[Verdict]) -> Iterator[Section]:
    """The strongest questions for reuse, and the strongest against it."""
    about = note(
        "The percentage is the probability that an independent model of the suspect’s skill gives "
        "the reference’s answer: the smaller, the stronger the evidence if the suspect gives it."
    )
    if cards := tuple(by_reference(verdicts, _questions)):
        title = "What speaks for reuse, and against"
        yield Section(anchor="findings", title=title, blocks=(*cards, about))


def _questions(verdict: Verdict) -> Iterator[Block]:
    """The strongest questions of either side, then, folded, the others."""
    for_reuse, against = (
        tuple(_card(item) for item in verdict.items if (item.weight > 0) == side)
        for side in (True, False)
    )
    if strongest := (*for_reuse[:MOST_FOR], *against[:MOST_AGAINST]):
        yield Cards(cards=strongest, narrow=True)
    if others := (*for_reuse[MOST_FOR:], *against[MOST_AGAINST:]):
        title = prose("Other questions: {n}", n=len(others))
        yield Fold(title, (Cards(cards=others, narrow=True),))


def _card(item: InformativeItem) -> Card:
    """A question with the answers, and how probable the reference's answer was."""
    claim = "**For reuse**: the" if item.weight > 0 else "**Against**: not the"
    share = f"{percent(item.expected)}\u00a0%"
    title = f"{claim} reference’s answer, given by {share} of independent models · question {{id}}"
    answers = {"Right answer": item.gold, "Reference": item.reference, "Suspect": item.suspect}
    facts = (
        (prose(name), written(_beginning(text or "not known"))) for name, text in answers.items()
    )
    return Card(
        note=prose(title, id=item.id),
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


def _limits(alpha: float) -> Section:
    limits = (
        "It measures similarity, not its cause: which model was derived from which, how, or with "
        "what right. Training on the same data or from the same public base can make models "
        "similar without derivation: include such models among the controls.",
        "It assumes that an independent suspect is exchangeable with the controls, so that each "
        "rank is equally likely. Controls of very different skill, or related to the reference, "
        "violate this.",
        "Of a hundred suspects that are exchangeable with the controls, at most about "
        f"{100 * alpha:g} are called related. “Related” is not the probability of reuse. No error "
        "rate is stated for “not related”.",
    )
    bullets = Bullets(tuple(map(prose, limits)))
    heading = "Limits of the test"
    return Section(anchor="limits", title="Limits", heading=heading, blocks=(bullets,))
