"""What a probe answers first, on its page and in a terminal: how well layers predict scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from reports.blocks import Beside, Block, Bullets, Callout, Paragraph, Section, Terms, paragraph
from reports.builders.outcomes import model_lines
from reports.builders.run import run_lines
from reports.prose import Text, joined, prose, together, written
from reports.wording import count_rivals, short
from scope.jobs.probe.layers_section import layer_curves
from scope.jobs.probe.steps_section import RAW, last_scores, of_model, short_table, some_seen
from scope.records import Estimate, ProbeDifference, ProbeFindings, ProbeResult, StepScore

CLEAR = 0.01
"""The smallest difference at which the correlation on unseen pairs is shown, too."""

MOST_DIFFERENCES = 3
"""Differences between models in the answer; the others are in the table."""

MOST_BOXES = 2
"""Models with a text of their own in a terminal; more have a row each."""

MOST_STEPS = 8
"""Steps of all models with a row each in a terminal; of more, the last ones are shown."""

_WORDS: Mapping[str, tuple[Literal["good", "bad", "undecided"], str, str]] = MappingProxyType(
    {
        "more": ("good", "✓ ", "Better than"),
        "unclear": ("undecided", "? ", "**Not shown** to be better than"),
        "less": ("bad", "✗ ", "**Worse** than"),
    }
)
"""Frame, sign and words by the side of 0 on which the gain over plain cosines lies."""


def answer_section(findings: ProbeFindings) -> Section:
    """A box a model, the differences between models, and the curve over layers."""
    boxes = tuple((_box(findings, one),) for one in last_scores(findings))
    differences = tuple(between_models(findings))
    none = paragraph("No probe is scored.")
    return Section(
        anchor="answer",
        title="Answer",
        blocks=(
            *(boxes[0] if len(boxes) == 1 else [Beside(boxes) if boxes else none]),
            *([Bullets(differences, findings=True)] if differences else []),
            *layer_curves(findings.layers),
        ),
    )


def brief_blocks(result: ProbeResult) -> tuple[Block, ...]:
    """What a terminal shows: the answer, a row a step or a model, and where probes were saved."""
    found = result.findings
    last = last_scores(found)
    scores = found.scores if len(found.scores) <= MOST_STEPS else last
    empty = [card for card in result.manifest.data if card.empty]
    left_out = ((written(one.spec), prose("{n} empty, left out", n=one.empty)) for one in empty)
    facts = [*model_lines(result.manifest), *left_out]
    if found.files:
        facts.append((prose("saved"), joined(found.files)))
    return (
        *(_box(found, one) for one in last if len(last) <= MOST_BOXES),
        *map(Paragraph, between_models(found)),
        short_table(scores) if last else paragraph("No probe is scored."),
        *([Terms(tuple(facts), facts=True)] if facts else []),
        *run_lines(result.clock),
    )


def _box(findings: ProbeFindings, last: StepScore) -> Callout:
    """What a model's last step reaches, beside the cosine of its best layer."""
    scores = of_model(findings, last.model)
    raw = next((one for one in scores[:-1] if one.step == RAW), None)
    frame, sign, words = _WORDS["unclear"] if raw is None else _WORDS[_side(raw, scores)]
    lead = prose(
        f"**{sign if raw else ''}{{model}}: Pearson {{pearson}}**",
        model=last.model,
        pearson=short(last.pearson),
    )
    parts = (
        _beyond(words, raw, scores) if raw else (),
        _basis(findings, last),
        _unseen(findings, last),
        _layer(findings, last),
    )
    return Callout(frame, (Paragraph(lead, lead=True), Paragraph(together(*parts))))


def _side(raw: StepScore, scores: Sequence[StepScore]) -> str:
    """The side of 0 of the gain; over several steps, which have no interval in all, intervals that
    do not overlap."""
    last, whole, gain = scores[-1].pearson, raw.pearson, scores[-1].gain
    if scores[-2] is raw:
        return gain.side if isinstance(gain, Estimate) else "unclear"
    if not isinstance(last, Estimate) or not isinstance(whole, Estimate):
        return "unclear"
    return "more" if last.low > whole.high else "less" if last.high < whole.low else "unclear"


def _beyond(words: str, raw: StepScore, scores: Sequence[StepScore]) -> Text:
    gain = scores[-1].gain if scores[-2] is raw else None
    claim = f"{words} the cosine of the best layer (step ``raw``)"
    if gain is None:
        return prose(f"{claim}, which has {{number}}.", number=short(raw.pearson))
    return prose(f"{claim}: gain {{number}}.", number=short(gain))


def _basis(findings: ProbeFindings, last: StepScore) -> Text:
    what = "The cosine of its best layer" if last.step == RAW else "A probe of all layers"
    return prose(
        f"{what if findings.train else 'A saved probe'} (step ``{{step}}``) against human scores "
        "of {n} pairs; Spearman {spearman}.",
        step=last.step,
        n=findings.test,
        spearman=short(last.spearman),
    )


def _unseen(findings: ProbeFindings, last: StepScore) -> Text:
    """The correlation on unseen pairs; nothing if it differs little from that on all pairs."""
    whole, unseen = last.pearson, last.unseen
    near = (
        isinstance(whole, Estimate)
        and isinstance(unseen, Estimate)
        and abs(unseen.value - whole.value) < CLEAR
    )
    if near or not some_seen(findings):
        return ()
    words = "On {n} pairs of new sentences: {unseen}."
    return prose(words, n=findings.unseen, unseen=short(unseen))


def _layer(findings: ProbeFindings, last: StepScore) -> Text:
    """The layer that predicts best alone, and whether it is better than all of them together."""
    layers = [one for one in findings.layers if one.model == last.model]
    raw = [(one.raw, one.layer) for one in layers if isinstance(one.raw, Estimate)]
    if len(layers) < 2 or not raw:
        return ()
    best, layer = max(raw, key=lambda one: one[0].value)
    rivals = count_rivals(best, (one for one, _ in raw))
    others = f", not distinguishable from {rivals} other{'s' * (rivals > 1)}" if rivals else ""
    alone = prose(
        f"Layer {{layer}} of {{layers}} (from 0) predicts best alone{others}.",
        layer=layer,
        layers=len(layers),
    )
    encoded = [one.encoded for one in layers if isinstance(one.encoded, Estimate)]
    most = max(encoded, key=lambda one: one.value, default=None)
    if not most or not isinstance(last.pearson, Estimate) or most.low <= last.pearson.high:
        return alone
    words = "One layer as the probe encodes it is better than all together: {most}."
    return together(alone, prose(words, most=short(most)))


def between_models(findings: ProbeFindings) -> Iterator[Text]:
    """The first differences of the last step, and how many more there are."""
    last = last_scores(findings)
    found = [one for one in findings.differences if last and one.step == last[0].step]
    for one in found[:MOST_DIFFERENCES]:
        yield _difference(findings, one)
    if len(found) > MOST_DIFFERENCES:
        more = len(found) - MOST_DIFFERENCES
        yield prose("{more} more in the table of [[steps|differences]].", more=more)


def _difference(findings: ProbeFindings, one: ProbeDifference) -> Text:
    """The difference with the sign that makes it non-negative."""
    found, first, second = one.pearson, one.first, one.second
    if isinstance(found, Estimate) and found.value < 0:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
        first, second = second, first
    shown = isinstance(found, Estimate) and found.side != "unclear"
    claim = "predicts better than" if shown else "is not shown to predict better than"
    sentence = prose(
        f"**{{first}}** {claim} **{{second}}**: difference of Pearson {{found}}.",
        first=first,
        second=second,
        found=short(found),
    )
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    apart = read.get(first) != read.get(second)
    caveat = "They are [[asked|read]] at different positions or with different prompts."
    return together(sentence, prose(caveat) if apart else ())
