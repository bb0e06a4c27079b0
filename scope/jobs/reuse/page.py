"""The page of a test of reuse: the verdict on each reference, and what it is based on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Bullets,
    Card,
    Cards,
    Figure,
    Page,
    Paragraph,
    Passage,
    Section,
    Terms,
    note,
    paragraph,
)
from reports.builders.answer import in_two
from reports.builders.outcomes import answered_section, model_lines
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.charts import Chart, Dot, Guide, Series
from reports.prose import Text, joined, prose, written
from reports.wording import as_sentence, in_percent, number, percent
from scope.jobs.reuse.models_page import (
    by_reference,
    choice_sentence,
    controls_section,
    evidence_section,
    evidence_table,
)
from scope.jobs.reuse.verdicts import in_tests, lead_of
from scope.records import Derivative, InformativeItem, ModelScore, ReuseResult, Verdict

MOST_QUESTIONS = 2, 1
"""Number of questions on the first screen that agree with the verdict, and that do not."""

GLANCE, SHORT_ANSWER, WARNING = 130, 45, 280
"""Number of characters shown there of a question, of an answer, and of a warning."""


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
        heading=joined(map(_head, verdicts), between="; "),
        about=_why(verdicts[0]) if len(verdicts) == 1 else (),
        sections=(
            verdict_section(verdicts),
            *folded(
                _questions_section(verdicts),
                _numbers_section(verdicts),
                evidence_section(verdicts),
                controls_section(result),
                _limits(verdicts[0].alpha),
                asked(manifest, capabilities="Questions"),
                answered_section(result.outcomes, title="What was answered") if answered else None,
                reproduce(manifest, result.clock, hashes),
            ),
        ),
        brief=(*asked_differently(manifest.models), *brief_blocks(result)),
    )


def _questions_section(verdicts: Sequence[Verdict]) -> Section | None:
    """Every question that is kept: those for reuse, then those against it."""
    about = note(
        "The percentage is the probability that an independent model of the suspect’s skill gives "
        "the reference’s answer: the smaller, the stronger the evidence if the suspect gives it."
    )

    def questions(verdict: Verdict) -> Iterator[Block]:
        if ordered := sorted(verdict.items, key=lambda item: item.weight <= 0):
            yield Cards(cards=tuple(map(_card, ordered)), narrow=True)

    cards = tuple(by_reference(verdicts, questions))
    heading = "What speaks for reuse, and against"
    if not cards:
        return None
    return Section(anchor="findings", title="Questions", heading=heading, blocks=(*cards, about))


def _at_a_glance(verdict: Verdict) -> Iterator[Block]:
    """The strongest questions of either side in few words."""
    if not verdict.items:
        return
    all_questions = "Any two models share some rare answers: the verdict weighs all {n} questions."
    yield note(all_questions, n=verdict.shared)
    sides = [[i for i in verdict.items if (i.weight > 0) == shared] for shared in (True, False)]
    most = MOST_QUESTIONS if verdict.decision == "related" else MOST_QUESTIONS[::-1]
    for item in (item for side, n in zip(sides, most, strict=True) for item in side[:n]):
        words = (
            "“{question}” **Not shared**: the suspect answers **{suspect}**, the reference "
            "**{reference}**, as {share} % of unrelated models are expected to. Right: {gold}."
        )
        if item.weight > 0:
            words = (
                "“{question}” **Shared**: both answer **{suspect}**{reference}; {share} % of "
                "unrelated models are expected to. Right: {gold}."
            )
        suspect, reference, gold = (
            _shortened(text.rstrip("."), SHORT_ANSWER)
            for text in (item.suspect, item.reference, item.gold or "not known")
        )
        yield paragraph(
            words,
            question=_shortened(item.text, GLANCE),
            share=in_percent(item.expected)[0],
            gold=gold,
            suspect=suspect,
            reference=reference if item.weight <= 0 else "",
        )
    yield note("All {n} are under [[findings|questions]].", n=len(verdict.items))


def _card(item: InformativeItem) -> Card:
    """A question with the answers, and how probable the reference's answer was."""
    claim = "**For reuse**: the" if item.weight > 0 else "**Against**: not the"
    share = f"{percent(item.expected)}\u00a0%"
    title = f"{claim} reference’s answer, given by {share} of independent models · question {{id}}"
    answers = {"Right answer": item.gold, "Reference": item.reference, "Suspect": item.suspect}
    facts = ((prose(name), written(text or "not known")) for name, text in answers.items())
    return Card(
        note=prose(title, id=item.id),
        blocks=(Passage(written(item.text)), Terms(tuple(facts), facts=True)),
    )


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text: a question often ends with what is asked."""
    one_line = " ".join(text.split())
    first, end = one_line[: most // 3], one_line[-2 * most // 3 :]
    start = first.rpartition(" ")[0] or first
    return one_line if len(one_line) <= most else f"{start} … {end.partition(' ')[2] or end}"


def _limits(alpha: float) -> Section:
    limits = (
        "It measures similarity, not its cause: which model was derived from which, how, or with "
        "what right. “Related” includes a common source: training on the same data or from the "
        "same public base. Include such models among the controls to exclude that.",
        "It assumes that without a relation suspect, reference and controls are exchangeable, so "
        "that each pair is equally likely to be the most similar. Controls of very different "
        "skill, or related to each other, violate this.",
        f"Of a hundred unrelated suspects at most about {100 * alpha:g} are called related, and of "
        "a hundred derivatives like those named at most as many not related. “Related” is not the "
        "probability of reuse. “Not related” is said of the kind of the derivatives alone.",
    )
    bullets = Bullets(tuple(map(prose, limits)))
    heading = "Limits of the test"
    return Section(anchor="limits", title="Limits", heading=heading, blocks=(bullets,))


MOST_NAMED = 3
"""Number of the most similar models that the picture names."""

MOST_WARNINGS = 2
"""Number of warnings shown at once; the others are folded."""


def verdict_section(verdicts: Sequence[Verdict]) -> Section:
    """The suspect beside its controls, what to do, and the questions that show it."""

    def blocks_of(verdict: Verdict) -> Iterator[Block]:
        if len(verdicts) > 1:
            yield Paragraph(_why(verdict))
        # Holm's method compares the smallest of several p-values with this.
        picture = _picture(verdict, verdict.alpha / len(verdicts))
        near, to_do = "How near the suspect is to the reference", "What to do"
        questions = "Answers that they share, and do not"
        left = {near: tuple(picture), to_do: tuple(_to_do(verdict))}
        yield in_two(left, {questions: tuple(_at_a_glance(verdict))})

    blocks = tuple(by_reference(verdicts, blocks_of))
    return Section(anchor="answer", title="Verdict", blocks=blocks)


def _to_do(verdict: Verdict) -> Iterator[Block]:
    """What would change the verdict, how, and what to look at first."""
    if verdict.changes:
        yield Bullets(tuple(map(written, verdict.changes)))
    for text in verdict.warnings[:MOST_WARNINGS]:
        yield note("Warning: {warning}.", warning=_shortened(text, WARNING))
    yield note(
        "The [[reproduce|command]]; how it was computed, and every warning: [[pvalues|tests]]."
    )


def brief_blocks(result: ReuseResult) -> Iterator[Block]:
    """The terminal's text: why, what to do, the first warnings and the numbers of each verdict."""
    for verdict in result.verdicts:
        yield Paragraph(_why(verdict))
        if len(result.verdicts) == 1:
            remarks = [(prose("what to do"), written(change)) for change in verdict.changes]
            warnings = verdict.warnings[:MOST_WARNINGS]
            remarks += [(prose("warning"), written(warning)) for warning in warnings]
            if more := len(verdict.warnings) - len(warnings):
                remarks.append((prose("warning"), prose("{more} more: --verbose", more=more)))
            yield Terms((*remarks, *verdict_facts(verdict)), facts=True)
            yield from evidence_table(verdict)
    if result.candidate_controls:
        yield Paragraph(choice_sentence(result))
    yield Terms(tuple(model_lines(result.manifest)), facts=True)
    yield from run_lines(result.clock)


def verdict_facts(verdict: Verdict) -> Iterator[tuple[Text, Text]]:
    """The p-values of a verdict and its controls; a corrected p-value only where it differs."""
    p, adjusted, agreement = verdict.p_value, verdict.p_adjusted, verdict.agreement
    tests = [] if verdict.p_rank is None else [f"{verdict.written(verdict.p_rank)} by rank"]
    if agreement:
        tests.append(f"{verdict.written(agreement.p_value)} by agreement")
    if adjusted is not None and adjusted != p:
        tests.append(f"{verdict.written(adjusted)} after Holm’s correction over the references")
    p_values = f"{'none' if p is None else verdict.written(p)} (α = {verdict.alpha:g})"
    yield prose("p-value of related"), prose(": ".join(filter(None, [p_values, ", ".join(tests)])))
    if verdict.p_derivative is not None:
        yield prose("p-value of not related"), prose(verdict.written(verdict.p_derivative))
    unranked = {check.model for check in verdict.controls} - {s.model for s in verdict.standings}
    controls = (
        f"{len(verdict.controls):,}, at least {verdict.controls_needed:,} are needed",
        f"{len(unranked)} without usable answers, or guessing" if unranked else "",
        f"all together count as {agreement.independent:.1f} independent ones" if agreement else "",
    )
    yield prose("Controls"), prose("; ".join(filter(None, controls)))
    if verdict.derivatives:
        counts = {"n": len(verdict.counted), "needed": verdict.derivatives_needed}
        yield prose("Derivatives"), prose("{n}, at least {needed} are needed", **counts)
    asked = "{shared} answered by both; the suspect was asked {queries} times"
    yield prose("Questions"), prose(asked, shared=verdict.shared, queries=verdict.queries)


_NULL = note(
    "Null hypothesis: the suspect is no more similar to the reference than independent models of "
    "its skill are. The p-value by rank is the share of pairs of suspect, reference and controls "
    "that are at least as similar as suspect and reference; that by agreement is the probability "
    "of at least this agreement for a model of the suspect’s skill, where controls that answer "
    "alike count as fewer. The p-value of not related is the share of derivatives, the suspect "
    "among them, that are at most as similar to the reference."
)


def _head(verdict: Verdict) -> Text:
    sign = "? " * (verdict.decision == "undecided")
    return prose(f"{sign}**{{lead}}**", lead=lead_of(verdict, verdict.decision))


def _why(verdict: Verdict) -> Text:
    """The sentence of the verdict without what the heading says."""
    why = verdict.sentence.removeprefix(f"{lead_of(verdict, verdict.decision)}: ")
    if verdict.decision == "undecided":
        return prose("**How sure?** Not decided: {why}", why=why)
    before, _, after = as_sentence(why).partition("How sure?")
    return prose(
        "{before}**How sure?**{after}" if after else "{before}{after}", before=before, after=after
    )


def _numbers_section(verdicts: Sequence[Verdict]) -> Section:
    """The p-values, the counts of controls and questions, and every warning."""

    def facts(verdict: Verdict) -> Iterator[Terms]:
        warnings = ((prose("Warning"), written(text)) for text in verdict.warnings)
        yield Terms((*verdict_facts(verdict), *warnings), facts=True)

    blocks, heading = (*by_reference(verdicts, facts), _NULL), "p-values, controls and questions"
    return Section(anchor="pvalues", title="Tests", heading=heading, blocks=blocks)


def _picture(verdict: Verdict, rate: float) -> Iterator[Block]:
    """The unrelated models, the suspect and the derivatives, each in a row, by their likeness."""
    known = sorted(verdict.standings, key=lambda score: -score.value)
    controls = [score for score in known if score.model != verdict.suspect]
    suspect = [score for score in known if score.model == verdict.suspect]
    tuned = [each for each in verdict.counted if each.value is not None]
    if not suspect:
        yield paragraph("The suspect has no joint statistic.")
    if not controls:
        return

    named = {score.model for score in (*controls[:MOST_NAMED], *suspect)}

    def series(
        place: int, name: str, models: Sequence[ModelScore | Derivative], style: int
    ) -> Series:
        dots = (
            Dot(
                title=f"{each.model}: {number(each.value)}",
                x=each.value,
                y=place,
                name=each.model * (each.model in named),
            )
            for each in models
            if each.value is not None
        )
        return Series(dots=tuple(dots), name=name, shape=3 * (style == 1), style=f"s{style}")

    line, words = (
        verdict.threshold,
        f"beyond: at most {re.sub(' tests?', '', in_tests(rate))} pairs of models",
    )
    rows = (
        series(2, "unrelated models (controls)", controls, 0),
        series(1, "the suspect", suspect, 1),
        series(0, f"made from {verdict.reference}", tuned, 2),
    )
    chart = Chart(
        label=f"The suspect among {len(controls)} controls; the numbers are in their table",
        series=tuple(row for row in rows if row.dots),
        guides=() if line is None else (Guide((line, 0 if tuned else 1), (line, 2), words),),
        x_title="more similar to the reference (0: average pair) →",
        y_title=None,
        size=(290, 96 if tuned else 72),
    )
    yield Figure(chart)
