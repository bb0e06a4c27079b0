"""The page of a test of reuse: the verdict on each reference, and what it is based on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from reports import blocks
from reports.estimates import in_two, meanings, spelled
from reports.prose import Text, joined, prose, written
from reports.sections import answered_section, asked, asked_differently, model_lines, page_of_run
from reports.wording import (
    Cell,
    as_sentence,
    number,
    percent,
    rounded_percent,
    short,
    short_names_of,
)
from scope.errors import counted
from scope.jobs.reuse.verdicts import lead_of, why_of
from scope.metrics.catalog import MetricName, metric_name
from scope.records import Evidence, InformativeItem, ModelScore, ReuseResult, Verdict
from scope.records.text_parts import readable

GLANCE, SHORT_ANSWER = 160, 45
"""Number of characters shown there of a question, and of an answer."""

MOST_NAMED = 3
"""Number of the most similar models that the picture names."""


def page(result: ReuseResult) -> blocks.Page:
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
    heads = (
        prose(f"{'? ' * (each.decision == 'undecided')}**{{lead}}**", lead=lead_of(each))
        for each in verdicts
    )
    return page_of_run(
        manifest,
        result.clock,
        title=f"reuse: {suspect} against {references}",
        heading=joined(heads, between="; "),
        about=_why(verdicts[0]) if len(verdicts) == 1 else (),
        answer=by_reference(verdicts, partial(_answer, verdicts=len(verdicts))),
        answer_title="Verdict",
        details=(
            _questions_section(verdicts),
            _numbers_section(verdicts),
            controls_section(result),
            _limits(verdicts[0].alpha),
            asked(manifest, capabilities="Questions"),
            answered_section(result.outcomes, title="What was answered") if answered else None,
        ),
        hashes=hashes,
        brief=(*asked_differently(manifest.models), *brief_blocks(result)),
        facts=model_lines(manifest),
    )


def _why(verdict: Verdict) -> Text:
    """What the verdict rests on, and how sure it is."""
    facts, sure = why_of(verdict)
    return prose("{facts}**How sure?** {sure}", facts=as_sentence(facts), sure=sure)


def _answer(verdict: Verdict, *, verdicts: int) -> Iterator[blocks.Block]:
    """Where the answers are alike, what to do, the questions that show it, and the controls."""
    if verdicts > 1:
        yield blocks.Paragraph(_why(verdict))
    left: dict[str, Sequence[blocks.Block]] = {
        "Where they are alike": tuple(_mistakes(verdict)),
        "What to do": tuple(_to_do(verdict)),
        # Holm's method compares the smallest of several p-values with this.
        "How near to the reference": tuple(_picture(verdict, verdict.alpha / verdicts)),
    }
    which = "for and against" if verdict.decision == "undecided" else "that show it"
    yield in_two(left, {f"Questions {which}": tuple(_at_a_glance(verdict))})


def _mistakes(verdict: Verdict) -> Iterator[blocks.Block]:
    """How many of the reference's mistakes the suspect shares, and how many are expected."""
    if mistakes := verdict.mistakes:
        wrong = "wrong" if any(item.gold for item in verdict.items) else "unusual"
        chance = " The difference may be chance." * ((verdict.p_value or 1) > verdict.alpha)
        yield blocks.paragraph(
            f"{{suspect}} gives **{{same}}** of {{reference}}’s {{n}} {wrong} answers, too; an "
            f"unrelated model of its skill is expected to give **{{expected}}**.{chance}",
            **_names(verdict),
            n=mistakes.n,
            same=rounded_percent(mistakes.same),
            expected=rounded_percent(mistakes.expected),
        )


def _names(verdict: Verdict) -> dict[str, str]:
    short = short_names_of([verdict.suspect, verdict.reference])
    return {"suspect": short[verdict.suspect], "reference": short[verdict.reference]}


def _to_do(verdict: Verdict) -> Iterator[blocks.Block]:
    """What would change the verdict, and where the warnings are."""
    yield from (blocks.Paragraph(written(change)) for change in verdict.changes)
    warnings = f"; {counted(len(verdict.warnings), 'warning')}: [[pvalues|tests]]"
    yield blocks.note(f"The [[reproduce|command]]{warnings if verdict.warnings else ''}.")


def _at_a_glance(verdict: Verdict) -> Iterator[blocks.Block]:
    """The strongest question of either side in few words, that for the verdict first."""
    if not verdict.items:
        return
    yield blocks.note(
        "A rare answer that both give counts for a relation, a common one that only the reference "
        f"gives against it. [[findings|{len(verdict.items)} such questions]] of {{n}}:",
        n=verdict.shared,
    )
    sides = [[i for i in verdict.items if (i.weight > 0) == shared] for shared in (True, False)]
    for item in (side[0] for side in sides[:: 1 if verdict.decision == "related" else -1] if side):
        yield blocks.paragraph("“{question}”", question=_shortened(readable(item.text), GLANCE))
        yield _answers(verdict, item, SHORT_ANSWER)


def _answers(verdict: Verdict, item: InformativeItem, most: int) -> blocks.Paragraph:
    """The answers of both models, and how many unrelated models would answer as the reference."""
    words = "Both answer **{theirs}**, as {share} of unrelated models would. Right: {gold}."
    if item.weight <= 0:
        words = (
            "{reference} answers **{theirs}**, as {share} of unrelated models would; {suspect} "
            "answers **{its}**. Right: {gold}."
        )
    theirs, its, gold = (
        _shortened(text.rstrip("."), most)
        for text in (item.reference, item.suspect, item.gold or "not known")
    )
    share = rounded_percent(item.expected)
    names = {**_names(verdict), "its": its} if item.weight <= 0 else {}
    return blocks.paragraph(words, theirs=theirs, gold=gold, share=share, **names)


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text: a question often ends with what is asked."""
    one_line = " ".join(text.split())
    first, end = one_line[: most // 3], one_line[-2 * most // 3 :]
    start = first.rpartition(" ")[0] or first
    return one_line if len(one_line) <= most else f"{start} … {end.partition(' ')[2] or end}"


def _questions_section(verdicts: Sequence[Verdict]) -> blocks.Section | None:
    """Every question that is kept: those with the same answer, then the others."""

    def questions(verdict: Verdict) -> Iterator[blocks.Block]:
        cards = tuple(
            blocks.Card(
                note=prose("Question {id}", id=item.id),
                blocks=(
                    blocks.Passage(written(readable(item.text))),
                    _answers(verdict, item, 10_000),
                ),
            )
            for item in sorted(verdict.items, key=lambda item: item.weight <= 0)
        )
        if cards:
            yield blocks.Cards(cards=cards, narrow=True)

    heading = "Answers more and less like the reference’s"
    if cards := tuple(by_reference(verdicts, questions)):
        return blocks.Section(anchor="findings", title="Questions", heading=heading, blocks=cards)
    return None


def _limits(alpha: float) -> blocks.Section:
    limits = (
        "It measures similarity, not its cause: which model was derived from which, how, or with "
        "what right. “Related” includes a common source, such as the same training data or public "
        "base, unless models of that source are among the controls.",
        "It assumes that suspect, reference and controls are all unrelated models alike. Controls "
        "of very different skill, or related to each other, violate this.",
        f"Of a hundred unrelated suspects at most about {100 * alpha:g} are called related, and as "
        "many of a hundred derivatives like those named not related. “Related” is not the "
        "probability of reuse. “Not related” holds for derivatives of these kinds only.",
    )
    bullets = blocks.Bullets(tuple(map(prose, limits)))
    return blocks.Section(
        anchor="limits", title="Limits", heading="Limits of the test", blocks=(bullets,)
    )


def brief_blocks(result: ReuseResult) -> Iterator[blocks.Block]:
    """The terminal's text: why, what to do and the numbers of each verdict."""
    for verdict in result.verdicts:
        yield blocks.Paragraph(_why(verdict))
        if len(result.verdicts) == 1:
            remarks = [(prose("what to do"), written(change)) for change in verdict.changes]
            remarks += [(prose("warning"), written(text)) for text in verdict.warnings[:1]]
            if more := len(verdict.warnings[1:]):
                remarks.append((prose("warnings"), prose("{n} more: --verbose", n=more)))
            yield blocks.Terms((*remarks, *verdict_facts(verdict)), facts=True)


def verdict_facts(verdict: Verdict) -> Iterator[tuple[Text, Text]]:
    """The p-values of a verdict and its controls; a corrected p-value only where it differs."""
    p, adjusted, agreement = verdict.p_value, verdict.p_adjusted, verdict.agreement
    tests = [] if verdict.p_rank is None else [f"{verdict.written(verdict.p_rank)} by rank"]
    if agreement:
        tests.append(f"{verdict.written(agreement.p_value)} by agreement")
    if adjusted is not None and adjusted != p:
        tests.append(f"{verdict.written(adjusted)} after Holm’s correction over the references")
    p_values = f"{'none' if p is None else verdict.written(p)} (α = {verdict.alpha:g})"
    yield prose("p-value of related"), prose(": ".join(filter(None, [p_values, ", ".join(tests)])))
    if verdict.p_derivative is not None:
        yield prose("p-value of not related"), prose(verdict.written(verdict.p_derivative))
    unranked = {check.model for check in verdict.controls} - {s.model for s in verdict.standings}
    controls = (
        f"{len(verdict.controls):,}, at least {verdict.controls_needed:,} are needed",
        f"{len(unranked)} without usable answers, or guessing" if unranked else "",
        f"all together count as {agreement.independent:.1f} independent ones" if agreement else "",
        f"left out by name: {', '.join(verdict.excluded)}" if verdict.excluded else "",
    )
    yield prose("Controls"), written("; ".join(filter(None, controls)))
    asked = "{shared} answered by both; the suspect was asked {queries} times"
    yield prose("Questions"), prose(asked, shared=verdict.shared, queries=verdict.queries)


_NULL = blocks.note(
    "The p-value by rank is the share of pairs of suspect, reference and controls that are at "
    "least as similar as suspect and reference; that by agreement is the probability of at least "
    "this agreement for an unrelated model of the suspect’s skill, where controls that answer "
    "alike count as fewer. The p-value of not related is the share of derivatives, the suspect "
    "among them, that are at most as similar to the reference."
)


def _numbers_section(verdicts: Sequence[Verdict]) -> blocks.Section:
    """The p-values, the counts of controls and questions, and every warning."""

    def facts(verdict: Verdict) -> Iterator[blocks.Block]:
        warnings = ((prose("Warning"), written(text)) for text in verdict.warnings)
        tuned = (
            f"{each.model} {rounded_percent(each.same)}{'' if each.counted else ', a copy'}"
            for each in verdict.derivatives
        )
        same = prose("Same answers of derivatives"), written(", ".join(tuned) or "none is named")
        yield blocks.Terms((*verdict_facts(verdict), same, *warnings), facts=True)

    shown, heading = (*by_reference(verdicts, facts), _NULL), "p-values, controls and questions"
    return blocks.Section(anchor="pvalues", title="Tests", heading=heading, blocks=shown)


def _picture(verdict: Verdict, rate: float) -> Iterator[blocks.Block]:
    """The other models, the suspect and the derivatives, each in a row, by their likeness."""
    known = sorted(verdict.standings, key=lambda score: -score.value)
    rows = {
        "other models (controls)": [each for each in known if each.model != verdict.suspect],
        verdict.suspect: [each for each in known if each.model == verdict.suspect],
        f"made from {verdict.reference}": [
            ModelScore(model=each.model, value=each.value)
            for each in verdict.counted
            if each.value is not None
        ],
    }
    controls, suspect, tuned = rows.values()
    named = {each.model for each in (*controls[:MOST_NAMED], *suspect)}
    series = (
        blocks.Series(
            dots=tuple(
                blocks.Dot(
                    title=f"{each.model}: {number(each.value)}",
                    x=each.value,
                    y=2 - place,
                    name=each.model * (each.model in named),
                )
                for each in models
            ),
            name=name,
            shape=3 * (place == 1),
            style=f"s{place}",
        )
        for place, (name, models) in enumerate(rows.items())
        if models
    )
    if controls:
        line, last = verdict.threshold, 0 if tuned else 1
        words = f"at most {100 * rate:.2g}\u00a0% of all pairs of models lie beyond"
        chart = blocks.Chart(
            label=f"The suspect among {len(controls)} controls; the numbers are in their table",
            series=tuple(series),
            guides=() if line is None else (blocks.Guide((line, last), (line, 2), words),),
            x_title="more like the reference (0: as an average pair of models) →",
            y_title=None,
            size=(300, 96 if tuned else 72),
        )
        yield blocks.Figure(chart)


_NO_METRICS: Mapping[str, tuple[str, str]] = {
    "shared_mistakes": (
        "Shared mistakes",
        "wrong answers (unusual ones if the right answer is unknown) that the model shares with "
        "the reference more often than expected of independent models of its skill; an answer "
        "that many models give has little weight",
    ),
    "log_probabilities": (
        "Correlated probabilities",
        "correlation of the log-probabilities of the model and the reference, controlling for all "
        "other models",
    ),
}
"""Title and meaning of the kinds of evidence that are no metrics."""


def by_reference(
    verdicts: Sequence[Verdict], blocks_of: Callable[[Verdict], Iterable[blocks.Block]]
) -> Iterator[blocks.Block]:
    """The blocks of each verdict that has some, below its reference's name if there are several."""
    for verdict in verdicts:
        if shown := tuple(blocks_of(verdict)):
            if len(verdicts) > 1:
                yield blocks.heading("Compared with {reference}", reference=verdict.reference)
            yield from shown


def kind_name(spelling: str) -> MetricName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    Examples
    --------
    >>> kind_name("shared_mistakes").label, kind_name("capa").label, kind_name("my_evidence").label
    ('Shared mistakes', 'CAPA', 'my_evidence')
    """
    name = metric_name(spelling)
    label, meaning = _NO_METRICS.get(name.head, (name.label, name.meaning))
    return replace(name, label=label, meaning=meaning)


def _title(evidence: Evidence) -> Text:
    """The name of the evidence, and the perturbations that it was measured on."""
    parts = (spelled(kind_name(evidence.kind)), evidence.capability)
    return joined(filter(None, parts), between=" on ")


def controls_section(result: ReuseResult) -> blocks.Section:
    """Every control with its rank, its evidence, its skill and its flags."""
    kinds = [kind for verdict in result.verdicts for kind in verdict.evidence]
    names = {name.label: name for name in (kind_name(kind.kind) for kind in kinds)}
    deciding = dict.fromkeys(kind_name(kind.kind).label for kind in kinds if kind.decides)
    about = blocks.note(
        "A good control is independent of the reference and about as skilled as the suspect. Skill "
        "is the accuracy, or without right answers the agreement with what most models answer. A "
        "control that guesses (unless the suspect does), answers too few questions or nearly "
        "always gives the same answer has no rank and does not count. The joint statistic is of "
        "the evidence that decides: {deciding}.",
        deciding=", ".join(deciding) or "none",
    )
    return blocks.Section(
        # The page's script uses the id "controls" for its form.
        anchor="checks",
        title="Controls",
        heading="The suspect and every control",
        blocks=(
            about,
            *_choice(result),
            *by_reference(result.verdicts, _controls),
            *([meanings(names.values())] if names else []),
        ),
    )


def _choice(result: ReuseResult) -> Iterator[blocks.Table]:
    """Every stored model that could be a control, with its accuracy and why it was left out."""
    if candidates := result.candidate_controls:
        chosen = sum(not each.left_out for each in candidates)
        yield blocks.Table.of(
            {"Model": "name", "Skill": "number", "Control": "text"},
            (
                (each.model, short(each.skill), each.left_out or prose("**chosen**"))
                for each in candidates
            ),
            caption=prose(
                f"{chosen} of {len(candidates)} stored models are controls, chosen without regard "
                "to the reference’s answers"
            ),
            tall=True,
        )


def _controls(verdict: Verdict) -> Iterator[blocks.Table]:
    """The models by rank, of equals the suspect last, as in its p-value; then those without."""
    values = {score.model: score.value for score in verdict.standings}
    checks = {check.model: check for check in verdict.controls}
    kinds: list[str | Text] = [_title(kind) for kind in verdict.evidence]
    evidence = [
        {verdict.suspect: Cell.of(kind.suspect).value}
        | {score.model: number(score.value) for score in kind.controls}
        for kind in verdict.evidence
    ]
    ranked = sorted(values, key=lambda name: (-values[name], name == verdict.suspect))
    yield blocks.Table.with_columns(
        (
            *(blocks.Column("Rank", "number"), blocks.Column("Model", "name")),
            *(
                blocks.Column(head, "number")
                for head in ("Joint statistic", *kinds, "Skill", "Answered")
            ),
            blocks.Column("Flags"),
        ),
        (
            (
                rank if name in values else None,
                name if name in checks else prose("**{name}** (suspect)", name=name),
                number(values[name]) if name in values else None,
                *(kind.get(name) for kind in evidence),
                short(checks[name].skill if name in checks else verdict.skill),
                f"{percent(checks[name].given)}\u00a0%" if name in checks else None,
                joined(
                    prose("**⚑ {flag}**", flag=flag)
                    for flag in getattr(checks.get(name), "flags", ())
                ),
            )
            for rank, name in enumerate(dict.fromkeys((*ranked, verdict.suspect, *checks)), start=1)
        ),
        tall=True,
    )
