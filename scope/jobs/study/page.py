"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from reports.blocks import Block, Bullets, Callout, Figure, Page, Paragraph, Section, Table
from reports.builders.run import asked, reproduce
from reports.charts import ScatterChart, ScatterDot
from reports.prose import prose, written
from reports.wording import Cell, number, p_value
from scope.jobs.study.inference import slope
from scope.jobs.study.result import StudyResult
from scope.records import Estimate, Undefined


def _size(model: str) -> str:
    """The number of parameters in a model's name; empty if there is none.

    >>> _size("Mixtral-8x7B-v0.1"), _size("phi-2")
    ('8x7B', '')
    """
    size = re.search(r"(?<![A-Za-z\d.])(?:\d+x)?\d+(?:\.\d+)?[bB](?![A-Za-z])", model)
    return size[0] if size else ""


class Words(NamedTuple):
    """What a page says: measures of the picture, the answer by its side of 0, paper and limits."""

    x: str
    y: str
    more: str
    less: str
    unclear: str
    paper: str
    limits: tuple[str, ...]


_SAME_ITEMS = (
    "CAPA is 0 for independent errors only where all questions are equally difficult; otherwise "
    "models of close skill have CAPA above 0 without a common cause."
)
_CHOSEN = "The models were chosen by whoever kept the answers; others may differ."
WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "study-judges": Words(
            "CAPA, given accuracy",
            "score, given accuracy",
            "Judges score models higher that answer as they do, at equal accuracy",
            "Judges score models lower that answer as they do, at equal accuracy",
            "It is not shown that scores depend on similarity to the judge at equal accuracy",
            "Goel et al. (2025) report .84 to .91 for their judges, a figure of the same kind.",
            (
                "A correlation over models is no cause: style or training data may raise both.",
                "Accuracy on these questions stands for all quality that a judge may reward.",
                _SAME_ITEMS,
            ),
        ),
        "study-complementarity": Words(
            "capa",
            "gain",
            "The more alike two models err, the more an ideal mixture gains",
            "The more alike two models err, the less an ideal mixture gains",
            "No relation of CAPA and the gain of an ideal mixture is shown",
            "Goel et al. (2025) report the gain of training on another model’s labels, which is "
            "of another kind: no figure of theirs stands beside these.",
            (
                "An ideal mixture knows who is right; no router reaches it.",
                "Part of the gain is luck: two guessing models complement each other, too.",
                "CAPA and gain come from the same answers, and both depend on accuracy.",
            ),
        ),
        "study-trend": Words(
            "accuracy",
            "capa",
            "More accurate pairs of these models err more alike",
            "More accurate pairs of these models err less alike",
            "It is not shown that similarity changes with accuracy",
            "Goel et al. (2025) find over 130 models that errors grow more alike with capability; "
            "no slope of theirs is at hand.",
            (
                "Accuracy and similarity come from the same questions: no time or cause is shown.",
                _SAME_ITEMS,
                "% flips, KL and r of errors are not corrected for accuracy and fall or rise with "
                "it for that reason alone.",
            ),
        ),
    }
)


def page(result: StudyResult) -> Page:
    """The report on a study."""
    words, first = WORDS[result.manifest.job], result.numbers[0]
    estimate = first.estimate
    side = estimate.side if isinstance(estimate, Estimate) and (first.p_value or 0) < 0.05 else ""
    head = {"more": words.more, "less": words.less}.get(side, f"? {words.unclear}")
    if isinstance(estimate, Undefined):
        head = f"? This cannot be measured here: {estimate.reason}"
    box = Callout(
        "neutral" if side in ("more", "less") else "undecided",
        (
            Paragraph(prose("**{head}**", head=head), lead=True),
            Paragraph(
                prose(
                    "{name}, {subset}: {estimate}; permutation test p {p}; {models} models.",
                    name=first.name[:1].upper() + first.name[1:],
                    subset=first.subset,
                    estimate=estimate,
                    p=p_value(first.p_value),
                    models=len(result.accuracies),
                )
            ),
        ),
    )
    rows = [(n.name, n.subset, Cell.of(n.estimate), p_value(n.p_value)) for n in result.numbers]
    numbers = Table.of(
        {"Number": "name", "Over": "text", "Estimate": "estimate", "p": "text"}, rows
    )
    limits = Bullets(tuple(map(written, (*words.limits, _CHOSEN, *result.notes))))
    models = Table.of(
        {"Model": "name", "Family": "text", "Size": "text", "Accuracy": "estimate"},
        (
            (n.subset, result.families.get(n.subset, ""), _size(n.subset), Cell.share(n.estimate))
            for n in result.accuracies
        ),
    )
    what, paper = result.manifest, Paragraph(written(words.paper))
    shown: tuple[Block, ...] = (box, *_picture(result, words), numbers, paper)
    folded = (
        Section(anchor="models", title="Models", blocks=(models,)),
        asked(what, capabilities="Task"),
        reproduce(what, result.clock),
    )
    return Page(
        title=f"SCoPE {what.job.replace('-', ' ')}: {len(result.accuracies)} models",
        sections=(
            Section(anchor="answer", title="Answer", blocks=shown),
            Section(anchor="limits", title="What the numbers do not show", blocks=(limits,)),
            *(replace(section, folded=True) for section in folded),
        ),
        brief=(box, numbers, limits),
    )


def _picture(result: StudyResult, words: Words) -> list[Block]:
    pairs = [pair for pair in result.pairs if {words.x, words.y} <= pair.measures.keys()]
    if len(pairs) < 2:
        return []
    dots = []
    for pair in pairs:
        x, y = pair.measures[words.x], pair.measures[words.y]
        family = result.families.get(pair.first)
        related = family is not None and family == result.families.get(pair.second)
        title = f"{pair.first} and {pair.second}: {words.x} {number(x)}, {words.y} {number(y)}"
        dots.append(ScatterDot(title=title, x=x, y=y, series=int(related)))
    groups = ("different families", "one family") if result.families else ()
    xs, ys = np.array([(dot.x, dot.y) for dot in dots]).T
    ends, change = (float(xs.min()), float(xs.max())), slope(xs, ys)
    chart = ScatterChart(
        label=f"{words.y} by {words.x}, a dot a pair; the numbers are in the table",
        x_title=words.x,
        y_title=words.y,
        dots=tuple(dots),
        groups=groups,
        fit=tuple((x, float(ys.mean() + change * (x - xs.mean()))) for x in ends),
    )
    return [Figure(chart)]
