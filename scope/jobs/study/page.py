"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from statistics import linear_regression
from types import MappingProxyType
from typing import Literal, NamedTuple

from reports.blocks import (
    Block,
    Bullets,
    Callout,
    Figure,
    Page,
    Paragraph,
    Section,
    Table,
)
from reports.builders.run import asked, folded, reproduce
from reports.charts import Chart, Dot, Guide, Series
from reports.prose import prose, written
from reports.wording import Cell, number, p_value
from scope.jobs.study.result import StudyResult
from scope.printing import counted
from scope.records import Undefined


class Words(NamedTuple):
    """Measures of the picture, the answer with more or less, the paper's figure, and limits."""

    x: str
    y: str
    claim: str
    paper: str
    limits: str


_LIMITS = (
    "Where questions differ in difficulty, independent models have a CAPA above 0, and the more so "
    "the closer their skill. The models were chosen by whoever kept the answers: others may differ."
)
WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "study-judges": Words(
            *("CAPA, given accuracy", "score, given accuracy"),
            "at equal accuracy, judges give {} credit to models that answer as they do",
            "Goel et al. (2025) report .84 to .91 for their judges, a figure of the same kind.",
            "Style or training data may raise both similarity and scores. Accuracy on these "
            "questions stands for all quality that a judge may reward.",
        ),
        "study-complementarity": Words(
            *("capa", "gain"),
            "at equal accuracies, models that err more alike gain {} from an ideal mixture",
            "Goel et al. (2025) report the gain of training on another model’s labels, which is of "
            "another kind: no figure of theirs stands beside these.",
            "An ideal mixture knows which model is right; a router does not. Lucky guesses are "
            "part of the gain. Without regard to accuracy the relation may have another sign: "
            "a weak and a strong model have little CAPA and little gain.",
        ),
        "study-trend": Words(
            *("accuracy", "capa"),
            "more accurate pairs of these models err {} alike",
            "Goel et al. (2025) find over 130 models that errors grow more alike with capability; "
            "no slope of theirs is known here.",
            "Accuracy and similarity come from the same questions; no cause is shown. % flips, KL "
            "and r of errors are not corrected for accuracy, and change with it for that reason.",
        ),
    }
)


def page(result: StudyResult) -> Page:
    """The report on a study."""
    words, manifest, box = WORDS[result.manifest.job], result.manifest, _box(result)
    numbers = Table.of(
        {"Number": "name", "Over": "text", "Estimate": "estimate", "p": "text"},
        ((n.name, n.subset, Cell.of(n.estimate), p_value(n.p_value)) for n in result.numbers),
    )
    models = Table.of(
        {"Model": "name", "Family": "text", "Size": "text", "Accuracy": "estimate"},
        (
            (n.subset, result.families.get(n.subset, ""), _size(n.subset), Cell.share(n.estimate))
            for n in result.accuracies
        ),
    )
    limits = Bullets(tuple(map(written, (words.limits, _LIMITS, *result.notes))))
    paper = Paragraph(written(words.paper))
    answer: tuple[Block, ...] = (box, *_picture(result, words), numbers, paper)
    return Page(
        title=f"SCoPE {manifest.job.replace('-', ' ')}: {len(result.accuracies)} models",
        sections=(
            Section(anchor="answer", title="Answer", blocks=answer),
            Section(anchor="limits", title="What the numbers do not show", blocks=(limits,)),
            *folded(
                Section(anchor="models", title="Models", blocks=(models,)),
                asked(manifest, capabilities="Task"),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(box, numbers, limits),
    )


def _box(result: StudyResult) -> Callout:
    """The answer: the claim with more or less, or that neither is shown, and the first number."""
    claim, of_judges = WORDS[result.manifest.job].claim, result.manifest.job == "study-judges"
    first, models = result.numbers[0], counted(len(result.accuracies), "model")
    estimate = first.estimate
    frame: Literal["undecided", "neutral"] = "undecided"
    head = f"? It is not shown whether {claim.format('more or less')}"
    if isinstance(estimate, Undefined):
        head = f"? This cannot be measured here: {estimate.reason}"
    elif estimate.side != "unclear" and first.p_value is not None and first.p_value < 0.05:
        sentence, frame = claim.format(estimate.side), "neutral"
        head = sentence[0].upper() + sentence[1:]
    why = prose(
        "{name}, {subset}: {estimate}; p {p} by permutation{of}; {models}.",
        of="" if of_judges else " of ranks",
        name=first.name,
        subset=first.subset,
        estimate=estimate,
        p=p_value(first.p_value),
        models=counted(estimate.n, "judged model") if of_judges else models,
    )
    return Callout(frame, (Paragraph(prose("**{head}**", head=head), lead=True), Paragraph(why)))


def _size(model: str) -> str:
    """The number of parameters in a model's name; empty if there is none.

    >>> _size("Mixtral-8x7B-v0.1"), _size("phi-2")
    ('8x7B', '')
    """
    size = re.search(r"(?<![A-Za-z\d.])(?:\d+x)?\d+(?:\.\d+)?[bB](?![A-Za-z])", model)
    return size[0] if size else ""


def _picture(result: StudyResult, words: Words) -> Iterator[Figure]:
    dots: tuple[list[Dot], list[Dot]] = ([], [])
    for pair in result.pairs:
        if {words.x, words.y} <= pair.measures.keys():
            x, y = pair.measures[words.x], pair.measures[words.y]
            families = [result.families.get(name, name) for name in (pair.first, pair.second)]
            title = f"{pair.first}, {pair.second}: {words.x} {number(x)}, {words.y} {number(y)}"
            dots[families[0] == families[1]].append(Dot(title=title, x=x, y=y))
    xs, ys = ([getattr(dot, axis) for of in dots for dot in of] for axis in ("x", "y"))
    if len({*xs}) > 1:
        fit = linear_regression(xs, ys)
        start, end = ((x, fit.intercept + fit.slope * x) for x in (min(xs), max(xs)))
        names = ("different families", "one family") if result.families else ("", "")
        chart = Chart(
            label=f"{words.y} by {words.x}, a dot a pair; the numbers are in the table",
            x_title=words.x,
            y_title=words.y,
            series=tuple(
                Series(dots=tuple(of), name=name, shape=place)
                for place, (of, name) in enumerate(zip(dots, names, strict=True))
                if of
            ),
            guides=(Guide(start, end),),
        )
        yield Figure(chart)
