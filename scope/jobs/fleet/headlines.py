"""The answer of each job on a fleet, no stronger than its numbers, and where it fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reports.estimates import SIGNS
from reports.prose import Span, Text, joined, prose, together
from reports.wording import comma_list, in_percent, percent, points, rounded_percent, short_points
from scope.errors import counted
from scope.records import Estimate, Undefined
from scope.records.fleet import (
    FEW_MODELS,
    FEW_QUESTIONS,
    ROUTER,
    SAME_MIX,
    SINGLE_BEST,
    EmbedResult,
    ForecastResult,
    MapResult,
    PredictResult,
    RouteResult,
)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

LUCK = 0.01
"""Forecasts fail where luck makes so many results differ clearly with a smaller probability."""

MOST_NAMED = 3
"""The most models that a sentence names."""

_SIGNS = dict(zip(("more", "unclear", "less"), SIGNS.values(), strict=True))


class Answer(NamedTuple):
    """The answer in one sentence, and how sure it is."""

    heading: Text
    about: Text


def answer(side: str, head: Text, *why: Text) -> Answer:
    """An answer with a sign, so that colour is never the only one."""
    sign, style = _SIGNS[side]
    return Answer((Span(sign, style), Span(" "), *head), together(*why))


def side_of(gain: Estimate | Undefined | None) -> str:
    """The side of 0 of an interval: ``more``, ``less``, or ``unclear``, as with few questions.

    >>> side_of(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap"))
    'more'
    """
    if not isinstance(gain, Estimate) or gain.n < FEW_QUESTIONS:
        return "unclear"
    return gain.side()


def how_sure(gain: Estimate | Undefined | None, equal: str) -> Text:
    """How seldom luck makes a difference look so clear, or what is still possible."""
    if (side := side_of(gain)) != "unclear":
        looks = "better" if side == "more" else "worse"
        return prose(f"How sure? {equal} would look this clearly {looks} in at most 1 run of 40.")
    if not isinstance(gain, Estimate):
        reason = gain.reason if gain else "no comparison shows it"
        return prose("How sure? Not decided: {reason}.", reason=reason)
    value, low, high = map(points, (gain.value, gain.low, gain.high))
    few = f" (at least {FEW_QUESTIONS} are needed)" * (gain.n < FEW_QUESTIONS)
    return prose(
        f"How sure? Not decided: the difference is {value} points on {gain.n:,} questions{few}; "
        f"{low} to {high} are possible."
    )


def _percent(estimate: Estimate | Undefined | None) -> str:
    if not isinstance(estimate, Estimate):
        return "an unknown share"
    return rounded_percent(estimate.value)


_PREDICTS = {
    "more": "The fleet predicts right and wrong answers",
    "less": "Do not predict right and wrong answers with the fleet",
    "unclear": "Too early to say whether the fleet predicts more than averages do",
}


def of_scores(result: EmbedResult | ForecastResult) -> Answer:
    """Whether the forecaster predicts unseen answers better than each model's average."""
    every = [score for score in result.scores if score.category is None]
    used = max(every, key=lambda score: score.chosen, default=None)
    gain = used.gain if used else None
    head = _PREDICTS[side_of(gain)]
    if used and gain is not None:
        average = next((score.accuracy for score in every if score.gain is None), None)
        head += f": {_percent(used.accuracy)} correct, {_percent(average)} by each model’s average"
    why = how_sure(gain, "A forecast no better than the averages")
    return answer(side_of(gain), prose(head), why)


def wrong_answers(result: EmbedResult | ForecastResult) -> Iterator[Text]:
    """How many single answers are predicted wrongly, and which most."""
    known = {
        score.category: score.accuracy
        for score in result.scores
        if score.chosen and isinstance(score.accuracy, Estimate)
    }
    if average := known.pop(None, None):
        wrong = f"{rounded_percent(1 - average.value)} of answers are predicted wrongly"
        worst = min(known, key=lambda category: known[category].value, default=None)
        if worst and known[worst].high < average.value:
            most = f"{wrong}, most in **{{name}}**: {rounded_percent(1 - known[worst].value)}."
            yield prose(most, name=worst)
            return
        yield prose(f"{wrong}.")
    for row in result.reliability:
        if row.low <= 0.5 < row.high and isinstance(row.observed, Estimate):
            yield prose(
                f"Least sure near an even chance: of answers forecast at {100 * row.low:.0f} to "
                f"{100 * row.high:.0f}\u00a0%, {_percent(row.observed)} are right."
            )


def of_forecast(result: ForecastResult) -> Answer:
    """Whether forecasts agree with the observed accuracies, and beat each model's average."""
    shifts = [row.shift for row in result.expected if isinstance(row.shift, Estimate)]
    if not shifts or result.shift is None:
        return _unchecked(result)
    side, count = side_of(result.shift), len(shifts)
    missed = sum(shift.low > 0 or shift.high < 0 for shift in shifts)
    misses = f"{missed} of {count} models’ results clearly differ; by luck 1 in 20 would"
    kinds = prose("On other kinds of questions forecasts may be off by more.")
    if side != "unclear" and isinstance(result.shift, Estimate):
        size = in_percent(abs(result.shift.value))[0]
        head = f"The forecasts are too {'high' if side == 'less' else 'low'}, by {size} points on "
        why = how_sure(result.shift, "Results as good as forecast")
        return answer("less", prose(f"{head}average"), why, kinds)
    if sum(math.comb(count, k) * 0.05**k * 0.95 ** (count - k) for k in range(missed)) > 1 - LUCK:
        words = f"How sure? In less than 1 run of {1 / LUCK:.0f}, luck alone makes so many differ, "
        misses = f"Do not rely on single forecasts: {misses}"
        return answer("less", prose(misses), prose(f"{words}if models miss independently."), kinds)
    holds = of_scores(result)
    misses = f"Forecasts of accuracy: {misses}."
    return holds._replace(about=together(holds.about, prose(misses), kinds))


def _unchecked(result: ForecastResult) -> Answer:
    """The model with the highest forecast where no answer checks it."""
    known = [(x.accuracy.value, x) for x in result.expected if isinstance(x.accuracy, Estimate)]
    if not known or result.scores:
        return of_scores(result)
    highest = max(known, key=lambda pair: pair[0])[1]
    head = f"**{{model}}** should do best: {_percent(highest.accuracy)} right. No answers check it"
    why = (
        "How sure? Not known: intervals cover the choice of questions alone. On another kind of "
        "questions all forecasts may be too high, or too low."
    )
    return answer("unclear", prose(f"{head} yet", model=highest.model), prose(why))


_ROUTES = {
    "more": "Route: {size} points more accurate than {model} alone",
    "less": "Do not route: {size} points less accurate than {model} alone",
    "unclear": "Too early to say whether routing is better than {model} alone",
    "mix": "Routing is better than {model} alone, but not clearly better than the same models "
    "drawn at random",
}


def of_route(result: RouteResult) -> Answer:
    """Whether routing beats the single best model, and a random choice with the same mix.

    The random choice has the same cost, and reads no question.
    """
    every = {score.router: score for score in result.routers if score.category is None}
    router, single, mixed = map(every.get, (ROUTER, SINGLE_BEST, SAME_MIX))
    if router is None or single is None or not isinstance(single.gain, Estimate):
        head = prose("Too early to say whether routing pays: no known answers show it")
        return answer("unclear", head, _of_mix(result))
    side, gain = side_of(single.gain), mixed.gain if mixed else None
    claim = _ROUTES[side]
    if side == "more" and side_of(gain) != "more":
        side, claim = "unclear", _ROUTES["mix"]
    else:
        gain = single.gain
    if side == "more" and router.cost is not None and single.cost:
        change = router.cost / single.cost - 1
        size = f"{100 * abs(change):.{int(abs(change) < 0.095)}f}\u00a0%"
        cost = f", at {size} {'low' if change < 0 else 'high'}er cost (your prices)"
        claim += cost * bool(change)
    claim = claim.replace("{size}", in_percent(abs(single.gain.value))[0])
    head = prose(claim, model=single.model or "the best model")
    return answer(side, head, how_sure(gain, "A router no better"), _of_mix(result))


def _of_mix(result: RouteResult) -> Text:
    """The models that the router selects most often."""
    shares = sorted(result.mix, key=lambda selected: -selected.share)
    asked = [prose(f"{{name}} for {percent(x.share)}\u00a0%", name=x.model) for x in shares]
    others = [prose("others for the rest")] * (len(asked) > MOST_NAMED)
    models = joined([*asked[:MOST_NAMED], *others], last=" and ")
    return prose("The router asks {models} of the questions.", models=models) if asked else ()


def route_fails(result: RouteResult) -> Iterator[Text]:
    """The category in which routing gains least."""
    parts = [
        (gain.value, gain.low, row.category, gain)
        for row in result.routers
        if row.category and row.router == SINGLE_BEST and isinstance(gain := row.gain, Estimate)
    ]
    if parts:
        *_, category, gain = min(parts)
        words = "No category clearly loses; the lowest is **{category}**"
        if side_of(gain) == "less":
            words = "Routing loses most on **{category}**"
        on = f"{short_points(gain)} points on {counted(gain.n, 'question')}."
        yield prose(f"{words}: {on}", category=category)


def of_pairs(tau: float) -> float:
    """Of 100 pairs of models, those in the same order by Kendall's rank correlation.

    >>> of_pairs(0.5)
    75.0
    """
    return 50 * (1 + tau)


def of_predict(result: PredictResult) -> Answer:
    """On how many benchmarks the order of models is predicted, and how well."""
    every = result.predictions
    predicted = [x for x in every if x.splits and x.significant >= SIGNIFICANT_SHARE * x.splits]
    right = [of_pairs(x.tau.value) for x in predicted if isinstance(x.tau, Estimate)]
    errors = [100 * x.mse.value**0.5 for x in predicted if isinstance(x.mse, Estimate)]
    head = f"The order of models is predicted on {len(predicted)} of "
    head += counted(len(every), "benchmark")
    if right and errors:
        head += f": {_range(right)} of 100 pairs are right; accuracies are typically "
        head += f"off by {_range(errors)} points"
    why = prose(
        "How sure? A benchmark counts only if its order is clearly better than guessing (50 of 100 "
        f"pairs) in at least {100 * SIGNIFICANT_SHARE:g} of 100 random splits of the models."
    )
    good = 0 < len(predicted) == len(every)
    return answer("more" if good else "unclear", prose(head), why)


def _range(values: Sequence[float]) -> str:
    """The least and the greatest in whole numbers, once if they are equal."""
    return " to ".join(dict.fromkeys(f"{end:.0f}" for end in (min(values), max(values))))


def worst_of(result: PredictResult) -> tuple[Text, Text]:
    """The benchmark whose order is predicted worst, and two models of it that show it."""
    known = [(x.tau.value, x) for x in result.predictions if isinstance(x.tau, Estimate)]
    tau, worst = min(known, key=lambda pair: pair[0], default=(0.0, None))
    if worst is None or not worst.points:
        return (), ()
    wrong = f"about {100 - of_pairs(tau):.0f} of 100 pairs of models stand in the wrong order"
    low = max(worst.points, key=lambda point: point.observed - point.predicted)
    above = [point for point in worst.points if point.predicted > low.predicted]
    high = min(above, key=lambda point: point.observed, default=low)
    example = f"{{low}} is predicted below {{high}}, {_shares(low.predicted, high.predicted)}, and "
    example += f"observed above it, {_shares(low.observed, high.observed)}."
    shown = prose(example, low=low.model, high=high.model) if high.observed < low.observed else ()
    return prose(f"Worst on **{{name}}**: {wrong}.", name=worst.benchmark), shown


def _shares(first: float, second: float) -> str:
    return f"**{percent(first)}** against **{percent(second)}\u00a0%**"


Pair = tuple[float, str, str]
"""A distance, and the two models."""


def nearest_pairs(result: MapResult) -> list[Pair]:
    """Each model with the nearest other one, each pair once, the nearest first."""
    near = ((x.nearest[0].distance, x.name, x.nearest[0].model) for x in result.fleet if x.nearest)
    pairs = {frozenset(pair[1:]): pair for pair in sorted(near, reverse=True)}
    return [*reversed(pairs.values())]


def of_pair(result: MapResult, pair: Pair, words: str) -> Text:
    """Two models with a distance in words; that of matrix factorization is one of logits."""
    distance, first, second = pair
    apart = f"{100 * distance:.0f}\u00a0points"
    if result.forecaster.startswith("mf"):
        apart = f"{distance:.2f} in log-odds"
    return prose(words, first=first, second=second, apart=apart)


def of_map(result: MapResult) -> Answer:
    """The nearest pair of models."""
    pairs = nearest_pairs(result)
    if not pairs:
        return Answer(prose("No two models have a distance"), ())
    why = "How sure? Not known: pairs that are about as near may change places on other questions."
    head = "{first} and {second} are most alike: their fitted chances to be right typically differ "
    return Answer(of_pair(result, pairs[0], f"{head}by {{apart}}"), prose(why))


def communities(result: MapResult) -> Iterator[Text]:
    """The communities whose models are closer to each other than by chance, or not."""
    groups: dict[str, list[str]] = {
        "The models of {names} are closer together than random groups.": [],
        "The models of {names} are not clearly closer together than random groups.": [],
        f"Too small to test, with fewer than {FEW_MODELS} models: {{names}}.": [],
    }
    near, far, small = groups.values()
    for pair in result.communities:
        if pair.first == pair.second:
            p = pair.p_adjusted
            (small if p is None else near if p < 0.05 else far).append(pair.first)
    yield from (prose(words, names=comma_list(x)) for words, x in groups.items() if x)
