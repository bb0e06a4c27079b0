"""The page of a test of reuse: the verdict on each reference, and all that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Callout,
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
    folded,
    heading,
    note,
    paragraph,
)
from reports.builders.asked import asked
from reports.builders.estimates import CLEAN, every_estimate, numbers_section
from reports.builders.outcomes import answered_section, data_lines
from reports.builders.reproduce import reproduce, run_lines
from reports.prose import Span, Text, joined, prose, written
from reports.wording import Cell, number, p_value, percent
from scope.jobs.reuse.similarity_sections import (
    OPEN_ROWS,
    P_ALONE,
    evidence_section,
    evidence_table,
    headed,
    paired_sentence,
    rate_of_one,
    standings_section,
    suspect_named,
)
from scope.jobs.reuse.verdict_section import (
    FRAMES,
    MOST_WARNINGS,
    limits_section,
    sources,
    verdict_facts,
    verdict_section,
)
from scope.metrics import metric_name
from scope.records import ControlCheck, Estimate, InformativeItem, ReuseResult, Undefined, Verdict

MOST_ITEMS = 500
"""Questions shown with their answers at most."""

OPEN_CONTROLS = 40
"""A longer table of controls is folded."""

LONG_TEXT = 500
"""A question of more characters is folded behind its beginning."""

BEGINNING = 200
"""Number of characters shown of a folded question."""


def page(result: ReuseResult, *, max_items: int = MOST_ITEMS) -> Page:
    """The whole report of a test of reuse; sections without content are left out.

    ``max_items`` bounds how many questions are listed, not what is counted.
    """
    verdicts = result.verdicts
    facts = [verdict_facts(one, several=len(verdicts) > 1) for one in verdicts]
    tables = [evidence_table(one) for one in verdicts]
    cards = result.manifest.models
    suspect = ", ".join(card.name for card in cards if card.role == "suspect")
    references = ", ".join(card.name for card in cards if card.role == "reference")
    return Page(
        title=f"SCoPE reuse: {suspect} against {references}",
        sections=(
            verdict_section(verdicts, facts, suspect),
            *([standings_section(verdicts)] if verdicts else []),
            *([evidence_section(verdicts, tables)] if any(v.evidence for v in verdicts) else []),
            *_informative(verdicts, max_items),
            *_controls(verdicts),
            *_looks(verdicts),
            limits_section(verdicts),
            asked(result.manifest, capabilities="Questions"),
            *_numbers(result),
            *_answered(result),
            _reproduce(result),
        ),
        brief=tuple(_brief(result, facts, tables)),
    )


def _brief(result: ReuseResult, facts: Sequence[Terms], tables: Sequence[Table]) -> Iterator[Block]:
    verdicts = result.verdicts
    yield from sources(verdicts)
    for verdict, terms, table in zip(verdicts, facts, tables, strict=True):
        first = paragraph(
            f"**{verdict.decision.upper()}**: {{sentence}}", sentence=verdict.sentence
        )
        blocks: list[Block] = [first, *([table] if verdict.evidence else []), terms]
        if verdict.paired is not None:
            blocks.append(paired_sentence(verdict.paired))
        if remarks := tuple(_remarks(verdict)):
            blocks.append(Terms(remarks, facts=True))
        yield Callout(FRAMES[verdict.decision], tuple(blocks))
    if any(verdict.evidence for verdict in verdicts):
        yield note(P_ALONE)
    yield data_lines(result.manifest)
    yield from run_lines(result.clock)


def _remarks(verdict: Verdict) -> Iterator[tuple[Text, Text]]:
    """What would change a verdict, and the first warnings."""
    for change in verdict.changes:
        yield prose("would change it"), written(change)
    for warning in verdict.warnings[:MOST_WARNINGS]:
        yield prose("warning"), written(warning)
    if (more := len(verdict.warnings) - MOST_WARNINGS) > 0:
        yield prose("warning"), prose("{more} more in the report", more=more)


def _informative(verdicts: Sequence[Verdict], most: int) -> Iterator[Section]:
    """The questions that speak most strongly; ``most`` is shared between the verdicts."""
    with_items = [verdict for verdict in verdicts if verdict.items]
    if with_items:
        yield Section(
            anchor="informative",
            title="Most informative questions",
            heading="The most informative questions",
            blocks=(
                paragraph(
                    "“Expected” is the probability that an independent model of the suspect’s "
                    "skill gives the reference’s answer: the smaller, the stronger the evidence "
                    "if the suspect gives it. The weight is the question’s contribution to the "
                    "evidence, positive for reuse."
                ),
                *(
                    block
                    for verdict in with_items
                    for block in (
                        *headed(verdict, verdicts),
                        *_items(verdict.items, most // len(with_items)),
                    )
                ),
            ),
        )


def _items(items: Sequence[InformativeItem], most: int) -> Iterator[Block]:
    strongest = sorted(items, key=lambda item: -abs(item.weight))[:most]
    if len(strongest) < len(items):
        yield note(
            "Shown are {shown} of {total} questions; all are in ``result.json``.",
            shown=len(strongest),
            total=len(items),
        )
    for title, cards in (
        ("For reuse", [_item(one) for one in strongest if one.weight > 0]),
        ("Against reuse", [_item(one) for one in strongest if one.weight <= 0]),
    ):
        if cards:
            yield heading(title, level=4)
            yield Cards(cards=tuple(cards))


def _item(item: InformativeItem) -> Card:
    same = item.reference == item.suspect
    remark = "the same as the reference’s" if same else "not the reference’s"
    answers = Table(
        columns=(Column("Right answer"), Column("The reference’s"), Column("The suspect’s")),
        rows=(
            Row(
                cells=(
                    item.gold if item.gold else prose("__not known__"),
                    item.reference,
                    (*written(item.suspect), Span(" "), Span(remark, "note")),
                )
            ),
        ),
    )
    return Card(
        note=prose(
            "question {id} · expected {expected}\u00a0% · weight **{weight}**",
            id=item.id,
            expected=prose(percent(item.expected)),
            weight=prose(number(item.weight, signed=True)),
        ),
        blocks=(passage(item.text), answers),
    )


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
    return Fold(written(f"{' '.join(text.split())[:BEGINNING]}…"), (whole,))


_Same = tuple[str, Estimate | Undefined, tuple[ControlCheck, ...]]


def _controls(verdicts: Sequence[Verdict]) -> Iterator[Section]:
    """The controls, one table for all verdicts with equal checks."""
    groups: dict[_Same, list[str]] = {}
    for verdict in verdicts:
        key = (verdict.suspect, verdict.skill, verdict.controls)
        groups.setdefault(key, []).append(verdict.reference)
    if groups:
        yield Section(
            # The page's script uses the id "controls" for its form.
            anchor="checks",
            title="Controls",
            heading="The controls",
            blocks=(
                paragraph(
                    "A good control is independent of the reference and about as skilled as the "
                    "suspect. Skill is the accuracy, or the agreement with the answers of most "
                    "models if no right answers are known. A control is comparable with the "
                    "suspect if its answers are usable, its skill is close to the suspect’s, and "
                    "its answers differ from those of the other controls. A control that guesses "
                    "(unless the suspect does), answers too few questions or nearly always gives "
                    "the same answer is not ranked and does not count."
                ),
                *(
                    block
                    for key, references in groups.items()
                    for block in _checks(key, references, several=len(verdicts) > 1)
                ),
            ),
        )


def _checks(same: _Same, references: Sequence[str], *, several: bool) -> Iterator[Block]:
    suspect, skill, checks = same
    if several:
        names = joined(references, last=" and ")
        yield heading("Compared with {references}", references=names)
    flagged = sum(bool(check.flags) for check in checks)
    comparable = sum(check.comparable for check in checks)
    yield paragraph(
        f"{{flagged}} of {{controls}} controls {'has' if flagged == 1 else 'have'} a flag; "
        f"{{comparable}} {'is' if comparable == 1 else 'are'} comparable with the suspect.",
        flagged=flagged,
        controls=len(checks),
        comparable=comparable,
    )
    table = Table(
        columns=(
            Column("Model", "name"),
            Column("Skill", "estimate"),
            Column("Answered", "number"),
            Column("Comparable"),
            Column("Flags"),
        ),
        rows=(
            Row(cells=(suspect_named(suspect), Cell.of(skill), None, None, None), chosen=True),
            *(
                Row(
                    cells=(
                        check.model,
                        Cell.of(check.skill),
                        prose(f"{percent(check.given)}\u00a0%"),
                        prose("yes" if check.comparable else "no"),
                        joined(prose("**⚑ {flag}**", flag=one) for one in check.flags),
                    )
                )
                for check in checks
            ),
        ),
    )
    title = prose("The controls one by one")
    yield from folded(title, (table,), when=len(checks) > OPEN_CONTROLS)


def _looks(verdicts: Sequence[Verdict]) -> Iterator[Section]:
    """The p-value after each batch of a sequential test."""
    found = [verdict for verdict in verdicts if verdict.looks]
    if found:
        yield Section(
            anchor="looks",
            title="Batches",
            blocks=(
                paragraph(
                    "The suspect was asked in batches. The p-values are anytime-valid: stopping "
                    "after any batch keeps the error rate. The test stopped when p was small "
                    "enough and the paired test against the closest control was significant, too."
                ),
                *(
                    block
                    for verdict in found
                    for block in (
                        *headed(verdict, verdicts),
                        *_batches(verdict, rate_of_one(verdicts)),
                    )
                ),
            ),
        )


def _batches(verdict: Verdict, rate: float) -> tuple[Block, ...]:
    # A stored p-value has six decimals.
    both = [(look, look.p_value <= rate + 1e-6) for look in verdict.looks]
    table = Table(
        columns=(
            Column("Questions asked", "number"),
            Column("p", "number"),
            Column(prose("At most {rate}", rate=prose(f"{rate:.3g}"))),
        ),
        rows=tuple(
            Row(
                cells=(look.asked, p_value(look.p_value), prose("yes" if reached else "no")),
                chosen=reached,
            )
            for look, reached in both
        ),
    )
    return folded(prose("The batches"), (table,), when=len(both) > OPEN_ROWS)


def _numbers(result: ReuseResult) -> Iterator[Section]:
    """The estimates by capability; the original texts are first."""
    rows = result.measurements
    groups = sorted(dict.fromkeys(row.capability for row in rows), key=lambda one: one is not None)
    names = [metric_name(spelling) for spelling in dict.fromkeys(row.metric for row in rows)]
    if rows:
        yield numbers_section(
            names,
            [
                every_estimate(
                    group or CLEAN,
                    [row for row in rows if row.capability == group],
                    result.manifest.reference.name,
                )
                for group in groups
            ],
        )


def _answered(result: ReuseResult) -> Iterator[Section]:
    """What was answered; perturbations that a search found are not answers to questions."""
    manifest = result.manifest
    searched = bool(manifest.capabilities) and "trials" in manifest.settings
    if result.outcomes and not searched:
        yield answered_section(result.outcomes, title="What was answered")


def _reproduce(result: ReuseResult) -> Section:
    """How to reproduce the verdicts, with the hashes of the questions."""
    return reproduce(
        result.manifest,
        result.clock,
        [
            (f"questions, fixed in advance, for {verdict.reference}", verdict.probes)
            for verdict in result.verdicts
        ],
    )
