"""The answer of each job on a fleet, no stronger than its numbers, and where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeVar

from reports.prose import Text, prose, together
from reports.wording import Cell, count_rivals, in_percent, percent, short_share
from scope import records
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_MODELS, FEW_QUESTIONS, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST

Score = TypeVar("Score", records.ForecastScore, records.RouterScore)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

MOST_MISSED = 0.1
"""Forecasts hold if at most this share of the 95 % intervals leaves out what was observed."""

Frame = Literal["good", "bad", "undecided", "neutral"]
_SIGNS: Mapping[Frame, str] = {"good": "✓ ", "bad": "!!✗!! ", "undecided": "? ", "neutral": ""}
SAMPLING = prose(
    "Intervals cover the choice of questions only: forecasts of other kinds of questions may be "
    "shifted."
)


class Answer(NamedTuple):
    """The answer in one sentence, what it rests on, and how it is meant."""

    kind: Frame
    heading: Text
    about: Text


def answer(frame: Frame, head: str | Text, *why: Text) -> Answer:
    """An answer with a sign, so that colour is never the only one."""
    words = prose(head) if isinstance(head, str) else head
    return Answer(frame, prose(f"{_SIGNS[frame]}{{words}}", words=words), together(*why))


def overall(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores on all questions."""
    return tuple(score for score in scores if score.category is None)


def beyond_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    With very few questions it is ``few``.

    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap"))
    'more'
    """
    if not isinstance(difference, Estimate):
        return None
    return "few" if difference.n < FEW_QUESTIONS else difference.side()


def compared(
    gain: Estimate | Undefined | None, better: str, worse: str, unclear: str
) -> tuple[Frame, str]:
    """What a gain shows by its interval; ``points`` stands for its size.

    >>> gain = Estimate(value=0.1, low=-0.1, high=0.2, n=90, method="bootstrap")
    >>> compared(gain, "Route: points more", "Do not: points fewer", "routing is better")
    ('undecided', 'It is too early to say whether routing is better')
    >>> sure = Estimate(value=-0.1, low=-0.2, high=-0.05, n=90, method="bootstrap")
    >>> compared(sure, "Route: points more", "Do not: points fewer", "routing is better")
    ('bad', 'Do not: 10 points fewer')
    """
    size = in_percent(abs(gain.value))[0] if isinstance(gain, Estimate) else ""
    match beyond_chance(gain):
        case "more":
            return "good", better.replace("points", f"{size} points")
        case "less":
            return "bad", worse.replace("points", f"{size} points")
        case "few":
            return "undecided", f"There are too few questions to say whether {unclear}"
        case "unclear":
            return "undecided", f"It is too early to say whether {unclear}"
    return "undecided", f"No comparison shows whether {unclear}"


def gap(estimate: Estimate | Undefined) -> str:
    """A difference of shares for a sentence.

    >>> gap(Estimate(value=-0.071, low=-0.109, high=-0.032, n=90, method="bootstrap"))
    '−7.1\xa0points [−10.9, −3.2]'
    """
    cell = Cell.points(estimate)
    return f"{cell.value} {cell.interval or f'({cell.reason})'}"


def of_embed(result: records.EmbedResult) -> Answer:
    """Whether the vectors predict unseen answers better than each model's mean."""
    frame, head = _over_the_mean(result.scores)
    use = "It was tried on questions that it had not seen, each left out once."
    return answer(frame, head, *of_forecasts(result.scores), prose(use) if result.scores else ())


def _over_the_mean(scores: Iterable[records.ForecastScore]) -> tuple[Frame, str]:
    used = in_use(scores)
    return compared(
        None if used is None else used.gain,
        "Use it to predict which model is right: points more correct than each model’s mean",
        "Use each model’s mean instead: this predicts points fewer answers correctly",
        "unseen answers are predicted better than by each model’s mean",
    )


def in_use(scores: Iterable[records.ForecastScore]) -> records.ForecastScore | None:
    """The overall score of the forecaster in use: the chosen one, otherwise the first."""
    return max(overall(tuple(scores)), key=lambda score: score.chosen, default=None)


def of_forecasts(scores: Iterable[records.ForecastScore]) -> Iterator[Text]:
    """The accuracy of the forecaster in use, compared with each model's mean."""
    used = in_use(scores)
    if used is not None:
        more = ", {gain} against each model’s mean"
        yield prose(
            "On {n} unseen questions {accuracy} of the answers are predicted correctly{more}.",
            n=used.accuracy.n,
            accuracy=short_share(used.accuracy),
            more=() if used.gain is None else prose(more, gain=gap(used.gain)),
        )


def of_forecast(result: records.ForecastResult) -> Answer:
    """Whether forecasts agree with the observed accuracies, and beat each model's mean."""
    shifts = [
        (model.accuracy, model.observed.value, model.shift.value)
        for model in result.expected
        if isinstance(model.accuracy, Estimate)
        and isinstance(model.observed, Estimate)
        and isinstance(model.shift, Estimate)
    ]
    if not shifts or result.shift is None:
        return _unchecked(result)
    high = sum(shift < 0 for _, _, shift in shifts)
    low = sum(shift > 0 for _, _, shift in shifts)
    missed = sum(not expected.low <= seen <= expected.high for expected, seen, _ in shifts)
    why = prose(
        "Observed minus forecast is {shift} on average; {high} of {all} forecasts are too high.",
        shift=gap(result.shift),
        high=high,
        all=len(shifts),
    )
    # Calibration first; without a shift, the gain over the mean.
    side = beyond_chance(result.shift)
    frame, head = _over_the_mean(result.scores)
    outside = f"{missed} of {len(shifts)} observed accuracies lie outside their intervals"
    if side in ("less", "more"):
        where, size = "high" if side == "less" else "low", abs(_value(result.shift))
        frame, head = "bad", f"The forecasts are too {where}, by {in_percent(size)[0]} points"
        head += f" on average; {outside}"
    elif min(high, low) == 0 and high + low > 1:
        where = "above" if high else "below"
        frame, head = "undecided", f"All forecasts lie {where} the observed accuracies"
    elif missed > MOST_MISSED * len(shifts):
        frame, head = "undecided", f"Do not rely on single forecasts: {outside}"
    elif side != "few":
        head = f"No shift is shown. {head}"
    return answer(frame, head, why, SAMPLING)


def _value(estimate: Estimate | Undefined) -> float:
    return estimate.value if isinstance(estimate, Estimate) else 0.0


def _unchecked(result: records.ForecastResult) -> Answer:
    """The model with the highest forecast where no answer checks it."""
    known = [(x.accuracy, x.model) for x in result.expected if isinstance(x.accuracy, Estimate)]
    if not known or result.scores:
        return answer(*_over_the_mean(result.scores), SAMPLING)
    highest, model = max(known, key=lambda pair: pair[0].value)
    rivals = count_rivals(highest, [other for other, _ in known])
    head = prose(
        f"**{{model}}** should do best: {in_percent(highest.value)[0]}\u00a0% right. No answers "
        "are known that check it",
        model=model,
    )
    why = "Expected of it: {share}. Models whose intervals overlap with this one: {rivals}."
    share = short_share(highest)
    return answer("undecided", head, prose(why, share=share, rivals=rivals))


def of_route(result: records.RouteResult) -> Answer:
    """Whether routing beats the single best model, and a random choice with the same mix.

    The random choice has the same cost, and reads no question.
    """
    every = {score.router: score for score in overall(result.routers)}
    router, single, mixed, best = map(every.get, (ROUTER, SINGLE_BEST, SAME_MIX, ORACLE))
    gain = None if single is None else single.gain
    alone = "the single best model"
    frame, head = compared(
        gain,
        f"Route with it: points more correct than {alone}",
        f"Do not route: points fewer correct than {alone} alone",
        f"routing is better than {alone}",
    )
    if router is None or single is None or gain is None:
        head = (
            head if router else "Too early to say whether routing pays: no answers are known here"
        )
        return answer(frame, head, *of_mix(result.mix))
    if frame == "good" and (mixed is None or beyond_chance(mixed.gain) != "more"):
        frame, head = "undecided", f"Routing is better than {alone}, but not than a random choice "
        head += "of the same mix: no benefit of reading the question is shown"
    elif frame == "good" and router.cost is not None and single.cost:
        change = router.cost / single.cost - 1
        size = f"{100 * abs(change):.{int(abs(change) < 0.095)}f}\u00a0%"
        head += f", at {size} {'less' if change < 0 else 'more'} cost" if change else ""
        frame = "neutral" if change > 0 else "good"
    why = prose(
        "Of {n} questions with known answers it gets {accuracy} right{than}: {gain}{mix}{best}.",
        n=router.accuracy.n,
        accuracy=short_share(router.accuracy),
        than=()
        if single.model is None
        else prose(
            "; {model} alone {share}", model=single.model, share=short_share(single.accuracy)
        ),
        gain=gap(gain),
        mix=()
        if mixed is None or mixed.gain is None
        else prose(", {x} against a random choice of the same mix", x=gap(mixed.gain)),
        best=() if best is None else prose("; a perfect router {x}", x=short_share(best.accuracy)),
    )
    return answer(frame, head, why, *of_mix(result.mix))


def of_predict(result: records.PredictResult) -> Answer:
    """How many benchmarks are predicted, and how many of them better than by the models' mean."""
    every = result.predictions
    predicted = sum(x.splits > 0 and x.significant >= SIGNIFICANT_SHARE * x.splits for x in every)
    better = [
        benchmark.mse.value < benchmark.baseline.value
        for benchmark in every
        if isinstance(benchmark.mse, Estimate) and isinstance(benchmark.baseline, Estimate)
    ]
    taus = [x.tau.value for x in every if isinstance(x.tau, Estimate)]
    of_pairs = [f"{50 * (1 + tau):.0f}" for tau in (taus and (min(taus), max(taus)))]
    ranks = f"Of 100 pairs of models it orders about {' to '.join(of_pairs)} right (a coin: 50). "
    why = prose(
        f"{ranks if taus else ''}Each benchmark is left out and its order of models predicted from "
        "the others; it counts as predicted if the order agrees significantly in at least "
        f"{100 * SIGNIFICANT_SHARE:g}\u00a0% of the random splits of models."
    )
    errors = "The error is below that of predicting the models’ mean on {better} of {all}."
    below = prose(errors, better=sum(better), all=len(better)) if better else ()
    good = 0 < predicted == len(every)
    use = "Use it to rank models before you run a benchmark: "
    order = "the order is predicted on {count} of {all} benchmarks"
    head = prose(
        f"{use}{order}" if good else f"{order[:1].upper()}{order[1:]}",
        count=predicted,
        all=len(every),
    )
    return answer("good" if good else "undecided", head, why, below)


def of_map(result: records.MapResult) -> Answer:
    """The most similar models, and whether communities are similar."""
    alike, *others = of_neighbours(result.fleet) or [prose("No two models have a distance")]
    return answer("neutral", alike, *others, *of_communities(result.communities))


def of_neighbours(models: Iterable[records.FleetModel]) -> list[Text]:
    """The two most similar models, and the model least similar to any other."""
    pairs = [(x.nearest[0].distance, x.name, x.nearest[0].model) for x in models if x.nearest]
    if not pairs:
        return []
    (short, first, second), (long, last, other) = min(pairs), max(pairs)
    alike = (
        "{first} and {second} are most alike in what they get right; {last} is least like others"
    )
    away = f"The two are {short:.2f} apart, {{last}} and its nearest, {{other}}, {long:.2f}."
    use = "Use it to choose models that differ, or one of several that are alike."
    return [
        prose(alike, first=first, second=second, last=last),
        together(prose(away, last=last, other=other), prose(use)),
    ]


def of_communities(communities: Iterable[records.CommunityDistance]) -> Iterator[Text]:
    """The communities whose models are closer to each other than by chance."""
    within = [pair.p_adjusted for pair in communities if pair.first == pair.second]
    tested = [value for value in within if value is not None]
    if within:
        yield prose(
            f"Of {{all}} communities of at least {FEW_MODELS} models {{near}} are closer together "
            "than random groups (p\u00a0<\u00a00.05, corrected); {few} more are too small to say.",
            near=sum(value < 0.05 for value in tested),
            all=len(tested),
            few=len(within) - len(tested),
        )


def of_mix(mix: Iterable[records.RouteShare]) -> Iterator[Text]:
    """The model that the router selects most often."""
    if mix := tuple(mix):
        first = max(mix, key=lambda selected: selected.share)
        yield prose(
            f"It sends {in_percent(first.share)[0]}\u00a0% of the questions to **{{model}}**, the "
            "others to {others} other models.",
            model=first.model,
            others=len(mix) - 1,
        )


def worst_category(scores: Iterable[Score], against: str) -> Iterator[Text]:
    """The category with the least gain; ``gain`` is over what ``against`` says."""
    gains = [
        (score.gain, score.category)
        for score in scores
        if score.category is not None and isinstance(score.gain, Estimate)
    ]
    if gains:
        least, category = min(gains, key=lambda pair: pair[0].value)
        yield prose(
            f"Least useful on **{{category}}**: {{gain}} against {against} on {{n}} questions, the "
            f"worst of {len(gains)} categories, which may be chance.",
            category=category,
            gain=gap(least),
            n=least.n,
        )


def worst_model(expected: Iterable[records.ExpectedAccuracy]) -> Iterator[Text]:
    """The model whose observed accuracy is farthest from its forecast."""
    shifts = [
        (abs(row.shift.value), row)
        for row in expected
        if isinstance(row.shift, Estimate) and isinstance(row.observed, Estimate)
    ]
    if shifts:
        row = max(shifts, key=lambda pair: pair[0])[1]
        yield prose(
            "Farthest off: **{model}**, forecast {expected}, observed {observed}: the worst of "
            f"{len(shifts)} models.",
            model=row.model,
            expected=short_share(row.accuracy),
            observed="" if row.observed is None else short_share(row.observed),
        )


def worst_bin(bins: Iterable[records.ReliabilityBin]) -> Iterator[Text]:
    """The range of forecasts that is farthest from what came true, beyond its interval."""
    known = [x for x in bins if isinstance(x.observed, Estimate)]
    off = {
        max(x.observed.low - x.predicted, x.predicted - x.observed.high): x
        for x in known
        if isinstance(x.observed, Estimate)
    }
    if known and max(off) <= 0:
        yield prose(
            "Probabilities hold: in {n} of {n} ranges the forecast lies within the interval.",
            n=len(known),
        )
    elif known:
        worst = off[max(off)]
        yield prose(
            f"Farthest off between {100 * worst.low:.0f} and {100 * worst.high:.0f}\u00a0%: "
            f"forecast {100 * worst.predicted:.0f}\u00a0%, right {{share}}.",
            share=short_share(worst.observed),
        )


def worst_benchmark(predictions: Iterable[records.BenchmarkPrediction]) -> Iterator[Text]:
    """The benchmark whose order is predicted worst, and its model farthest from the prediction."""
    known = [(x.tau.value, x) for x in predictions if isinstance(x.tau, Estimate) and x.points]
    if known:
        tau, worst = min(known, key=lambda pair: pair[0])
        yield prose(
            f"Worst: **{{benchmark}}**, about {50 * (1 + tau):.0f} of 100 pairs of models in the "
            "right order.",
            benchmark=worst.benchmark,
        )
        far = max(worst.points, key=lambda point: abs(point.predicted - point.observed))
        yield prose(
            f"{{model}} on {{benchmark}}: predicted {percent(far.predicted)}\u00a0%, observed "
            f"{percent(far.observed)}\u00a0%, the largest error of {{n}} models.",
            model=far.model,
            benchmark=worst.benchmark,
            n=len(worst.points),
        )
