"""The pages of the jobs on a fleet of models: the answer first, all numbers folded.

Charts and tables are None where nothing can be shown.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reports import blocks, wording
from reports.estimates import in_two, strips_table, table_of
from reports.prose import Text, joined, prose, together, written
from reports.sections import code, data_table, page_of_run
from scope.jobs.fleet import headlines
from scope.jobs.fleet.selection import from_greatest, shortened
from scope.records import Estimate, Undefined
from scope.records.fleet import (
    BEST_PER_BENCHMARK,
    ORACLE,
    SAME_MIX,
    SINGLE_BEST,
    EmbedResult,
    FleetResult,
    ForecastResult,
    MapResult,
    PredictResult,
    RouteResult,
)
from scope.verdicts.plan import MOST_TEXTS

Number = Estimate | Undefined | None

GLANCE = 200
"""Most characters of a question on the first screen."""

MOST_PAIRS = 4
"""Most pairs of models that are alike on the first screen."""

MOST_NAMED = 20
"""Most added models that are named."""

MOST_BRIEF_NOTES, MOST_BRIEF_ROWS = 2, 8
"""Most notes, and rows of a table, that a terminal shows."""

MOST_BARS = 6
"""Most models or categories that are drawn."""

MOST_RUN = 5
"""The first models of a predicted order, which advice says to run."""

EVERY = "all questions"
"""The first row of a table by category."""

MOST_COMMUNITIES = 5
"""Most communities with their own shape; all other models share the last one."""

_ON_PAGES_ALONE = ("Brier score", "Difference", "Significant", "Community")
"""Columns that a terminal leaves out."""

_NAMES = {
    SAME_MIX: "the same models drawn at random",
    BEST_PER_BENCHMARK: "the best model of each category, in hindsight",
    ORACLE: "a perfect choice",
}
"""The ways of routing in words, where they differ from those of results."""

table = partial(table_of, spacious=_ON_PAGES_ALONE, most=MOST_BRIEF_ROWS)


def embed_page(result: EmbedResult) -> blocks.Page:
    """The report on a fleet."""
    run = result.folder.name if result.folder else "RUN"
    new = f"--fleet {shlex.quote(run)} --questions NEW.csv"
    bins = (
        (f"{100 * row.low:.0f} to {100 * row.high:.0f}\u00a0%", row.observed)
        for row in result.reliability
    )
    return _page(
        result,
        headlines.of_scores(result),
        picture=(
            "Chance that was forecast, and how many were right",
            strips_table("right", bins, write=wording.short_share),
        ),
        fails=headlines.wrong_answers(result),
        shown=examples(result),
        advice="Forecast each model’s accuracy on new questions (NEW.csv), or choose a model for "
        "each of them:",
        commands=(f"scope fleet forecast {new}", f"scope fleet route {new}"),
        numbers=(scores_table(result), models_table(result)),
    )


def forecast_page(result: ForecastResult) -> blocks.Page:
    """The report on forecasts."""
    command, checked = result.manifest.command, result.shift is not None
    if checked:
        title = "Observed minus forecast, points (red: lower)"
        picture = points_table((row.model, row.shift) for row in result.expected)
        before = " (ANSWERS.csv: what the fleet learned from)" * ("--fleet" in command)
        advice = (
            "Choose by forecasts which models to run, and decide by their results. To forecast "
        )
        advice += f"closer, learn again with all of these answers{before}:"
    else:
        title = "Expected accuracy"
        accuracies = ((row.model, row.accuracy) for row in result.expected[:MOST_BARS])
        picture = strips_table("expected", accuracies, write=wording.short_share)
        advice = (
            "Check it: run a few models on 100 of these questions, write 1 (right) or 0 (wrong) "
            "into a column ``correct``, and forecast again:"
        )
    heads = ("Model", "Expected, %", "Observed, %", "Difference")
    rows = (
        (row.model, _share(row.accuracy), _share(row.observed), _share(row.shift, signed=True))
        for row in result.expected
    )
    every = table("Accuracy on the unseen questions", heads, rows, tall=True, ends=True)
    return _page(
        result,
        headlines.of_forecast(result),
        picture=(title, picture),
        fails=headlines.wrong_answers(result),
        shown=examples(result),
        advice=advice,
        commands=(_learn(result) if checked else command,),
        numbers=(every, scores_table(result)),
    )


def route_page(result: RouteResult) -> blocks.Page:
    """The report on routing."""
    mix = ((x.model, wording.percent(x.share)) for x in sorted(result.mix, key=lambda x: -x.share))
    mixed = table("Models that the router selects", ("Model", "Questions, %"), mix)
    single = [row for row in result.routers if row.router == SINGLE_BEST]
    gains = points_table((row.category or EVERY, row.gain) for row in single)
    command, gain = result.manifest.command, single[0].gain if single else None
    advice = "To see whether that pays, add a column ``correct`` with these models’ answers:"
    if isinstance(gain, Estimate):
        advice = _plan(gain)
        if "--questions" in command:
            command = command.replace(result.manifest.data[0].spec, "NEW.csv")
    return _page(
        result,
        headlines.of_route(result),
        picture=("Points gained over the best model alone (green: more)", gains)
        if gains
        else ("Where the questions go", mixed),
        fails=headlines.route_fails(result),
        shown=examples(result),
        advice=f"Each question’s model is in ``routes.csv``. {advice}",
        commands=(command,),
        numbers=(routers_table(result), mixed if gains else None),
    )


def _plan(gain: Estimate) -> str:
    """The number of questions on which a difference as seen is clear in 4 runs of 5.

    Half an interval is 1.96 standard errors, and 1.96 + 0.84 are needed.
    """
    errors = 2.8 / 1.96 * (gain.high - gain.low) / 2
    if gain.n * errors**2 > MOST_TEXTS * gain.value**2:
        return "More questions will hardly decide: the difference seen is too near 0."
    count = wording.rounded_up(math.ceil(gain.n * (errors / gain.value) ** 2))
    return (
        f"Confirm it: plan {count:,} further questions with these models’ answers (NEW.csv), "
        "enough in 4 runs of 5 if the difference is as seen here:"
    )


def predict_page(result: PredictResult) -> blocks.Page:
    """The report on held-out benchmarks."""
    best_first = sorted(result.predictions, key=lambda prediction: from_greatest(prediction.tau))
    fails, example = headlines.worst_of(result)
    orders = [
        [x.observed for x in sorted(row.points, key=lambda x: -x.predicted)] for row in best_first
    ]
    lost = max((max(every) - max(every[:MOST_RUN]) for every in orders if every), default=0.0)
    below = f"at most {math.ceil(100 * lost - 1e-9)} points below " * (lost > 0)
    right = ((x.benchmark, _changed(x.tau, headlines.of_pairs)) for x in best_first)
    return _page(
        result,
        headlines.of_predict(result),
        picture=(
            "Pairs in the right order, of 100 (guessing: 50)",
            strips_table("in the right order", right, least=50.0, write=wording.whole),
        ),
        fails=(fails,),
        shown=(blocks.Paragraph(example),) if example else (),
        advice=f"Run only the first {MOST_RUN} models of a predicted order: on each benchmark "
        f"here, one of them is {below}the best. To order models for a new benchmark (NEW.csv: its "
        "questions):",
        commands=(_learn(result), "scope fleet forecast --fleet fleet --questions NEW.csv"),
        numbers=(predictions_table(result), contributions_table(result)),
    )


def map_page(result: MapResult) -> blocks.Page:
    """The report on a map."""
    words, pairs = shlex.split(result.manifest.command), headlines.nearest_pairs(result)
    fleet = words[words.index("--fleet") + 1] if "--fleet" in words[:-1] else ""
    near = "{first} and {second}: {apart}"
    lines = [headlines.of_pair(result, pair, near) for pair in pairs[:MOST_PAIRS]]
    least = "Least like any other: {first}, {apart} from {second}"
    lines += [headlines.of_pair(result, pair, least) for pair in pairs[MOST_PAIRS:][-1:]]
    named = {name for pair in (*pairs[:MOST_PAIRS], *pairs[-1:]) for name in pair[1:]}
    shown = (written(f"{wording.as_sentence(text)}.") for text in result.notes[-1:])
    return _page(
        result,
        headlines.of_map(result),
        picture=("The nearer, the more alike", map_chart(result, named)),
        fails=[together(*shown, *headlines.communities(result))],
        shown=(blocks.Bullets(tuple(lines)),) if lines else (),
        advice="Models that are alike may still differ in accuracy: compare two (``scope compare``)"
        " before you drop one. Where models differ, choose one for each new question (NEW.csv):",
        commands=(
            *([] if fleet else [_learn(result)]),
            f"scope fleet route --fleet {shlex.quote(fleet or 'fleet')} --questions NEW.csv",
        ),
        numbers=(models_table(result),),
    )


def _learn(result: FleetResult) -> str:
    """The command that learns a fleet from a run's answers, and earlier ones if these are new."""
    specs = [spec for card in result.manifest.data for spec in card.spec.split(", ")]
    earlier = ["ANSWERS.csv"] * ("--fleet" in result.manifest.command)
    options = " ".join(f"--data {shlex.quote(spec)}" for spec in (*earlier, *specs))
    return f"scope fleet embed {options} --run fleet"


def examples(result: EmbedResult | ForecastResult | RouteResult) -> tuple[blocks.Block, ...]:
    """Questions with what was forecast and observed."""
    parts: list[blocks.Block] = []
    for row in result.examples:
        text = shortened(" ".join(row.text.split()) or row.id, GLANCE)
        expected = f"{100 * row.expected:.0f}\u00a0%"
        if row.model is None:
            seen = "" if row.observed is None else f", observed **{100 * row.observed:.0f}\u00a0%**"
            key = " Perhaps its key is wrong." * (row.observed == 0)
            words = prose(f"Models that get it right: forecast **{expected}**{seen}.{key}")
        else:
            outcomes = (("", row.observed), ("; the best model alone: ", row.single_best))
            known = [
                f"{who}**{'right' if x else 'wrong'}**" for who, x in outcomes if x is not None
            ]
            sent = f"The router asks {{model}} (chance {expected}){': ' * bool(known)}"
            words = prose(f"{sent}{''.join(known)}.", model=row.model)
        parts += [blocks.Passage(written(f"“{text}”")), blocks.Paragraph(words)]
    return tuple(parts)


def _page(
    result: FleetResult,
    answer: headlines.Answer,
    *,
    picture: tuple[str, blocks.Block | None],
    fails: Iterable[Text],
    shown: Sequence[blocks.Block],
    advice: str,
    commands: Sequence[str],
    numbers: Sequence[blocks.Block | None],
) -> blocks.Page:
    """The answer, where it fails, examples, what to do and a picture; then everything folded."""
    title, drawn = picture
    of = f"Learned from {result.models:,} models’ answers to {result.questions:,} questions."
    about = together(answer.about, prose(of))
    manifest, below = result.manifest, [block for block in numbers if block]
    listed = [block for block in (*below, drawn) if isinstance(block, blocks.Table)]
    words = {
        "Where it fails": tuple(map(blocks.Paragraph, filter(None, fails))),
        "What to do": (blocks.Paragraph(prose(advice)), blocks.Preformatted("\n".join(commands))),
        "For example": tuple(shown),
    }
    seen = in_two(words, {title: [drawn]} if drawn else {})
    asked: list[blocks.Block] = [blocks.Terms(tuple(_facts(result)), facts=True)]
    asked += filter(None, [data_table(manifest.data)])
    numbered = blocks.Section(anchor="numbers", title="All numbers", blocks=tuple(below))
    return page_of_run(
        manifest,
        result.clock,
        title=f"{manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        heading=answer.heading,
        about=about,
        answer=(seen,),
        details=(
            numbered if below else None,
            blocks.Section(anchor="asked", title="What was asked", blocks=tuple(asked)),
        ),
        brief=(blocks.Paragraph(about), *listed[:1]),
        facts=_facts(result, MOST_BRIEF_NOTES),
    )


def _facts(result: FleetResult, notes: int | None = None) -> Iterator[tuple[Text, Text]]:
    """The response matrix, the forecaster, the encoder of its questions, files and notes."""
    matrix = f"{result.questions:,} questions × {result.models:,} models"
    yield prose("matrix"), prose(f"{matrix}, {result.answers:,} answers known")
    yield prose("forecaster"), code(result.forecaster)
    yield prose("question vectors"), code(result.encoder)
    if names := [model.name for model in getattr(result, "fleet", ()) if model.added]:
        yield prose("added without retraining"), joined([len(names), *names[:MOST_NAMED]])
    if result.files:
        paths = (str((result.folder or Path()) / name) for name in result.files)
        yield prose("files"), joined(paths)
    yield from ((prose("note"), written(text)) for text in result.notes[:notes])


def points_table(rows: Iterable[tuple[str, Number]]) -> blocks.Table | None:
    """The greatest differences in points: green where more, red where less."""
    known = [(name, value) for name, value in rows if isinstance(value, Estimate)]
    known.sort(key=lambda row: (row[0] != EVERY, -abs(row[1].value)))
    return strips_table("points", known[:MOST_BARS], least=0.0, write=wording.short_points)


def map_chart(result: MapResult, named: Collection[str] = ()) -> blocks.Figure | None:
    """The map of the models that have a position, by community; those ``named`` have a label."""
    sizes = Counter(model.community for model in result.fleet if model.community is not None)
    largest = [name for name, _ in sizes.most_common(MOST_COMMUNITIES)]
    groups = []
    for place, community in enumerate((*largest, None)):
        dots = tuple(
            blocks.Dot(
                title=f"{model.name}\naccuracy {wording.short_share(model.skill)}",
                x=model.x,
                y=model.y,
                name=model.name if model.name in named else "",
            )
            for model in result.fleet
            if model.x is not None and model.y is not None
            if community == (model.community if model.community in largest else None)
        )
        name = (community or "smaller communities, or none") if largest else ""
        note = f"({len(dots):,})" if largest else ""
        groups += [blocks.Series(name=name, note=note, shape=place, dots=dots)] if dots else []
    chart = blocks.Chart(label="Map of the models", series=tuple(groups), size=(425, 250))
    return blocks.Figure(chart) if groups else None


def _share(estimate: Number, *, signed: bool = False) -> wording.Cell | None:
    """A share or difference in per cent, without the unit: the column's head has it."""
    if estimate is None:
        return None
    cell = wording.Cell.points(estimate) if signed else wording.Cell.share(estimate)
    return replace(cell, value=cell.value.partition("\u00a0")[0])


def _changed(error: Estimate | Undefined, change: Callable[[float], float]) -> Estimate | Undefined:
    if not isinstance(error, Estimate):
        return error
    value, low, high = map(change, (error.value, error.low, error.high))
    return replace(error, value=value, low=low, high=high)


def scores_table(result: EmbedResult | ForecastResult) -> blocks.Table | None:
    """The forecasters, on all questions, then by category."""
    heads = ("Forecaster", "Category", "Correct, %", "More than the average, points", "Brier score")
    rows = (
        (
            *(code(row.forecaster) + prose(" (in use)" * row.chosen), row.category),
            *(_share(row.accuracy), _share(row.gain, signed=True), wording.Cell.of(row.brier)),
        )
        for row in sorted(result.scores, key=lambda row: row.category or "")
    )
    return table("Unseen answers predicted correctly", heads, rows)


def routers_table(result: RouteResult) -> blocks.Table | None:
    """The ways of routing, on all questions, then by category."""
    heads = ("Strategy", "Category", "Correct, %", "Gain, points", "Cost")
    rows = (
        (
            *(row.model or _NAMES.get(row.router, row.router), row.category),
            *(_share(row.accuracy), _share(row.gain, signed=True)),
            None if row.cost is None else f"{row.cost:.4g}",
        )
        for row in sorted(result.routers, key=lambda row: row.category or "")
    )
    caption = "Questions answered correctly, and what the router gains"
    return table(caption, heads, rows, most=len(_NAMES) + 2)


def predictions_table(result: PredictResult) -> blocks.Table | None:
    """Every benchmark, held out and predicted from the others."""
    heads = ("Benchmark", "Questions", "Error", "Of the mean", "Kendall’s τ", "Significant")
    rows = (
        (
            *(row.benchmark, row.questions),
            *(x and _share(_changed(x, math.sqrt)) for x in (row.mse, row.baseline)),
            *(wording.Cell.of(row.tau), f"{row.significant} of {row.splits}"),
        )
        for row in result.predictions
    )
    caption = "Held-out benchmarks: typical errors in points, and rank correlations"
    return table(caption, heads, rows)


def contributions_table(result: PredictResult) -> blocks.Table | None:
    """The contributions, the largest first."""
    cells = (
        (row.source, row.target, _share(_changed(row.value, lambda x: 100 * x), signed=True))
        for row in sorted(result.contributions, key=lambda row: from_greatest(row.value))
    )
    caption = "Error of forecasts without a benchmark’s questions minus with them"
    return table(caption, ("Questions of", "Forecasts on", "Contribution, squared points"), cells)


def models_table(result: EmbedResult | MapResult) -> blocks.Table | None:
    """All models, the most accurate first, with a search."""
    heads = ("Model", "Correct, %", "Community", "Nearest")
    rows = (
        (
            *(written(model.name) + prose(" (added)" * model.added), _share(model.skill)),
            model.community,
            joined(f"{x.model}\u00a0{wording.number(x.distance)}" for x in model.nearest[:2]),
        )
        for model in sorted(result.fleet, key=lambda model: from_greatest(model.skill))
    )
    caption = "Accuracy of the models, and their distances to the nearest"
    orders = (("order", "most accurate first"),)
    finder = blocks.Finder(unit="models", searched="names", orders=orders)
    return table(caption, heads, rows, tall=True, ends=True, finder=finder)
