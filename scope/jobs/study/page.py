"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import NamedTuple

from reports.blocks import (
    Bullets,
    Figure,
    Page,
    Paragraph,
    Preformatted,
    Section,
    Table,
    note,
    paragraph,
)
from reports.builders.answer import in_two
from reports.builders.run import asked, folded, reproduce
from reports.charts import Chart, Dot, Guide, Series
from reports.prose import Text, prose, written
from reports.wording import Cell, number, p_value, short, two_digits
from scope.jobs.study.requests import StudyNumber, StudyResult
from scope.jobs.study.size import WITHIN
from scope.printing import counted
from scope.records import Undefined

SHOWN_FIRST = 8
"""Numbers that the terminal shows; the page has all."""


class Words(NamedTuple):
    """Measures of the picture with their words, the answer with more or less, limits, and advice.

    ``example`` is the measure by which the first screen names the pairs with the most and the
    least, with its words; empty for the picture's second measure.
    """

    x: str
    y: str
    axes: tuple[str, str]
    claim: str
    limits: tuple[str, ...]
    to_do: str
    command: str
    example: tuple[str, str]


_CHOSEN = "The models were chosen by whoever kept the answers: others may differ."
_LIMITS = (
    "Where questions differ in difficulty, independent models have a CAPA above 0, and the more so "
    f"the closer their skill. {_CHOSEN}"
)
_CAPA = "likeness of mistakes (CAPA)"
WORDS: Mapping[str, Words] = {
    "study-judges": Words(
        *("CAPA, given accuracy", "score, given accuracy"),
        (f"{_CAPA}, given accuracy", "judge’s score, given accuracy"),
        "at equal accuracy, judges give {} credit to models that answer as they do",
        (
            "Style or training data may raise both likeness and scores, and accuracy on these "
            "questions stands for all quality that a judge may reward.",
            "Goel et al. (2025) report .84 to .91 for their judges, a figure of the same kind.",
        ),
        "Let several judges score that are unlike the models they judge, and unlike each other:",
        "scope compare --model JUDGE --model JUDGED --task choice --data QUESTIONS",
        ("score, given accuracy", "score beyond its accuracy"),
    ),
    "study-complementarity": Words(
        *("rank of CAPA, given accuracies", "rank of gain, given accuracies"),
        (f"rank of {_CAPA}, given accuracies", "rank of gain, given accuracies"),
        "at equal accuracies, two models with more alike mistakes gain {} from working together",
        (
            "The gain is what an ideal mixture adds, which knows which model is right; a router "
            "does not. Lucky guesses are part of it.",
            "Without regard to accuracy the relation may have another sign: a weak and a strong "
            "model have little CAPA and little gain.",
        ),
        "Combine models of equal skill that err differently, and see what a router makes of them:",
        "scope fleet route --data ANSWERS --model FIRST --model SECOND",
        ("gain", "share of questions that only the weaker model answers correctly"),
    ),
    "study-trend": Words(
        *("accuracy", "capa"),
        ("mean accuracy of the pair", _CAPA),
        "more accurate pairs of these models err {} alike",
        (
            "Difficulty alone makes CAPA rise by .008 to .014 for 10 points of accuracy.",
            "Accuracy and likeness come from the same questions; no cause is shown. CAPA by "
            "probabilities rises with certainty. % flips, KL and r of errors are not corrected for "
            "accuracy, and change with it for that reason.",
        ),
        "Do not take two accurate models for independent checks of each other; look at a pair:",
        "scope compare --model FIRST --model SECOND --task choice --data QUESTIONS",
        ("capa", "CAPA: 0 if as alike as chance, 1 if the same"),
    ),
    "study-size": Words(
        *WITHIN,
        WITHIN,
        "larger targets keep {} of what a reference ignores",
        (
            "Hard-SCoPE is high for a target that rarely moves; *same reaction* is not.",
            "Larger models are often more accurate, too: no cause is shown. Rawal and Toneva "
            "(2024) find that Hard-SCoPE grows with the target’s size, and Soft-SCoPE only where "
            "the reference is large.",
        ),
        "Judge each target by an audit of its own, with a yardstick, not by its size:",
        "scope audit --reference MODEL --target MODEL --baseline MODEL --data TEXTS",
        (WITHIN[1], "Hard-SCoPE, less the reference’s mean"),
    ),
}


def page(result: StudyResult) -> Page:
    """The report on a study."""
    words, manifest = WORDS[result.manifest.job], result.manifest
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
    general = (_CHOSEN if of_sizes else _LIMITS, *result.notes)
    limits = Bullets(tuple(map(written, (*words.limits, *general))))
    head, about = _answer(result, words)
    parts = {
        "Where it may fail": (Paragraph(written(words.limits[0])), *_others(result)),
        "For example": tuple(_examples(result, words)),
        "What to do": (Paragraph(prose(words.to_do)), Preformatted(words.command)),
    }
    seen = in_two(parts, {"Each pair of models": tuple(_picture(result, words))})
    return Page(
        title=f"SCoPE {manifest.job.replace('-', ' ')}: {many}",
        heading=head,
        about=about,
        sections=(
            Section(anchor="answer", title="Answer", blocks=(seen,)),
            *folded(
                Section(anchor="numbers", title="All numbers", blocks=(table(result.numbers),)),
                Section(anchor="limits", title="What the numbers do not show", blocks=(limits,)),
                *([] if of_sizes else [Section(anchor="models", title="Models", blocks=(models,))]),
                asked(manifest, capabilities="Capability" if of_sizes else "Task"),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(Paragraph(about), table(result.numbers[:SHOWN_FIRST]), limits),
    )


def _answer(result: StudyResult, words: Words) -> tuple[Text, Text]:
    """The claim with more or less, or that neither is shown; and how sure that is."""
    first = result.numbers[0]
    p = 1.0 if first.p_value is None else round(first.p_value, 3)
    estimate, claim = first.estimate, words.claim
    if isinstance(estimate, Undefined):
        return prose("? This cannot be measured here: {why}", why=estimate.reason), ()
    head = f"? It is too early to say whether {claim.format('more or less')}"
    if estimate.side() != "unclear" and p < 0.05:
        sentence = claim.format(estimate.side())
        head = sentence[0].upper() + sentence[1:]
    chance = (
        f" Shuffled models show as much in 1 of {1 / first.p_value:,.0f} draws."
        if first.p_value
        else ""
    )
    about = prose(
        f"{{name}}: {{number}} over {{n}} ({{subset}}). CAPA is how alike mistakes are.{chance}",
        name=first.name[:1].upper() + first.name[1:],
        number=short(estimate),
        n=estimate.n,
        subset=first.subset,
    )
    return prose("{head}", head=head), about


def _others(result: StudyResult) -> Iterator[Paragraph]:
    """The second number, to which the answer is not limited."""
    for other in result.numbers[1:2]:
        if other.name not in result.numbers[0].name:
            return
        yield paragraph(
            "{name}, {subset}: {number}.",
            name=other.name[:1].upper() + other.name[1:],
            subset=other.subset,
            number=short(other.estimate),
        )


def _examples(result: StudyResult, words: Words) -> Iterator[Paragraph]:
    """The pairs with the most and with the least of a measure."""
    key, meaning = words.example
    known = [pair for pair in result.pairs if key in pair.measures]
    known.sort(key=lambda pair: pair.measures[key])
    if known:
        yield note("{meaning}:", meaning=f"{meaning[:1].upper()}{meaning[1:]}")
    for most, pair in zip(("Most", "Least"), (*known[-1:], *known[:-1][:1]), strict=False):
        yield paragraph(
            f"{most}: **{{first}}** and **{{second}}**, {two_digits(pair.measures[key])}.",
            first=pair.first,
            second=pair.second,
        )


def _picture(result: StudyResult, words: Words) -> Iterator[Figure]:
    """A dot for each pair, by whether its models are of one family, and a line through them."""
    dots: tuple[list[Dot], list[Dot]] = ([], [])
    for pair in result.pairs:
        if {words.x, words.y} <= pair.measures.keys():
            x, y = pair.measures[words.x], pair.measures[words.y]
            first, second = (result.families.get(name, name) for name in (pair.first, pair.second))
            numbers = f"{words.axes[0]} {number(x)}, {words.axes[1]} {number(y)}"
            title = f"{pair.first}, {pair.second}: {numbers}"
            dots[first == second].append(Dot(title=title, x=x, y=y))
    xs, ys = ([getattr(dot, axis) for of in dots for dot in of] for axis in ("x", "y"))
    if len({*xs}) > 1:
        slope, intercept = linear_regression(xs, ys)
        start, end = ((x, intercept + slope * x) for x in (min(xs), max(xs)))
        names = ("different families", "one family") if result.families else ("", "")
        chart = Chart(
            label=f"{words.axes[1]} by {words.axes[0]}, a dot a pair",
            x_title=words.axes[0],
            y_title=words.axes[1],
            size=(270, 250),
            series=tuple(
                Series(dots=tuple(of), name=name, shape=place)
                for place, (of, name) in enumerate(zip(dots, names, strict=True))
                if of
            ),
            guides=(Guide(start, end),),
        )
        yield Figure(chart)
