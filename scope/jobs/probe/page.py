"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from reports import blocks
from reports.builders.answer import in_two
from reports.builders.outcomes import model_lines
from reports.builders.run import asked, folded, reproduce, run_lines
from reports.prose import Text, joined, prose, together, written
from reports.wording import count_rivals, number
from scope.jobs.probe import page_tables as tables
from scope.records import Estimate, ProbeFindings, ProbeResult, StepScore

MOST_BOXES = 2
"""Most models in the blocks.heading, and with a text each in a terminal; others have a row each."""

MOST_PAIRS = 2
"""Most pairs of sentences on the first screen."""

_CLAIMS: dict[str, tuple[str, str]] = {
    "more": (
        "✓ Train the probe: r {last} with people’s scores, by the plain cosine of a layer {first}",
        "Keep the trained probe with ``--save FOLDER``: it scores new pairs.",
    ),
    "unclear": (
        "? Too early to say whether training helps: r {last} with people’s scores, by the plain "
        "cosine of a layer {first}",
        "Use the plain cosine (``--step raw``), or decide with more test pairs (``--test``).",
    ),
    "less": (
        "!!✗!! Do not train: the plain cosine of a layer follows people’s scores better than the "
        "trained probe, r {first} against {last}",
        "Use the plain cosine (``--step raw``), which needs no training.",
    ),
    "alone": (
        "People’s scores are followed with r {last}",
        "Compare with a trained probe: ``--step raw --step final``.",
    ),
}
"""Words and advice for each sign of the gain over plain cosines, and without a comparison."""


class Answer(NamedTuple):
    """What a model's probe shows: in one sentence, how sure that is, and what to do."""

    heading: Text
    about: Text
    to_do: Text


def page(result: ProbeResult) -> blocks.Page:
    """The whole report of a probe: the answer and the largest errors are open."""
    findings = result.findings
    answers = answers_of(findings)
    more = [prose("{n} more below", n=len(answers) - MOST_BOXES)] * (len(answers) > MOST_BOXES)
    return blocks.Page(
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


_MEANING = prose("Pearson’s r is 1 if scores follow people’s exactly, 0 if not at all.")


def answers_of(findings: ProbeFindings) -> tuple[Answer, ...]:
    """The answer for each model, by its last step."""
    of_models = {score.model: score for score in findings.scores}
    several = len(of_models) > 1
    return tuple(answer_of(findings, last, named=several) for last in of_models.values())


def answer_section(findings: ProbeFindings) -> blocks.Section:
    """The curve over layers, where the probe fails, the worst pairs, and what to do."""
    answers = answers_of(findings)
    differences = tables.differences_table(findings.differences)
    pictures: dict[str, tuple[blocks.Block, ...]] = {
        "Each layer alone": tuple(tables.layer_curve(findings)),
        "The other models": tuple(blocks.Paragraph(each.about) for each in answers[1:]),
        "Which model is better": (differences,) if differences else (),
    }
    again = blocks.paragraph("Run the [[reproduce|command]] again with this option.")
    words = {
        "Where it fails": tuple(tables.counts_of_errors(findings)),
        "For example": tuple(_worst(findings)),
        "What to do": (
            *map(blocks.Paragraph, dict.fromkeys(each.to_do for each in answers)),
            again,
        ),
    }
    return blocks.Section(anchor="answer", title="Answer", blocks=(in_two(words, pictures),))


def _worst(findings: ProbeFindings) -> Iterator[blocks.Block]:
    """The pairs of sentences that are scored worst."""
    ordered = sorted(findings.misjudged, key=lambda error: -abs(error.given - error.wanted))
    for error in ordered[:MOST_PAIRS]:
        yield blocks.Passage(joined([f"“{error.first}”", f"“{error.second}”"], between=" / "))
        yield blocks.paragraph(
            f"People **{error.wanted:.1f}**, {{model}} **{error.given:.1f}** "
            f"(from {findings.low:g} to {findings.high:g}).",
            model=error.model,
        )


def brief_blocks(result: ProbeResult) -> tuple[blocks.Block, ...]:
    """What a terminal shows: the answer, a row a step or a model, and where probes were saved."""
    findings = result.findings
    saved = [(prose("saved"), joined(findings.files))] if findings.files else []
    facts = (*model_lines(result.manifest), *saved)
    answers = answers_of(findings)
    return (
        *(blocks.Paragraph(each.about) for each in answers if len(answers) <= MOST_BOXES),
        *filter(None, [tables.steps_table(findings)]),
        *([blocks.Terms(facts, facts=True)] if facts else []),
        *run_lines(result.clock),
    )


def answer_of(findings: ProbeFindings, last: StepScore, *, named: bool = False) -> Answer:
    """A model's last step, compared with the cosine of its best layer."""
    first, *later = (score for score in findings.scores if score.model == last.model)
    # Over several steps the gain has no interval: the intervals must not overlap.
    gain = last.gain if len(later) == 1 else None
    side = "alone"
    if later and first.step == tables.RAW:
        side = gain.side() if gain is not None else "unclear"
        whole, base = last.pearson, first.pearson
        if gain is None and isinstance(whole, Estimate) and isinstance(base, Estimate):
            apart = not count_rivals(whole, [base])
            side = ("more" if whole.value > base.value else "less") if apart else "unclear"
    claim, to_do = _CLAIMS[side]
    values = (last.pearson, first.pearson)
    r = [number(x.value) if isinstance(x, Estimate) else "undefined" for x in values]
    head = prose(claim.format(last=r[0], first=r[1]))
    trained = "Trained minus plain, whose layer is chosen on other pairs: "
    sure = f"How sure? {trained if gain else 'It is '}{{number}}."
    about = prose(sure, number=gain or last.pearson)
    if side != "alone" and gain is None:
        about = together(about, prose("By the plain cosine {number}.", number=first.pearson))
    if tables.some_seen(findings):
        unseen = prose("On new sentences alone {number}", number=last.unseen)
        plainly = prose(", by the plain cosine {number}.", number=first.unseen)
        about = together(about, unseen + (prose(".") if side == "alone" else plainly))
    name = prose(" ({model})", model=last.model) if named else ()
    return Answer(head + name, about, prose(to_do))


def _limits(findings: ProbeFindings) -> blocks.Section:
    """What the numbers do not show, and the rules that were applied."""
    rules = (
        "A high correlation shows that layers hold the information, not that the model uses it.",
        "Other kinds of sentences may give other results.",
        f"Intervals are from a jackknife over {findings.groups} groups of test pairs, and not "
        "corrected for multiple comparisons: about 1 of 20 excludes 0 by chance.",
        "Of the layers, the best is chosen on the test pairs, which is slightly optimistic.",
        "Whether the saved probe was trained on these pairs is unknown." * (not findings.train),
        "Test pairs share sentences with training pairs, which may inflate their numbers."
        * tables.some_seen(findings),
    )
    bullets = blocks.Bullets((*map(prose, filter(None, rules)), *map(written, findings.notes)))
    return blocks.Section(anchor="limits", title="Limits", blocks=(bullets,))


def _asked(result: ProbeResult) -> blocks.Section:
    """The models and how they were read, the pairs, and the task."""
    findings = result.findings
    shared = asked(result.manifest, capabilities="Task")
    numbers, texts = ("Layers", "Width"), ("Read at", "Precision", "Prompt")
    layers = blocks.Table.of(
        {"Model": "name", **dict.fromkeys(numbers, "number"), **dict.fromkeys(texts, "text")},
        map(attrgetter("name", "layers", "width", "readout", "dtype", "prompt"), findings.models),
    )
    pairs = blocks.paragraph(
        "{train} pairs for training, {development} for development and {test} for testing, of "
        "{n} different sentences; {others} sentences without scores.",
        train=findings.train,
        development=findings.development,
        test=findings.test,
        n=findings.sentences,
        others=findings.unlabelled,
    )
    read: list[blocks.Block] = [blocks.heading("Layers"), layers, pairs]
    return replace(shared, blocks=(*read, *shared.blocks))
