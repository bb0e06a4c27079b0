"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Literal, NamedTuple

from reports.blocks import (
    Block,
    Bullets,
    Page,
    Paragraph,
    Passage,
    Section,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.builders.answer import in_two
from reports.builders.outcomes import model_lines
from reports.builders.run import asked, code, folded, reproduce, run_lines
from reports.prose import Text, joined, prose, together, written
from reports.wording import count_rivals, short, two_digits
from scope.jobs.probe import page_tables as tables
from scope.records import Estimate, ProbeFindings, ProbeResult, StepScore

MOST_DIFFERENCES = 3
"""Differences between models in the answer; the others are in the table."""

MOST_BOXES = 2
"""Most models in the heading, and with a text each in a terminal; others have a row each."""

MOST_PAIRS = 2
"""Most pairs of sentences on the first screen."""

Kind = Literal["good", "bad", "undecided"]

_CLAIMS: dict[str, tuple[Kind, str, str]] = {
    "more": (
        "good",
        "✓ Train the probe: {model} then follows people’s scores better",
        "Keep the trained probe with ``--save FOLDER``: it scores new pairs.",
    ),
    "unclear": (
        "undecided",
        "? Too early to say whether training a probe of {model} helps",
        "Use the plain cosine (``--step raw``), or decide with more test pairs (``--test``).",
    ),
    "less": (
        "bad",
        "!!✗!! Do not train: plain cosines of {model} follow people’s scores better",
        "Use the plain cosine (``--step raw``), which needs no training, or train on more pairs.",
    ),
}
"""Kind, words and advice for each sign of the gain over plain cosines."""


class Answer(NamedTuple):
    """What a model's probe shows: in one sentence, what that rests on, and what to do."""

    kind: Kind
    heading: Text
    about: Text
    to_do: Text


def page(result: ProbeResult) -> Page:
    """The whole report of a probe: the answer and the largest errors are open."""
    findings = result.findings
    answers = answers_of(findings)
    more = [prose("{n} more below", n=len(answers) - MOST_BOXES)] * (len(answers) > MOST_BOXES)
    return Page(
        title=f"SCoPE {result.manifest.job}: {', '.join(model.name for model in findings.models)}",
        heading=joined([*(each.heading for each in answers[:MOST_BOXES]), *more], between="; "),
        about=together(answers[0].about, _MEANING),
        sections=(
            answer_section(findings),
            *folded(
                tables.wrong_section(findings),
                tables.steps_section(findings),
                tables.layers_section(findings),
                _limits(findings),
                _asked(result),
            ),
            reproduce(result.manifest, result.clock),
        ),
        brief=brief_blocks(result),
    )


_MEANING = prose("Pearson’s r is 1 where scores follow people’s exactly, 0 where not at all.")


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    return tuple({score.model: score for score in findings.scores}.values())


def answers_of(findings: ProbeFindings) -> tuple[Answer, ...]:
    """The answer for each model."""
    return tuple(answer_of(findings, last) for last in last_scores(findings))


def answer_section(findings: ProbeFindings) -> Section:
    """The curve over layers, where the probe fails, the worst pairs, and what to do."""
    answers, differences = answers_of(findings), tuple(between_models(findings))
    pictures: dict[str, tuple[Block, ...]] = {
        "Each layer alone": tuple(tables.layer_curve(findings.layers)),
        "Which model is better": (Bullets(differences),) if differences else (),
        "The other models": tuple(Paragraph(each.about) for each in answers[1:]),
    }
    advice = dict.fromkeys(each.to_do for each in answers)
    again = paragraph("Run the [[reproduce|command]] again with these options.")
    words = {
        "Where it fails": tuple(tables.counts_of_errors(findings.misjudged)),
        "For example": tuple(_worst(findings)),
        "What to do": (*map(Paragraph, advice), again),
    }
    return Section(anchor="answer", title="Answer", blocks=(in_two(words, pictures),))


def _worst(findings: ProbeFindings) -> Iterator[Block]:
    """The pairs of sentences that are scored worst."""
    ordered = sorted(findings.misjudged, key=lambda error: -abs(error.given - error.wanted))
    for error in ordered[:MOST_PAIRS]:
        yield Passage(joined([error.first, error.second], between=" / "))
        yield paragraph(
            f"People **{error.wanted:.1f}**, {{model}} **{error.given:.1f}** "
            f"(from {findings.low:g} to {findings.high:g}).",
            model=error.model,
        )


def brief_blocks(result: ProbeResult) -> tuple[Block, ...]:
    """What a terminal shows: the answer, a row a step or a model, and where probes were saved."""
    findings, last = result.findings, last_scores(result.findings)
    facts = (
        *model_lines(result.manifest),
        *([(prose("saved"), joined(findings.files))] if findings.files else []),
    )
    return (
        *(Paragraph(each.about) for each in answers_of(findings) if len(last) <= MOST_BOXES),
        *map(Paragraph, between_models(findings)),
        *tables.largest_losses(findings),
        tables.short_table(findings.scores if len(findings.scores) <= tables.MOST_ROWS else last),
        *([Terms(facts, facts=True)] if facts else []),
        *run_lines(result.clock),
    )


def answer_of(findings: ProbeFindings, last: StepScore) -> Answer:
    """A model's last step, compared with the cosine of its best layer."""
    first, *later = (score for score in findings.scores if score.model == last.model)
    kind: Kind = "undecided"
    claim, beyond = "{model} follows people’s scores", prose("")
    to_do = "Compare with a trained probe: ``--step raw --step final``."
    values = [score.pearson for score in (last, first)]
    r = [two_digits(x.value) if isinstance(x, Estimate) else "undefined" for x in values]
    head = f"{claim} with r = {r[0]}"
    if first.step == tables.RAW and later:
        # Over several steps the gain has no interval: the intervals must not overlap.
        gain = last.gain if later == [last] else None
        side = _side(first, last) if gain is None else gain.side(decimals=2)
        kind, claim, to_do = _CLAIMS[side]
        head = f"{claim}, r {r[0]} against {r[1]}" if side != "less" else f"{claim}, r {r[1]}"
        head += f" against {r[0]}" if side == "less" else ""
        beyond = prose(
            "Trained minus plain cosine of the best layer: {number}."
            if gain is not None
            else "The plain cosine of the best layer has {number}.",
            number=short(gain or first.pearson),
        )
    what = "The cosine of its best layer" if last.step == tables.RAW else "The probe of all layers"
    basis = prose(
        f"{what if findings.train else 'The saved probe'} (step ``{{step}}``) has {{pearson}} on "
        "{n} scored pairs, by ranks {spearman}.",
        step=last.step,
        pearson=short(last.pearson),
        n=findings.test,
        spearman=short(last.spearman),
    )
    new, some_seen = "On {n} pairs of new sentences: {unseen}.", tables.some_seen(findings)
    unseen = prose(new, n=findings.unseen, unseen=short(last.unseen)) if some_seen else ()
    about = together(beyond, basis, unseen, _best_layer(findings, last.model))
    return Answer(kind, prose(head, model=last.model), about, prose(to_do))


def _side(raw: StepScore, last: StepScore) -> str:
    """Whether the interval of the last step lies above or below that of the step ``raw``."""
    whole, base = last.pearson, raw.pearson
    if not isinstance(whole, Estimate) or not isinstance(base, Estimate):
        return "unclear"
    if round(whole.low, 2) > round(base.high, 2):
        return "more"
    return "less" if round(whole.high, 2) < round(base.low, 2) else "unclear"


def _best_layer(findings: ProbeFindings, model: str) -> Text:
    """The layer that predicts best alone; nothing for a single layer."""
    layers = [score for score in findings.layers if score.model == model]
    raw = {score.layer: score.raw for score in layers if isinstance(score.raw, Estimate)}
    if len(layers) < 2 or not raw:
        return ()
    best = max(raw, key=lambda layer: raw[layer].value)
    rivals = count_rivals(raw[best], raw.values())
    others = f", not distinguishable from {rivals} other{'s' * (rivals > 1)}" if rivals else ""
    return prose(
        f"Layer {{layer}} of {{layers}} (from 0) predicts best alone{others}.",
        layer=best,
        layers=len(layers),
    )


def between_models(findings: ProbeFindings) -> Iterator[Text]:
    """Which of two models predicts better by the last step, and the number of other comparisons."""
    claims = {"more": "predicts better than", "less": "predicts worse than"}
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    apart = " They are [[asked|read]] at different positions or with different prompts."
    differences = [each for each in findings.differences if each.step == findings.scores[-1].step]
    for each in differences[:MOST_DIFFERENCES]:
        side = each.pearson.side(decimals=2)
        same = read.get(each.first) == read.get(each.second)
        yield prose(
            f"**{{first}}** {claims.get(side, 'is not shown to predict better or worse than')} "
            f"**{{second}}**: difference of Pearson {{difference}}.{'' if same else apart}",
            first=each.first,
            second=each.second,
            difference=short(each.pearson),
        )
    if more := differences[MOST_DIFFERENCES:]:
        yield prose("{more} more in the table of [[steps|differences]].", more=len(more))


def _limits(findings: ProbeFindings) -> Section:
    """What the numbers do not show, and the rules that were applied."""
    rules = [
        prose(
            "A high correlation shows that layers hold the information, not that the model uses "
            "it. Other kinds of sentences may give other results."
        ),
        prose(
            "Intervals are from a jackknife over {groups} groups of test pairs: pairs that share a "
            "sentence are not independent. They are not corrected for multiple comparisons: about "
            "1 of 20 excludes 0 by chance. A layer that is chosen as the best on the test pairs is "
            "slightly optimistic.",
            groups=findings.groups,
        ),
    ]
    if not findings.train:
        rules.append(
            prose("Whether the saved probe was trained on some of these pairs is unknown.")
        )
    if tables.some_seen(findings):
        seen = prose(
            "{seen} test pairs share a sentence with training or development pairs, which may "
            "inflate their correlation; unseen pairs may also be harder or easier.",
            seen=findings.test - findings.unseen,
        )
        rules.append(seen)
    bullets = Bullets((*rules, *map(written, findings.notes)))
    return Section(anchor="limits", title="Limits", blocks=(bullets,))


def _asked(result: ProbeResult) -> Section:
    """The models and how they were read, the pairs, and the task."""
    findings = result.findings
    shared = asked(result.manifest, capabilities="Task")
    numbers, texts = ("Layers", "Width"), ("Read at", "Precision", "Prompt")
    layers = Table.of(
        {"Model": "name", **dict.fromkeys(numbers, "number"), **dict.fromkeys(texts, "text")},
        map(attrgetter("name", "layers", "width", "readout", "dtype", "prompt"), findings.models),
    )
    about = note(
        "A layer’s vector is the residual stream after its block: at the __last__ token, as the "
        "__mean__ of all tokens, or at the last token of a __prompt__ with the text."
    )
    pairs = paragraph(
        "{train} pairs for training, {development} for development and {test} for testing, of "
        "{n} different sentences; {others} sentences without scores.",
        train=findings.train,
        development=findings.development,
        test=findings.test,
        n=findings.sentences,
        others=findings.unlabelled,
    )
    saved = paragraph("Saved probes: {files}.", files=joined(map(code, findings.files)))
    read: list[Block] = [heading("Layers"), layers, about, pairs]
    read += [saved] if findings.files else []
    return replace(shared, blocks=(*read, *shared.blocks))
