"""The page of a study: its answer, one picture, the numbers, and what they do not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression, median
from typing import NamedTuple

from reports import blocks
from reports.estimates import in_two
from reports.prose import Text, prose, written
from reports.sections import asked, page_of_run
from reports.wording import Cell, as_sentence, number, p_value, rounded_percent, short
from scope.errors import counted
from scope.jobs.study import inference
from scope.jobs.study.requests import StudyNumber, StudyResult
from scope.jobs.study.run import WITHIN
from scope.records import Undefined

SHOWN_FIRST = 8
"""Numbers that the terminal shows; the page has all."""

EQUAL = 0.03
"""Most difference between accuracies that count as equal in an example."""

SLIGHT = 0.3
"""A correlation below this is slight."""


class Words(NamedTuple):
    """The picture's measures and axes, the claim with more or less, and what else is to be said.

    The ``effect`` has the first ``{number}``, the limit on the first screen may have another.
    """

    x: str
    y: str
    axes: tuple[str, str]
    claim: str
    effect: str
    limit: str
    to_do: str
    example: str = ""


_CHOSEN = "The models were chosen by whoever kept the answers: others may differ."
_LIMITS = (
    "Where questions differ in difficulty, independent models have a CAPA above 0, and the more so "
    f"the closer their skill. {_CHOSEN}"
)
_SECOND = {inference.ACROSS, "rank correlation of gain and CAPA"}
"""The subset, or the name, of the number that the limit of a study has."""

_CAPA = "likeness of mistakes (CAPA, 0: as by chance, 1: the same)"
WORDS: Mapping[str, Words] = {
    "study-judges": Words(
        *("CAPA, given accuracy", "score, given accuracy"),
        ("likeness of mistakes (CAPA), given accuracy", "judge’s score, given accuracy"),
        "at equal accuracy, judges give {} credit to models that answer as they do",
        f"The correlation of scores and {_CAPA}, given accuracy, is {{number}}.",
        "Style or training data may raise both likeness and scores, and accuracy on these "
        "questions stands for all quality that a judge may reward.",
        "Let several judges score that are unlike the models they judge, and unlike each other.",
    ),
    "study-complementarity": Words(
        *("rank of CAPA, given accuracies", "rank of gain, given accuracies"),
        ("mistakes more alike than accuracies give (ranks) →", "more gain (ranks) →"),
        "at equal accuracy, two models whose mistakes are more alike add {} to each other",
        "The rank correlation of gain (only the weaker of two models is right) and "
        f"{_CAPA} at equal accuracy is {{number}}.",
        "Between models of any accuracy the correlation is {second}: compare models of equal "
        "accuracy only. The gain is that of an oracle that picks a right model; a router gains "
        "less.",
        "Of two equally accurate partners for a model, take the one whose mistakes differ more "
        "from its own. ``scope compare`` shows which mistakes two models share.",
        "**{first}** and **{second}**, both about {accuracy} right: CAPA {capa}; only the weaker "
        "is right on **{gain}**.",
    ),
    "study-trend": Words(
        *("accuracy", "capa"),
        ("mean accuracy of the pair", "likeness of mistakes (CAPA)"),
        "more accurate pairs of these models make mistakes that are {} alike",
        f"For 10 points more accuracy the {_CAPA} {{changes}} by {{number}}.",
        "Questions that are hard for all make CAPA rise with accuracy, too: no cause is shown. "
        "Between different families it changes by {second}.",
        "Before one accurate model checks another, look at the mistakes that both make "
        "(``scope compare``): they may be many.",
        "**{first}** and **{second}**: {accuracy} right on average, CAPA **{capa}**.",
    ),
    "study-size": Words(
        *(*WITHIN, WITHIN),
        "larger targets keep {} of what a reference ignores",
        "The correlation of Hard-SCoPE and size, given the reference, is {number}.",
        "Hard-SCoPE is high for a target that rarely moves; *same reaction* is not. Larger models "
        "are often more accurate, too: no cause is shown.",
        "Judge each target by an audit of its own, with a yardstick, not by its size.",
    ),
}


def page(result: StudyResult) -> blocks.Page:
    """The report on a study."""
    words, manifest = WORDS[result.manifest.job], result.manifest
    of_sizes = manifest.job == "study-size"
    in_pairs = {name for pair in result.pairs for name in (pair.first, pair.second)}
    many = counted(len(in_pairs if of_sizes else result.accuracies), "model")
    caption = prose(f"{many}; the first number is the answer’s; p by permutation")

    def table(numbers: Sequence[StudyNumber]) -> blocks.Table:
        return blocks.Table.of(
            {"Number": "name", "Over": "text", "Estimate": "estimate", "p": "text"},
            ((n.name, n.subset, Cell.of(n.estimate), p_value(n.p_value)) for n in numbers),
            caption=caption,
        )

    second = [short(n.estimate) for n in result.numbers[1:] if _SECOND & {n.name, n.subset}]
    limit = words.limit.replace("{second}", second[0]) if second else words.limit
    # A sentence without its number is left out.
    limit = re.sub(r" [^.]*{second}[^.]*\.", "", limit)
    limits = (limit, _CHOSEN if of_sizes else _LIMITS, *result.notes)
    bullets = blocks.Bullets(tuple(map(written, limits)))
    head, about = _answer(result, words)
    parts = {
        "Where it may fail": (blocks.paragraph(limit),),
        "For example": tuple(_examples(result, words)),
        "What to do": (blocks.paragraph(words.to_do),),
    }
    seen = in_two(parts, {"Each pair of models": tuple(_picture(result, words))})
    return page_of_run(
        manifest,
        result.clock,
        title=f"{manifest.job.replace('-', ' ')}: {many}",
        heading=head,
        about=about,
        answer=(seen,),
        details=(
            blocks.Section(anchor="numbers", title="All numbers", blocks=(table(result.numbers),)),
            blocks.Section(anchor="limits", title="What they do not show", blocks=(bullets,)),
            asked(manifest, capabilities="Capability" if of_sizes else "Task"),
        ),
        brief=(blocks.Paragraph(about), table(result.numbers[:SHOWN_FIRST]), bullets),
    )


def _answer(result: StudyResult, words: Words) -> tuple[Text, Text]:
    """The claim with more or less, or that neither is shown; and how sure that is."""
    first = result.numbers[0]
    p = 1.0 if first.p_value is None else round(first.p_value, 3)
    estimate, claim = first.estimate, words.claim
    if isinstance(estimate, Undefined):
        return prose("? This cannot be measured here: {why}", why=estimate.reason), ()
    side, tries = estimate.side(), round(1 / (first.p_value or 1))
    shuffled = (
        f"if the models were shuffled, so strong a link would come up in 1 of {tries:,} tries"
    )
    head = f"? It is too early to say whether {claim.format('more or less')}"
    sure = f"Not decided: {shuffled}."
    if side == "unclear":
        sure = f"Not decided: {short(estimate)} includes 0, no link."
    elif p < 0.05:
        slight = abs(estimate.value) < SLIGHT and result.manifest.job != "study-trend"
        head = as_sentence(claim.format(f"{'slightly ' * slight}{side}"))
        sure = f"{as_sentence(shuffled)}."
    changes = "rises" if estimate.value > 0 else "changes"
    effect = prose(words.effect.replace("{changes}", changes), number=short(estimate))
    return prose(head), effect + prose(f" **How sure?** {sure}")


def _examples(result: StudyResult, words: Words) -> Iterator[blocks.Paragraph]:
    """A pair amid the tenth with the least accuracy, and amid that with most.

    Where the claim is on equal accuracies, all are about equally accurate, and it is the tenth with
    the least CAPA.
    """
    gains = "{gain}" in words.example
    by, other = ("capa", "gain") if gains else ("accuracy", "capa")
    pairs = [pair for pair in result.pairs if words.example and "capa" in pair.measures]
    if gains and pairs:
        middle = median(pair.measures["accuracy"] for pair in pairs)
        apart = [max(p.measures["gap"], abs(p.measures["accuracy"] - middle)) for p in pairs]
        pairs = [pair for pair, most in zip(pairs, apart, strict=True) if most <= EQUAL]
    pairs.sort(key=lambda pair: pair.measures[by])
    tenth = len(pairs) // 10 or 1
    for part in (pairs[:tenth], pairs[1:][-tenth:]):
        for pair in sorted(part, key=lambda pair: pair.measures[other])[len(part) // 2 :][:1]:
            values = {
                key: f"{value:.2f}" if key == "capa" else rounded_percent(value)
                for key, value in pair.measures.items()
                if f"{{{key}}}" in words.example
            }
            yield blocks.paragraph(words.example, first=pair.first, second=pair.second, **values)


def _picture(result: StudyResult, words: Words) -> Iterator[blocks.Figure]:
    """A dot for each pair, by whether its models are of one family, and a line through them."""
    dots: tuple[list[blocks.Dot], list[blocks.Dot]] = ([], [])
    for pair in result.pairs:
        if {words.x, words.y} <= pair.measures.keys():
            x, y = pair.measures[words.x], pair.measures[words.y]
            first, second = (result.families.get(name, name) for name in (pair.first, pair.second))
            title = f"{pair.first}, {pair.second}: {number(x)}, {number(y)}"
            dots[first == second].append(blocks.Dot(title=title, x=x, y=y))
    xs, ys = ([getattr(dot, axis) for of in dots for dot in of] for axis in ("x", "y"))
    if len({*xs}) > 1:
        slope, intercept = linear_regression(xs, ys)
        start, end = ((x, intercept + slope * x) for x in (min(xs), max(xs)))
        names = ("different families", "one family") if result.families else ("a pair", "")
        chart = blocks.Chart(
            label=f"{words.axes[1]} by {words.axes[0]}, a dot a pair",
            x_title=words.axes[0],
            y_title=words.axes[1],
            size=(430, 250),
            series=tuple(
                blocks.Series(dots=tuple(of), name=name, shape=place)
                for place, (of, name) in enumerate(zip(dots, names, strict=True))
                if of
            ),
            guides=(blocks.Guide(start, end, "the trend"),),
        )
        yield blocks.Figure(chart)
