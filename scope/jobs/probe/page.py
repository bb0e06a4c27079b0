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
from reports.prose import Text, joined, plain, prose, together, written
from reports.wording import count_rivals, number
from scope.jobs.probe import page_tables as tables
from scope.records import Estimate, ProbeFindings, ProbeResult, StepScore

MOST_BOXES = 2
"""Most models in the blocks.heading, and with a text each in a terminal; others have a row each."""

MOST_PAIRS = 2
"""Most pairs of sentences on the first screen."""

_CLAIMS: dict[str, tuple[str, str]] = {
    "more": (
        "✓ Train the probe: it follows people’s scores with r = {last}, {plain} with r = {first}",
        "Keep the trained probe with ``--save FOLDER``: it scores new pairs.",
    ),
    "unclear": (
        "? Too early to say whether training helps: the trained probe follows people’s scores with "
        "r = {last}, {plain} with r = {first}",
        "Use the plain cosine (``--step raw``), or decide with more test pairs (``--test``).",
    ),
    "less": (
        "!!✗!! Do not train: {plain} follows people’s scores better than the trained probe, "
        "r = {first} against {last}",
        "Use the plain cosine (``--step raw``), which needs no training.",
    ),
    "alone": (
        "People’s scores are followed with r = {last}",
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


def answers_of(findings: ProbeFindings) -> list[Answer]:
    """The answer for each model, by its last step."""
    return [answer_of(findings, last) for last in {s.model: s for s in findings.scores}.values()]


def answer_section(findings: ProbeFindings) -> blocks.Section:
    """The curve over layers, where the probe fails, the worst pairs, and what to do."""
    answers = answers_of(findings)
    pictures: dict[str, tuple[blocks.Block, ...]] = {
        "Each layer alone": tuple(tables.layer_curve(findings)),
        "The other models": tuple(blocks.Paragraph(each.about) for each in answers[1:]),
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
    for error in tables.worst_first(findings)[:MOST_PAIRS]:
        yield blocks.paragraph(
            f"“{{first}}” / “{{second}}” People **{error.wanted:.1f}**, {{model}} "
            f"**{error.given:.1f}** (from {findings.low:g} to {findings.high:g}).",
            first=error.first,
            second=error.second,
            model=error.model if findings.models[1:] else tables.method_of(findings),
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


def answer_of(findings: ProbeFindings, last: StepScore) -> Answer:
    """A model's last step, compared with the cosine of its best layer."""
    first, *later = (score for score in findings.scores if score.model == last.model)
    whole, base = last.pearson, first.pearson
    # Over several steps the gain has no interval: the intervals must not overlap.
    gain = last.gain if len(later) == 1 else None
    side, sure = "alone", plain(written(whole))
    if later and first.step == tables.RAW:
        side = "unclear" if gain is None else gain.side()
        if gain is None and isinstance(whole, Estimate) and isinstance(base, Estimate):
            apart = not count_rivals(whole, [base])
            side = ("more" if whole.value > base.value else "less") if apart else "unclear"
        unknown = [r for r in (whole, base) if not isinstance(r, Estimate)]
        sure = "Not decided: the intervals of both overlap."
        if difference := next(iter(unknown), gain):
            sure = f"Not decided: the difference of r is {plain(written(difference))}."
    if better := {"more": "better", "less": "worse"}.get(side):
        sure = (
            f"A probe as good as the plain cosine would look this much {better} by luck in at most "
            f"1 run of 40 ({findings.test:,} test pairs)."
        )
    claim, to_do = _CLAIMS[side]
    r = [number(x.value) if isinstance(x, Estimate) else "undefined" for x in (whole, base)]
    layer = "a layer" if first.layer is None else f"layer {first.layer}"
    head = prose(claim.format(last=r[0], first=r[1], plain=f"the plain cosine of {layer}"))
    if findings.models[1:]:
        head += prose(" ({model})", model=last.model)
    return Answer(head, prose("**How sure?** {sure}", sure=sure), prose(to_do))


def _limits(findings: ProbeFindings) -> blocks.Section:
    """What the numbers do not show, and the rules that were applied."""
    rules = (
        "A high correlation shows that layers hold the information, not that the model uses it; "
        "other kinds of sentences may give other results.",
        f"Intervals are from a jackknife over {findings.groups} groups of test pairs, and not "
        "corrected for multiple comparisons: about 1 of 20 excludes 0 by chance.",
        "Whether the saved probe was trained on these pairs is unknown." * (not findings.train),
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
        f"{findings.train:,} pairs for training, {findings.development:,} for development and "
        f"{findings.test:,} for testing, of {findings.sentences:,} different sentences; "
        f"{findings.unlabelled:,} sentences without scores."
    )
    return replace(shared, blocks=(blocks.heading("Layers"), layers, pairs, *shared.blocks))
