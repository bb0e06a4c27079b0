"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from types import MappingProxyType
from typing import Literal

from reports.blocks import (
    Beside,
    Block,
    Bullets,
    Callout,
    Page,
    Paragraph,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.outcomes import model_lines
from reports.builders.run import asked, code, reproduce, run_lines
from reports.prose import Text, joined, prose, together, written
from reports.wording import count_rivals, short
from scope.jobs.probe.page_layers import layer_curves, layers_section, similarity_section
from scope.jobs.probe.page_tables import (
    RAW,
    errors_section,
    last_scores,
    of_model,
    short_table,
    some_seen,
    steps_section,
    wrong_section,
)
from scope.records import Estimate, ProbeDifference, ProbeFindings, ProbeResult, StepScore

MOST_IN_TITLE = 3
"""The most models named in the title."""

OPEN = ("answer", "wrong")
"""The sections that are not folded."""

CLEAR = 0.01
"""The smallest difference at which the correlation on unseen pairs is shown, too."""

MOST_DIFFERENCES = 3
"""Differences between models in the answer; the others are in the table."""

MOST_BOXES = 2
"""Models with a text of their own in a terminal; more have a row each."""

MOST_STEPS = 8
"""Steps of all models with a row each in a terminal; of more, the last ones are shown."""

Side = Literal["more", "unclear", "less"]

_WORDS: Mapping[Side, tuple[Literal["good", "bad", "undecided"], str, str]] = MappingProxyType(
    {
        "more": ("good", "✓ ", "Better than"),
        "unclear": ("undecided", "? ", "**Not shown** to be better than"),
        "less": ("bad", "✗ ", "**Worse** than"),
    }
)
"""Frame, sign and words by the side of 0 on which the gain over plain cosines lies."""


def page(result: ProbeResult) -> Page:
    """The whole report of a probe."""
    findings = result.findings
    names = [model.name for model in findings.models]
    few = ", ".join(names) if len(names) <= MOST_IN_TITLE else f"{len(names):,} models"
    sections = (
        answer_section(findings),
        wrong_section(findings),
        steps_section(findings),
        layers_section(findings),
        similarity_section(findings),
        errors_section(findings),
        _limits(findings),
        _asked(result),
        reproduce(result.manifest, result.clock),
    )
    return Page(
        title=f"SCoPE {result.manifest.job}: {few}",
        sections=tuple(
            replace(section, folded=section.anchor not in OPEN) for section in sections if section
        ),
        brief=brief_blocks(result),
    )


def answer_section(findings: ProbeFindings) -> Section:
    """A box a model, the differences between models, and the curve over layers."""
    boxes = [_box(findings, last) for last in last_scores(findings)]
    differences = tuple(between_models(findings))
    blocks: list[Block] = []
    if len(boxes) > 1:
        blocks.append(Beside(tuple((box,) for box in boxes)))
    else:
        blocks.extend(boxes or (paragraph("No probe is scored."),))
    if differences:
        blocks.append(Bullets(differences, findings=True))
    blocks.extend(layer_curves(findings.layers))
    return Section(anchor="answer", title="Answer", blocks=tuple(blocks))


def brief_blocks(result: ProbeResult) -> tuple[Block, ...]:
    """What a terminal shows: the answer, a row a step or a model, and where probes were saved."""
    findings = result.findings
    last = last_scores(findings)
    scores = findings.scores if len(findings.scores) <= MOST_STEPS else last
    left_out = (
        (written(card.spec), prose("{n} empty, left out", n=card.empty))
        for card in result.manifest.data
        if card.empty
    )
    facts = [*model_lines(result.manifest), *left_out]
    if findings.files:
        facts.append((prose("saved"), joined(findings.files)))
    return (
        *(_box(findings, score) for score in last if len(last) <= MOST_BOXES),
        *map(Paragraph, between_models(findings)),
        short_table(scores) if last else paragraph("No probe is scored."),
        *([Terms(tuple(facts), facts=True)] if facts else []),
        *run_lines(result.clock),
    )


def _box(findings: ProbeFindings, last: StepScore) -> Callout:
    """A model's last step, compared with the cosine of its best layer."""
    *earlier, _ = of_model(findings, last.model)
    raw = next((score for score in earlier if score.step == RAW), None)
    frame: Literal["good", "bad", "undecided"] = "undecided"
    sign, beyond = "", prose("")
    if raw is not None:
        # Over several steps the gain has no interval: the intervals must not overlap.
        gain = last.gain if earlier[-1] is raw else None
        frame, sign, words = _WORDS[_side(raw, last, direct=earlier[-1] is raw)]
        claim = f"{words} the cosine of the best layer (step ``raw``)"
        beyond = (
            prose(f"{claim}, which has {{number}}.", number=short(raw.pearson))
            if gain is None
            else prose(f"{claim}: gain {{number}}.", number=short(gain))
        )
    lead = prose(
        f"**{sign}{{model}}: Pearson {{pearson}}**", model=last.model, pearson=short(last.pearson)
    )
    what = "The cosine of its best layer" if last.step == RAW else "A probe of all layers"
    basis = prose(
        f"{what if findings.train else 'A saved probe'} (step ``{{step}}``) against human scores "
        "of {n} pairs; Spearman {spearman}.",
        step=last.step,
        n=findings.test,
        spearman=short(last.spearman),
    )
    parts = (beyond, basis, _unseen(findings, last), _layer(findings, last))
    return Callout(frame, (Paragraph(lead, lead=True), Paragraph(together(*parts))))


def _side(raw: StepScore, last: StepScore, *, direct: bool) -> Side:
    """The side of 0 on which the gain over the step ``raw`` lies."""
    if direct:
        return last.gain.side if isinstance(last.gain, Estimate) else "unclear"
    whole, base = last.pearson, raw.pearson
    if not isinstance(whole, Estimate) or not isinstance(base, Estimate):
        return "unclear"
    return "more" if whole.low > base.high else "less" if whole.high < base.low else "unclear"


def _unseen(findings: ProbeFindings, last: StepScore) -> Text:
    """The correlation on unseen pairs; nothing if it differs little from that on all pairs."""
    whole, unseen = last.pearson, last.unseen
    if not some_seen(findings):
        return ()
    if (
        isinstance(whole, Estimate)
        and isinstance(unseen, Estimate)
        and abs(unseen.value - whole.value) < CLEAR
    ):
        return ()
    words = "On {n} pairs of new sentences: {unseen}."
    return prose(words, n=findings.unseen, unseen=short(unseen))


def _layer(findings: ProbeFindings, last: StepScore) -> Text:
    """The layer that predicts best alone, and whether it is better than all of them together."""
    layers = [score for score in findings.layers if score.model == last.model]
    raw = [(score.raw, score.layer) for score in layers if isinstance(score.raw, Estimate)]
    if len(layers) < 2 or not raw:
        return ()
    best, layer = max(raw, key=lambda pair: pair[0].value)
    rivals = count_rivals(best, (estimate for estimate, _ in raw))
    others = f", not distinguishable from {rivals} other{'s' * (rivals > 1)}" if rivals else ""
    alone = prose(
        f"Layer {{layer}} of {{layers}} (from 0) predicts best alone{others}.",
        layer=layer,
        layers=len(layers),
    )
    encoded = [score.encoded for score in layers if isinstance(score.encoded, Estimate)]
    most = max(encoded, key=lambda estimate: estimate.value, default=None)
    if not most or not isinstance(last.pearson, Estimate) or most.low <= last.pearson.high:
        return alone
    words = "One layer as the probe encodes it is better than all together: {most}."
    return together(alone, prose(words, most=short(most)))


def between_models(findings: ProbeFindings) -> Iterator[Text]:
    """The first differences of the last step, and how many more there are."""
    last = last_scores(findings)
    differences = [each for each in findings.differences if last and each.step == last[0].step]
    for difference in differences[:MOST_DIFFERENCES]:
        yield _difference(findings, difference)
    if len(differences) > MOST_DIFFERENCES:
        more = len(differences) - MOST_DIFFERENCES
        yield prose("{more} more in the table of [[steps|differences]].", more=more)


def _difference(findings: ProbeFindings, difference: ProbeDifference) -> Text:
    """The difference with the sign that makes it non-negative."""
    estimate, first, second = difference.pearson, difference.first, difference.second
    if isinstance(estimate, Estimate) and estimate.value < 0:
        estimate = replace(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)
        first, second = second, first
    shown = isinstance(estimate, Estimate) and estimate.side != "unclear"
    claim = "predicts better than" if shown else "is not shown to predict better than"
    sentence = prose(
        f"**{{first}}** {claim} **{{second}}**: difference of Pearson {{found}}.",
        first=first,
        second=second,
        found=short(estimate),
    )
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    caveat = "They are [[asked|read]] at different positions or with different prompts."
    return together(sentence, prose(caveat) if read.get(first) != read.get(second) else ())


def _limits(findings: ProbeFindings) -> Section:
    """What the numbers do not show, and the rules that were applied."""
    items = (*_not_shown(findings), *map(written, findings.notes))
    return Section(anchor="limits", title="Limits", blocks=(Bullets(items),))


def _not_shown(findings: ProbeFindings) -> Iterator[Text]:
    yield prose(
        "A high correlation shows that layers hold the information, not that the model uses it. "
        "Other kinds of sentences may give other results."
    )
    yield prose(
        "Intervals are not corrected for multiple comparisons: about 1 of 20 excludes 0 by "
        "chance. A layer that is chosen as the best on the test pairs is slightly optimistic."
    )
    if findings.groups < findings.test:
        yield prose(
            "Test pairs that share a sentence are not independent: intervals are from a jackknife "
            "over {groups} groups of pairs.",
            groups=findings.groups,
        )
    if not findings.train:
        yield prose("Whether the saved probe was trained on some of these pairs is unknown.")
    if some_seen(findings):
        yield prose(
            "{seen} test pairs share a sentence with training or development pairs, which may "
            "inflate their correlation; unseen pairs may also be harder or easier.",
            seen=findings.test - findings.unseen,
        )


def _asked(result: ProbeResult) -> Section:
    """The models and how they were read, the pairs, and the task."""
    findings = result.findings
    shared = asked(result.manifest, capabilities="Task")
    columns = attrgetter("name", "layers", "width", "readout", "dtype", "prompt")
    texts = ("Read at", "Precision", "Prompt")
    layers = Table.of(
        {"Model": "name", "Layers": "number", "Width": "number", **dict.fromkeys(texts, "text")},
        map(columns, findings.models),
    )
    about = note(
        "A layer’s vector is the residual stream after its block: at the __last__ token, as the "
        "__mean__ of all tokens, or at the last token of a __prompt__ with the text."
    )
    pairs = prose(
        "{train} pairs for training, {development} for development and {test} for testing, of "
        "{n} different sentences; {others} sentences without scores",
        train=findings.train,
        development=findings.development,
        test=findings.test,
        n=findings.sentences,
        others=findings.unlabelled,
    )
    facts = [(prose("Pairs"), pairs)]
    if findings.files:
        facts.append((prose("Saved probes"), joined(map(code, findings.files))))
    read = (heading("Layers"), layers, about, Terms(tuple(facts), facts=True))
    return replace(shared, blocks=(*read, *shared.blocks))
