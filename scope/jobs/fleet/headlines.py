"""The answer of each job on a fleet, no stronger than its numbers, and its main findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from reports.blocks import Callout, Paragraph
from reports.prose import Text, prose, together
from reports.wording import Cell, count_rivals, short_share
from scope import records
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_MODELS, FEW_QUESTIONS, ROUTER, SAME_MIX, SINGLE_BEST

Score = TypeVar("Score", records.ForecastScore, records.RouterScore)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

Frame = Literal["good", "bad", "undecided", "neutral"]
_SIGNS: Mapping[Frame, str] = {"good": "✓ ", "bad": "✗ ", "undecided": "? ", "neutral": ""}
_SAMPLING = prose(
    "The forecasts’ intervals cover the choice of questions only, not a shift from the training "
    "questions to these."
)


def answer(frame: Frame, head: str | Text, *why: Text) -> Callout:
    """The answer and its evidence in a box, with a sign, so that colour is never the only one."""
    words = prose(head) if isinstance(head, str) else head
    lead = Paragraph(prose(f"**{_SIGNS[frame]}{{words}}**", words=words), lead=True)
    return Callout(frame, (lead, *([Paragraph(together(*why))] if any(why) else [])))


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


def compared(gain: Estimate | Undefined | None, what: str, other: str) -> tuple[Frame, str]:
    """Whether something is better than another, by the interval of its gain.

    >>> gain = Estimate(value=0.1, low=-0.1, high=0.2, n=90, method="bootstrap")
    >>> compared(gain, "routing is", "than a random choice")
    ('undecided', 'It is not shown that routing is better than a random choice')
    """
    match beyond_chance(gain):
        case "more":
            return "good", f"{what} better {other}".capitalize()
        case "less":
            return "bad", f"{what} worse {other}".capitalize()
        case "few":
            return "undecided", "There are too few questions for a conclusion"
        case "unclear":
            return "undecided", f"It is not shown that {what} better {other}"
    return "undecided", f"No comparison shows whether {what} better {other}"


def gap(estimate: Estimate | Undefined) -> str:
    """A difference of shares for a sentence.

    >>> gap(Estimate(value=-0.071, low=-0.109, high=-0.032, n=90, method="bootstrap"))
    '−7.1\xa0points [−10.9, −3.2]'
    """
    cell = Cell.points(estimate)
    return f"{cell.value} {cell.interval or f'({cell.reason})'}"


def of_embed(result: records.EmbedResult) -> Callout:
    """Whether the vectors predict unseen answers better than each model's mean."""
    return answer(*_over_the_mean(result.scores), *of_forecasts(result.scores))


def _over_the_mean(scores: Sequence[records.ForecastScore]) -> tuple[Frame, str]:
    used = in_use(scores)
    gain = None if used is None else used.gain
    return compared(gain, "unseen answers are predicted", "than by each model’s mean")


def in_use(scores: Sequence[records.ForecastScore]) -> records.ForecastScore | None:
    """The overall score of the forecaster in use: the chosen one, otherwise the first."""
    return max(overall(scores), key=lambda score: score.chosen, default=None)


def of_forecasts(scores: Sequence[records.ForecastScore]) -> Iterator[Text]:
    """The accuracy of the forecaster in use, compared with each model's mean."""
    used = in_use(scores)
    if used is not None:
        more = "; the difference from each model’s mean is {gain}"
        yield prose(
            "On {n} unseen questions {accuracy} of the answers are predicted correctly{more}.",
            n=used.accuracy.n,
            accuracy=short_share(used.accuracy),
            more=() if used.gain is None else prose(more, gain=gap(used.gain)),
        )


def of_forecast(result: records.ForecastResult) -> Callout:
    """Whether forecasts agree with the observed accuracies, and beat each model's mean."""
    shifts = [
        (model.accuracy, model.observed.value, model.shift.value)
        for model in result.expected
        if isinstance(model.accuracy, Estimate)
        and isinstance(model.observed, Estimate)
        and isinstance(model.shift, Estimate)
    ]
    if not shifts or result.shift is None:
        return answer(*_over_the_mean(result.scores), _SAMPLING)
    high = sum(shift < 0 for _, _, shift in shifts)
    low = sum(shift > 0 for _, _, shift in shifts)
    why = prose(
        "Observed minus expected accuracy is {shift} on average. {high} of {all} forecasts lie "
        "above the observed accuracy, and the intervals of {missed} leave it out.",
        shift=gap(result.shift),
        high=high,
        all=len(shifts),
        missed=sum(not expected.low <= seen <= expected.high for expected, seen, _ in shifts),
    )
    # Calibration first; without a shift, the gain over the mean.
    side = beyond_chance(result.shift)
    frame, head = _over_the_mean(result.scores)
    if side in ("less", "more"):
        frame, head = "bad", f"The forecasts are too {'high' if side == 'less' else 'low'}"
    elif min(high, low) == 0 and high + low > 1:
        where = "above" if high else "below"
        frame, head = "undecided", f"All forecasts lie {where} the observed accuracies"
    elif side != "few":
        head = f"No shift is shown. {head}"
    return answer(frame, head, why, _SAMPLING)


def of_route(result: records.RouteResult) -> Callout:
    """Whether routing beats the single best model, and a random choice with the same mix.

    The random choice has the same cost, and reads no question.
    """
    every = {score.router: score for score in overall(result.routers)}
    router, single, mixed = map(every.get, (ROUTER, SINGLE_BEST, SAME_MIX))
    gain = None if single is None else single.gain
    frame, head = compared(gain, "routing is", "than the single best model")
    if router is None or single is None or gain is None:
        return answer(frame, head)
    if frame == "good" and (mixed is None or beyond_chance(mixed.gain) != "more"):
        frame, chance = "undecided", ", but not than a random choice of the same mix"
        head += f"{chance}: no benefit of reading the question is shown"
    elif frame == "good":
        head += " and than a random choice of the same mix"
        if router.cost is not None and single.cost is not None and router.cost > single.cost:
            frame = "undecided"
            head += f", at a higher cost: {router.cost:.4g} a question instead of {single.cost:.4g}"
    why = prose(
        "On {n} questions the router’s choice is correct for {accuracy}; the difference from the "
        "single best model{model} is {gain}.",
        n=router.accuracy.n,
        accuracy=short_share(router.accuracy),
        model=() if single.model is None else prose(", **{model}**,", model=single.model),
        gain=gap(gain),
    )
    return answer(frame, head, why)


def of_predict(result: records.PredictResult) -> Callout:
    """How many benchmarks are predicted, and how many of them better than by the models' mean."""
    every = result.predictions
    predicted = sum(x.splits > 0 and x.significant >= SIGNIFICANT_SHARE * x.splits for x in every)
    better = [
        benchmark.mse.value < benchmark.baseline.value
        for benchmark in every
        if isinstance(benchmark.mse, Estimate) and isinstance(benchmark.baseline, Estimate)
    ]
    why = prose(
        "Predicted is an order of the models, from their answers to all other benchmarks, that "
        f"agrees significantly in at least {100 * SIGNIFICANT_SHARE:g}\u00a0% of the random "
        "splits. Kendall’s τ is 1 for the same order, 0 for none; its interval holds the middle "
        "95\u00a0% of the splits."
    )
    errors = "The error is below that of predicting the models’ mean on {better} of {all}."
    below = prose(errors, better=sum(better), all=len(better)) if better else ()
    head = prose("{count} of {all} benchmarks are predicted", count=predicted, all=len(every))
    return answer("good" if 0 < predicted == len(every) else "undecided", head, why, below)


def of_map(result: records.MapResult) -> Callout:
    """The most similar models, and whether communities are similar."""
    alike, *others = of_neighbours(result.fleet) or [prose("No two models have a distance.")]
    return answer("neutral", alike, *others, *of_communities(result.communities))


def of_neighbours(models: Sequence[records.FleetModel]) -> list[Text]:
    """The two most similar models, the model least similar to any other, and the map."""
    pairs = [(x.nearest[0].distance, x.name, x.nearest[0].model) for x in models if x.nearest]
    if not pairs:
        return []
    (short, first, second), (long, last, other) = min(pairs), max(pairs)
    alike = f"Most alike: {{first}} and {{second}}, {short:.2f} apart."
    least = f"Least like any other: **{{last}}**, {long:.2f} from **{{other}}**."
    return [
        prose(alike, first=first, second=second),
        prose(least, last=last, other=other),
        prose("Near models are often right on the same questions; the map’s axes mean nothing."),
    ]


def of_communities(communities: Sequence[records.CommunityDistance]) -> Iterator[Text]:
    """The communities whose models are closer to each other than by chance."""
    within = [pair.p_adjusted for pair in communities if pair.first == pair.second]
    tested = [value for value in within if value is not None]
    if within:
        yield prose(
            "The models of {near} of {all} tested communities are closer to each other than to "
            "others, more so than random groups (p\u00a0<\u00a00.05, corrected for their number). "
            f"Communities of fewer than {FEW_MODELS} models, too few to conclude: {{few}}.",
            near=sum(value < 0.05 for value in tested),
            all=len(tested),
            few=len(within) - len(tested),
        )


def of_expected(expected: Sequence[records.ExpectedAccuracy]) -> Iterator[Text]:
    """The model with the highest expected accuracy, and how many others may be as good."""
    known = [(x.accuracy, x.model) for x in expected if isinstance(x.accuracy, Estimate)]
    if known:
        highest, model = max(known, key=lambda pair: pair[0].value)
        yield prose(
            "Highest: **{model}**, expected {accuracy}. Other intervals that overlap: {rivals}.",
            model=model,
            accuracy=short_share(highest),
            rivals=count_rivals(highest, [other for other, _ in known]),
        )


def of_mix(mix: Sequence[records.RouteShare]) -> Iterator[Text]:
    """The model that the router selects most often."""
    if mix:
        first = max(mix, key=lambda selected: selected.share)
        yield prose(
            "Models selected by the router: {count}. Most often: **{model}**, for "
            f"{100 * first.share:.0f}\u00a0% of the questions.",
            count=len(mix),
            model=first.model,
        )
