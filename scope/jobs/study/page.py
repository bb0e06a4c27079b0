"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import NamedTuple

from reports.blocks import Bullets, Callout, Figure, Page, Paragraph, Section, Table
from reports.builders.run import asked, folded, reproduce
from reports.charts import Chart, Dot, Guide, Series
from reports.prose import prose, written
from reports.wording import Cell, number, p_value
from scope.jobs.study.requests import StudyNumber, StudyResult
from scope.jobs.study.size import WITHIN
from scope.printing import counted
from scope.records import Undefined

SHOWN_FIRST = 8
"""Numbers that the terminal shows; the page has all."""


class Words(NamedTuple):
    """Measures of the picture, the answer with more or less, and limits."""

    x: str
    y: str
    claim: str
    limits: str


_CHOSEN = "The models were chosen by whoever kept the answers: others may differ."
_LIMITS = (
    "Where questions differ in difficulty, independent models have a CAPA above 0, and the more so "
    f"the closer their skill. {_CHOSEN}"
)
WORDS: Mapping[str, Words] = {
    "study-judges": Words(
        *("CAPA, given accuracy", "score, given accuracy"),
        "at equal accuracy, judges give {} credit to models that answer as they do",
        "Style or training data may raise both similarity and scores. Accuracy on these questions "
        "stands for all quality that a judge may reward. Goel et al. (2025) report .84 to .91 for "
        "their judges, a figure of the same kind.",
    ),
    "study-complementarity": Words(
        *("rank of CAPA, given accuracies", "rank of gain, given accuracies"),
        "at equal accuracies, models that err more alike gain {} from an ideal mixture",
        "An ideal mixture knows which model is right; a router does not. Lucky guesses are part of "
        "the gain. Without regard to accuracy the relation may have another sign: a weak and a "
        "strong model have little CAPA and little gain.",
    ),
    "study-trend": Words(
        *("accuracy", "capa"),
        "more accurate pairs of these models err {} alike",
        "Accuracy and similarity come from the same questions; no cause is shown. CAPA by "
        "probabilities rises with certainty. % flips, KL and r of errors are not corrected for "
        "accuracy, and change with it for that reason. Difficulty alone makes CAPA rise by .008 to "
        ".014 for 10 points of accuracy.",
    ),
    "study-size": Words(
        *WITHIN,
        "larger targets keep {} of what a reference ignores",
        "Larger models are often more accurate, too: no cause is shown. Hard-SCoPE is high for a "
        "target that rarely moves; concordance is not. Rawal and Toneva (2024) find that Hard-"
        "SCoPE grows with the target’s size, and Soft-SCoPE only where the reference is large.",
    ),
}


def page(result: StudyResult) -> Page:
    """The report on a study."""
    words, manifest, box = WORDS[result.manifest.job], result.manifest, _box(result)
    test = "permutation" if manifest.job == "study-judges" else "permutation of ranks"
    of_sizes = manifest.job == "study-size"
    in_pairs = {name for pair in result.pairs for name in (pair.first, pair.second)}
    many = counted(len(in_pairs if of_sizes else result.accuracies), "model")
    caption = prose(f"{many}; the first number is the answer’s; p by {test}")

    def table(numbers: Sequence[StudyNumber]) -> Table:
        return Table.of(
            {"Number": "name", "Over": "text", "Estimate": "estimate", "p": "text"},
            ((n.name, n.subset, Cell.of(n.estimate), p_value(n.p_value)) for n in numbers),
            caption=caption,
        )

    models = Table.of(
        {"Model": "name", "Family": "text", "Accuracy": "estimate"},
        (
            (n.subset, result.families.get(n.subset, ""), Cell.share(n.estimate))
            for n in result.accuracies
        ),
    )
    picture = _picture(result, words)
    limits = Bullets(
        tuple(map(written, (words.limits, _CHOSEN if of_sizes else _LIMITS, *result.notes)))
    )
    return Page(
        title=f"SCoPE {manifest.job.replace('-', ' ')}: {many}",
        sections=(
            Section(anchor="answer", title="Answer", blocks=(box, *picture, table(result.numbers))),
            Section(anchor="limits", title="What the numbers do not show", blocks=(limits,)),
            *folded(
                *([] if of_sizes else [Section(anchor="models", title="Models", blocks=(models,))]),
                asked(manifest, capabilities="Capability" if of_sizes else "Task"),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(box, table(result.numbers[:SHOWN_FIRST]), limits),
    )


def _box(result: StudyResult) -> Callout:
    """The answer: the claim with more or less, or that neither is shown."""
    claim, first = WORDS[result.manifest.job].claim, result.numbers[0]
    p = 1.0 if first.p_value is None else round(first.p_value, 3)
    estimate, shown = first.estimate, False
    head = f"? It is not shown whether {claim.format('more or less')}"
    if isinstance(estimate, Undefined):
        head = f"? This cannot be measured here: {estimate.reason}"
    elif estimate.side() != "unclear" and p < 0.05:
        sentence, shown = claim.format(estimate.side()), True
        head = sentence[0].upper() + sentence[1:]
    lead = Paragraph(prose("**{head}**", head=head), lead=True)
    return Callout("neutral" if shown else "undecided", (lead,))


def _picture(result: StudyResult, words: Words) -> Iterator[Figure]:
    """A dot for each pair, by whether its models are of one family, and a line through them."""
    dots: tuple[list[Dot], list[Dot]] = ([], [])
    for pair in result.pairs:
        if {words.x, words.y} <= pair.measures.keys():
            x, y = pair.measures[words.x], pair.measures[words.y]
            first, second = (result.families.get(name, name) for name in (pair.first, pair.second))
            title = f"{pair.first}, {pair.second}: {words.x} {number(x)}, {words.y} {number(y)}"
            dots[first == second].append(Dot(title=title, x=x, y=y))
    xs, ys = ([getattr(dot, axis) for of in dots for dot in of] for axis in ("x", "y"))
    if len({*xs}) > 1:
        slope, intercept = linear_regression(xs, ys)
        start, end = ((x, intercept + slope * x) for x in (min(xs), max(xs)))
        names = ("different families", "one family") if result.families else ("", "")
        chart = Chart(
            label=f"{words.y} by {words.x}, a dot a pair",
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
