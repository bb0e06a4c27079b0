"""The answer of each job on a fleet, no stronger than its numbers, and where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import NamedTuple, TypeVar

from reports.prose import Span, Text, joined, prose, together
from reports.wording import (
    count_rivals,
    in_percent,
    percent,
    rounded_percent,
    short_points,
    short_share,
)
from scope import records
from scope.printing import counted
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_QUESTIONS, ROUTER, SAME_MIX, SINGLE_BEST

Score = TypeVar("Score", records.ForecastScore, records.RouterScore)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

MOST_MISSED = 0.1
"""Forecasts hold if at most this share of the 95 % intervals leaves out what was observed."""

_SIGNS: Mapping[str, Text] = {
    "good": (Span("✓", "good"), Span(" ")),
    "bad": prose("!!✗!! "),
    "undecided": prose("? "),
}
SAMPLING = prose("Intervals cover the choice of questions only: other kinds may be shifted.")


class Answer(NamedTuple):
    """The answer in one sentence, and what it rests on."""

    heading: Text
    about: Text


def answer(frame: str, head: Text, *why: Text) -> Answer:
    """An answer with a sign, so that colour is never the only one."""
    return Answer((*_SIGNS.get(frame, ()), *head), together(*why))


def overall(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores on all questions."""
    return tuple(score for score in scores if score.category is None)


def side_of(gain: Estimate | Undefined | None) -> str:
    """The side of 0 of an interval: ``more``, ``less``, or ``unclear``, as with few questions.

    >>> side_of(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap"))
    'more'
    """
    if not isinstance(gain, Estimate) or gain.n < FEW_QUESTIONS:
        return "unclear"
    return gain.side()


def _percent(estimate: Estimate | Undefined | None) -> str:
    if not isinstance(estimate, Estimate):
        return "an unknown share"
    return rounded_percent(estimate.value)


_PREDICTS: Mapping[str, tuple[str, str]] = {
    "more": ("good", "Use the fleet to predict right and wrong answers"),
    "less": ("bad", "Do not predict answers with the fleet"),
    "unclear": ("undecided", "Too early to say whether the fleet predicts better than averages"),
}


def of_scores(scores: Iterable[records.ForecastScore]) -> Answer:
    """Whether the forecaster predicts unseen answers better than each model's average."""
    every = overall(scores)
    used = max(every, key=lambda score: score.chosen, default=None)
    frame, claim = _PREDICTS[side_of(used.gain if used else None)]
    if used is None or used.gain is None:
        return answer(frame, prose(claim), prose("No comparison shows it.") if used else ())
    average = next((score.accuracy for score in every if score.gain is None), None)
    head = f"{claim}: {_percent(used.accuracy)} come true, by each model’s average alone "
    why = (
        "How sure? The difference is {gain} points on {n} questions that were left out of learning."
    )
    return answer(
        frame,
        prose(head + _percent(average)),
        prose(why, gain=short_points(used.gain), n=f"{used.accuracy.n:,}"),
    )


def wrong_answers(scores: Iterable[records.ForecastScore]) -> Iterator[Text]:
    """How many single answers are predicted wrongly, and the category with clearly the most."""
    rows = [
        (row.accuracy.value, row.accuracy.high, row.category)
        for row in scores
        if row.chosen and isinstance(row.accuracy, Estimate)
    ]
    whole = next((value for value, _, category in rows if category is None), None)
    if whole is None:
        return
    words = f"{rounded_percent(1 - whole)} of single answers are predicted wrongly{{worst}}. "
    least, high, category = min((row for row in rows if row[2]), default=(1.0, 1.0, None))
    worst = f", of **{{category}}** {rounded_percent(1 - least)}"
    yield prose(
        f"{words}A single question can be far off:",
        worst=prose(worst, category=category or "") if high < whole else (),
    )


def of_forecast(result: records.ForecastResult) -> Answer:
    """Whether forecasts agree with the observed accuracies, and beat each model's average."""
    checked = [
        misses(row)
        for row in result.expected
        if isinstance(row.accuracy, Estimate) and isinstance(row.observed, Estimate)
    ]
    if not checked or result.shift is None:
        return _unchecked(result)
    missed, side = sum(checked), side_of(result.shift)
    outside = f"{missed} of {len(checked)} models’ results lie outside their forecast’s interval"
    why = prose(
        "How sure? Observed minus forecast is {shift} points on average. An interval of "
        "95\u00a0% should miss about 1 result in 20. ",
        shift=short_points(result.shift),
    )
    if side != "unclear" and isinstance(result.shift, Estimate):
        size = in_percent(abs(result.shift.value))[0]
        head = f"The forecasts are too {'high' if side == 'less' else 'low'}, by {size} points on "
        return answer("bad", prose(f"{head}average; {outside}"), why, SAMPLING)
    if missed > MOST_MISSED * len(checked):
        return answer("bad", prose(f"Do not rely on single forecasts: {outside}"), why, SAMPLING)
    holds = of_scores(result.scores)
    return holds._replace(about=together(why, SAMPLING))


def misses(row: records.ExpectedAccuracy) -> bool:
    """Whether what was observed lies outside the interval of its forecast."""
    if not isinstance(row.accuracy, Estimate) or not isinstance(row.observed, Estimate):
        return False
    return not row.accuracy.low <= row.observed.value <= row.accuracy.high


def _unchecked(result: records.ForecastResult) -> Answer:
    """The model with the highest forecast where no answer checks it."""
    known = [(x.accuracy, x.model) for x in result.expected if isinstance(x.accuracy, Estimate)]
    if not known or result.scores:
        return of_scores(result.scores)
    highest, model = max(known, key=lambda pair: pair[0].value)
    head = f"**{{model}}** should do best: {_percent(highest)} right. No answers check it yet"
    why = "How sure? Expected of it: {share}. {rivals} other models’ intervals overlap with this."
    rivals = count_rivals(highest, [other for other, _ in known])
    about = prose(why, share=short_share(highest), rivals=rivals)
    return answer("undecided", prose(head, model=model), about)


_ROUTES: Mapping[str, tuple[str, str]] = {
    "more": ("good", "Route: {size} points more questions right than with {model} alone"),
    "less": ("bad", "Do not route: {size} points fewer questions right than with {model} alone"),
    "unclear": ("undecided", "Too early to say whether routing is better than {model} alone"),
    "mix": (
        "undecided",
        "Routing is better than {model} alone, but not than the same models drawn at random: no "
        "benefit of reading the question is shown",
    ),
}


def of_route(result: records.RouteResult) -> Answer:
    """Whether routing beats the single best model, and a random choice with the same mix.

    The random choice has the same cost, and reads no question.
    """
    every = {score.router: score for score in overall(result.routers)}
    router, single, mixed = map(every.get, (ROUTER, SINGLE_BEST, SAME_MIX))
    if router is None or single is None or not isinstance(single.gain, Estimate):
        head = prose("Too early to say whether routing pays: no known answers show it")
        return answer("undecided", head, *_of_mix(result.mix))
    side = side_of(single.gain)
    reads = mixed is not None and side_of(mixed.gain) == "more"
    frame, claim = _ROUTES["mix" if side == "more" and not reads else side]
    if frame == "good" and router.cost is not None and single.cost:
        change = router.cost / single.cost - 1
        size = f"{100 * abs(change):.{int(abs(change) < 0.095)}f}\u00a0%"
        than = "less" if change < 0 else "more"
        claim += f", at {size} {than} cost by your prices" * bool(change)
    why = prose(
        "How sure? The difference is {gain} points on {n} questions that the router had not "
        "seen: {share} right, alone {alone}. ",
        gain=short_points(single.gain),
        n=single.gain.n,
        share=_percent(router.accuracy),
        alone=_percent(single.accuracy),
    )
    claim = claim.replace("{size}", in_percent(abs(single.gain.value))[0])
    head = prose(claim, model=single.model or "the best model")
    return answer(frame, head, why, *_of_mix(result.mix))


def _of_mix(mix: Iterable[records.RouteShare]) -> Iterator[Text]:
    """The model that the router selects most often."""
    if mix := tuple(mix):
        first = max(mix, key=lambda selected: selected.share)
        yield prose(
            f"The router gives {rounded_percent(first.share)} of the questions to "
            f"{{model}}, the others to {counted(len(mix) - 1, 'other model')}.",
            model=first.model,
        )


def route_fails(scores: Iterable[records.RouterScore]) -> Iterator[Text]:
    """The category in which routing clearly loses most."""
    known = [(x.gain.value, x) for x in scores if isinstance(x.gain, Estimate)]
    parts = [pair for pair in known if pair[1].category and pair[1].router == SINGLE_BEST]
    worst = min(parts, key=lambda pair: pair[0], default=(0, None))[1]
    if worst and side_of(worst.gain) == "less":
        words = "Routing loses most on **{category}**: {gain} points on {n} questions."
        gain = short_points(worst.gain) if worst.gain else ""
        yield prose(words, category=worst.category or "", gain=gain, n=worst.accuracy.n)
    elif parts:
        yield prose(f"Routing clearly loses in none of {len(parts)} categories.")


def of_pairs(tau: float) -> float:
    """Of 100 pairs of models, those in the same order by Kendall's rank correlation.

    >>> of_pairs(0.5)
    75.0
    """
    return 50 * (1 + tau)


def of_predict(result: records.PredictResult) -> Answer:
    """On how many benchmarks the order of models is predicted, and how well."""
    every = result.predictions
    predicted = sum(x.splits > 0 and x.significant >= SIGNIFICANT_SHARE * x.splits for x in every)
    right = [of_pairs(x.tau.value) for x in every if isinstance(x.tau, Estimate)]
    errors = [100 * x.mse.value**0.5 for x in every if isinstance(x.mse, Estimate)]
    pairs = f"; {min(right):.0f} to {max(right):.0f} of 100 pairs are right" if right else ""
    head = "The order of models is predicted better than by a coin on {predicted} of {all} "
    head += f"benchmarks{pairs}"
    ends = (min(errors, default=0), max(errors, default=0))
    off = f" Accuracies are typically off by {ends[0]:.0f} to {ends[1]:.0f} points."
    why = prose(
        "How sure? A benchmark counts where the order, predicted without any of its answers, beats "
        f"a coin (50 of 100 pairs) significantly in at least {100 * SIGNIFICANT_SHARE:g}\u00a0% of "
        f"random splits of the models.{off if errors else ''}"
    )
    good = 0 < predicted == len(every)
    told = prose(head, predicted=predicted, all=len(every))
    return answer("good" if good else "undecided", told, why)


def worst_of(predictions: Iterable[records.BenchmarkPrediction]) -> tuple[Text, Text]:
    """The benchmark whose order is predicted worst, and its model farthest from the prediction."""
    known = [(x.tau.value, x) for x in predictions if isinstance(x.tau, Estimate) and x.points]
    if not known:
        return (), ()
    tau, worst = min(known, key=lambda pair: pair[0])
    far = farthest(worst)
    fails = (
        f"Worst on **{{benchmark}}**: about {100 - of_pairs(tau):.0f} of 100 pairs of models stand "
        "in the wrong order."
    )
    example = (
        f"{{model}} on {{benchmark}}: predicted **{percent(far.predicted)}\u00a0%**, observed "
        f"**{percent(far.observed)}\u00a0%**, the largest error of {len(worst.points)} models."
    )
    names = {"model": far.model, "benchmark": worst.benchmark}
    return prose(fails, benchmark=worst.benchmark), prose(example, **names)


def farthest(prediction: records.BenchmarkPrediction) -> records.BenchmarkPoint:
    """The model whose accuracy is farthest from its prediction."""
    return max(prediction.points, key=lambda point: abs(point.predicted - point.observed))


def of_map(result: records.MapResult) -> Answer:
    """The most similar models, the one least like others, and whether communities are similar."""
    pairs = [(x.nearest[0].distance, x.name, x.nearest[0].model) for x in result.fleet if x.nearest]
    if not pairs:
        return answer("none", prose("No two models have a distance"))
    (short, first, second), (long, last, _) = min(pairs), max(pairs)
    middle = median(distance for distance, _, _ in pairs)
    head = prose(
        "{first} and {second} are most alike in what they get right; {last} is least like any "
        "other",
        **{"first": first, "second": second, "last": last},
    )
    away = (
        f"The two are {short:.2f} apart (0: alike in everything); half of the models have a "
        f"nearest one within {middle:.2f}, the last within {long:.2f}. How sure? Not known: "
        "distances have no intervals here. "
    )
    return answer("none", head, prose(away), of_communities(result.communities))


def of_communities(communities: Iterable[records.CommunityDistance]) -> Text:
    """The communities whose models are closer to each other than by chance."""
    groups: dict[str, list[str]] = {
        "Communities closer together than random groups: {names}.": [],
        "Communities not shown to be closer together than random groups: {names}.": [],
        "Too small to test: {names}.": [],
    }
    near, apart, small = groups.values()
    for pair in communities:
        if pair.first == pair.second:
            p = pair.p_adjusted
            (small if p is None else near if p < 0.05 else apart).append(pair.first)
    return together(*(prose(words, names=joined(x)) for words, x in groups.items() if x))


def worst_model(expected: Iterable[records.ExpectedAccuracy]) -> Iterator[Text]:
    """The model whose observed accuracy is farthest from its forecast."""
    shifts = [(abs(row.shift.value), row) for row in expected if isinstance(row.shift, Estimate)]
    if shifts:
        row = max(shifts, key=lambda pair: pair[0])[1]
        yield prose(
            f"Farthest off of {len(shifts)} models: **{{model}}**, forecast {{expected}}, observed "
            "{observed}.",
            model=row.model,
            expected=short_share(row.accuracy),
            observed="" if row.observed is None else short_share(row.observed),
        )
