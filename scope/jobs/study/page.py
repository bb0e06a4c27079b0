"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import NamedTuple

from reports import blocks
from reports.builders.answer import in_two
from reports.builders.run import asked, folded, reproduce
from reports.charts import Chart, Dot, Guide, Series
from reports.prose import Text, prose, written
from reports.wording import Cell, as_sentence, number, p_value, short
from scope.jobs.study.requests import StudyNumber, StudyResult
from scope.jobs.study.run import WITHIN
from scope.printing import counted
from scope.records import Undefined

SHOWN_FIRST = 8
"""Numbers that the terminal shows; the page has all."""


class Words(NamedTuple):
    """The picture's measures and axes, the claim with more or less, and what else is to be said.

    ``sure`` follows the first number, and may name the ``{second}``; the first of the ``limits`` is
    on the first screen. ``example`` has two measures with their words.
    """

    x: str
    y: str
    axes: tuple[str, str]
    claim: str
    sure: str
    limits: tuple[str, ...]
    to_do: str
    command: str
    example: Mapping[str, str]


EQUAL = 0.05
"""Most difference between accuracies that count as equal in an example."""

_CAPA_IS = "CAPA is how alike mistakes are: 0 as by chance, 1 the same."
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
        "at equal accuracy, judges tend to give {} credit to models that answer as they do",
        _CAPA_IS,
        (
            "Style or training data may raise both likeness and scores, and accuracy on these "
            "questions stands for all quality that a judge may reward.",
        ),
        "Let several judges score that are unlike the models they judge, and unlike each other:",
        "scope compare --model JUDGE --model JUDGED --task choice --data QUESTIONS",
        {
            "CAPA, given accuracy": "CAPA beyond its accuracy",
            "score, given accuracy": "score beyond its accuracy",
        },
    ),
    "study-complementarity": Words(
        *("rank of CAPA, given accuracies", "rank of gain, given accuracies"),
        (f"rank of {_CAPA}, beyond what accuracies give", "rank of gain, beyond accuracies"),
        "at equal accuracies, two models that err more alike tend to gain {} together",
        f"{_CAPA_IS} Without regard to accuracy the sign is another, {{second}}: a weak and a "
        "strong model err little alike, and gain little.",
        (
            "The gain is what an ideal mixture adds, which knows which model is right; a router "
            "does not. Lucky guesses are part of the gain.",
        ),
        "Combine models of equal skill that err differently, and see what a router makes of them:",
        "scope fleet route --data ANSWERS \\\n    --model FIRST --model SECOND",
        {"capa": "CAPA", "gain": "gain (only the weaker model is right)"},
    ),
    "study-trend": Words(
        *("accuracy", "capa"),
        ("mean accuracy of the pair", _CAPA),
        "more accurate pairs of these models tend to err {} alike",
        f"{_CAPA_IS} Difficulty of the questions alone makes it rise, too. "
        "Between different families: {second}.",
        (
            "Accuracy and likeness come from the same questions; no cause is shown.",
            "% flips, KL and r of errors are not corrected for accuracy, and change with it.",
        ),
        "Do not take two accurate models for independent checks of each other; look at a pair:",
        "scope compare --model FIRST --model SECOND --task choice --data QUESTIONS",
        {"accuracy": "mean accuracy", "capa": "CAPA"},
    ),
    "study-size": Words(
        *WITHIN,
        WITHIN,
        "larger targets tend to keep {} of what a reference ignores",
        "",
        (
            "Hard-SCoPE is high for a target that rarely moves; *same reaction* is not.",
            "Larger models are often more accurate, too: no cause is shown. Rawal and Toneva "
            "(2024) find that Hard-SCoPE grows with the target’s size, and Soft-SCoPE only where "
            "the reference is large.",
        ),
        "Judge each target by an audit of its own, with a yardstick, not by its size:",
        "scope audit --reference MODEL --target MODEL --baseline MODEL --data TEXTS",
        {WITHIN[0]: WITHIN[0], WITHIN[1]: "Hard-SCoPE, less the reference’s mean"},
    ),
}


def page(result: StudyResult) -> blocks.Page:
    """The report on a study."""
    words, manifest = WORDS[result.manifest.job], result.manifest
    test = "permutation" if manifest.job == "study-judges" else "permutation of ranks"
    of_sizes = manifest.job == "study-size"
    in_pairs = {name for pair in result.pairs for name in (pair.first, pair.second)}
    many = counted(len(in_pairs if of_sizes else result.accuracies), "model")
    caption = prose(f"{many}; the first number is the answer’s; p by {test}")

    def table(numbers: Sequence[StudyNumber]) -> blocks.Table:
        return blocks.Table.of(
            {"Number": "name", "Over": "text", "Estimate": "estimate", "p": "text"},
            ((n.name, n.subset, Cell.of(n.estimate), p_value(n.p_value)) for n in numbers),
            caption=caption,
        )

    general = (_CHOSEN if of_sizes else _LIMITS, *result.notes)
    limits = blocks.Bullets(tuple(map(written, (*words.limits, *general))))
    head, about = _answer(result, words)
    parts = {
        "Where it may fail": (blocks.Paragraph(written(words.limits[0])),),
        "For example": tuple(_examples(result, words)),
        "What to do": (blocks.Paragraph(prose(words.to_do)), blocks.Preformatted(words.command)),
    }
    seen = in_two(parts, {"Each pair of models": tuple(_picture(result, words))})
    return blocks.Page(
        title=f"SCoPE {manifest.job.replace('-', ' ')}: {many}",
        heading=head,
        about=about,
        sections=(
            blocks.Section(anchor="answer", title="Answer", blocks=(seen,)),
            *folded(
                blocks.Section(
                    anchor="numbers", title="All numbers", blocks=(table(result.numbers),)
                ),
                blocks.Section(anchor="limits", title="What they do not show", blocks=(limits,)),
                asked(manifest, capabilities="Capability" if of_sizes else "Task"),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(blocks.Paragraph(about), table(result.numbers[:SHOWN_FIRST]), limits),
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
    often = f"{100 * (first.p_value or 0):.2g}\u00a0%"
    chance = f" Shuffled models give as much in {often} of draws." if first.p_value else ""
    counts = "judged models" if result.manifest.job == "study-judges" else "pairs"
    about = prose(
        f"How sure? {{name}} is {{number}} over {{n}} {counts}.{chance} ",
        name=as_sentence(first.name),
        number=short(estimate),
        n=estimate.n,
    )
    second = short(result.numbers[1].estimate) if "{second}" in words.sure else ""
    return prose(head), about + prose(words.sure, **({"second": second} if second else {}))


def _examples(result: StudyResult, words: Words) -> Iterator[blocks.Paragraph]:
    """A pair amid the tenth with the least of the example's first measure, and amid that with most.

    Where the claim is on equal accuracies, they are about equal.
    """
    key, other = words.example
    known = [
        pair
        for pair in result.pairs
        if {key, other} <= pair.measures.keys()
        if key != "capa" or pair.measures["gap"] <= EQUAL
    ]
    known.sort(key=lambda pair: pair.measures[key])
    tenth = len(known) // 10 or 1
    for part in (known[:tenth], known[1:][-tenth:]):
        for pair in sorted(part, key=lambda pair: pair.measures[other])[len(part) // 2 :][:1]:
            told = (f"{what} {number(pair.measures[x])}" for x, what in words.example.items())
            yield blocks.paragraph(
                f"**{{first}}** and **{{second}}**, {', '.join(told)}.",
                first=pair.first,
                second=pair.second,
            )


def _picture(result: StudyResult, words: Words) -> Iterator[blocks.Figure]:
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
            size=(390, 250),
            series=tuple(
                Series(dots=tuple(of), name=name, shape=place)
                for place, (of, name) in enumerate(zip(dots, names, strict=True))
                if of
            ),
            guides=(Guide(start, end),),
        )
        yield blocks.Figure(chart)
