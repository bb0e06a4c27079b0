"""The answer of each job on a fleet, no stronger than its numbers, and its main findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

from reports.blocks import Callout, Paragraph
from reports.prose import Text, prose, together, written
from reports.wording import count_rivals, percent, points, two_digits
from scope import records
from scope.jobs.fleet.scores import from_greatest
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_MODELS, FEW_QUESTIONS, ROUTER, SAME_MIX, SINGLE_BEST

Score = TypeVar("Score", records.ForecastScore, records.RouterScore)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

MEAN = "mean"
"""The forecaster that predicts each model's mean."""

Frame = Literal["good", "bad", "undecided", "neutral"]
_SIGNS: Mapping[Frame, str] = {"good": "✓ ", "bad": "✗ ", "undecided": "? ", "neutral": ""}
_Heads = Mapping[str | None, tuple[Frame, str]]
_FEW: _Heads = {"few": ("undecided", "There are too few questions for a conclusion")}
_OVER_THE_MEAN: _Heads = MappingProxyType(
    {
        **_FEW,
        "more": ("good", "Unseen answers are predicted better than by each model’s mean"),
        "less": ("bad", "Unseen answers are predicted worse than by each model’s mean"),
        "unclear": ("undecided", "Predictions are not shown to be better than each model’s mean"),
        None: ("undecided", "Predictions are compared with nothing"),
    }
)
_BEATS = "Routing beats the single best model"
_OVER_SINGLE_BEST: _Heads = MappingProxyType(
    {
        **_FEW,
        "more": ("good", f"{_BEATS}, and a random choice of the same mix"),
        "dearer": ("undecided", f"{_BEATS}, at a higher cost"),
        "mix": (
            "undecided",
            f"{_BEATS}, but not a random choice of the same mix: no benefit of reading the "
            "question is shown",
        ),
        "less": ("bad", "Routing is worse than the single best model"),
        "unclear": ("undecided", "Routing is not shown to be better than the single best model"),
        None: ("undecided", "Routing is compared with nothing: no answer is known"),
    }
)
_SAMPLING = prose(
    "The forecasts’ intervals cover the choice of questions only, not a shift from the training "
    "questions to these."
)


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
    return "few" if difference.n < FEW_QUESTIONS else difference.side


def share(estimate: Estimate | Undefined) -> Text:
    """A share for a sentence, in two digits.

    >>> from reports.prose import plain
    >>> plain(share(Estimate(value=0.688, low=0.679, high=0.697, n=90, method="bootstrap")))
    '69\xa0% [68, 70]'
    """
    if isinstance(estimate, Undefined):
        return written(estimate)
    value, low, high = (f"{100 * x:.0f}" for x in (estimate.value, estimate.low, estimate.high))
    return prose(f"{value}\u00a0% [{low}, {high}]")


def gap(estimate: Estimate | Undefined) -> Text:
    """A difference of shares for a sentence.

    >>> from reports.prose import plain
    >>> plain(gap(Estimate(value=-0.071, low=-0.109, high=-0.032, n=90, method="bootstrap")))
    '−7.1 points [−10.9, −3.2]'
    """
    if isinstance(estimate, Undefined):
        return written(estimate)
    value, low, high = map(points, (estimate.value, estimate.low, estimate.high))
    return prose(f"{value} points [{low}, {high}]")


def _difference(gain: Estimate | Undefined | None) -> Text:
    return () if gain is None else prose("; the difference is {gain}", gain=gap(gain))


class Answer(NamedTuple):
    """The result of a job: the frame of its box, a headline, and its evidence in a sentence."""

    frame: Frame
    head: Text
    why: Text

    def box(self) -> Callout:
        """The answer as a box, with a sign, so that colour is never the only one."""
        head = prose(f"**{_SIGNS[self.frame]}{{head}}**", head=self.head)
        return Callout(self.frame, (Paragraph(head, lead=True), Paragraph(self.why)))


def of_embed(result: records.EmbedResult) -> Answer:
    """Whether the vectors predict unseen answers better than each model's mean."""
    frame, head = _over_the_mean(result.scores)
    return Answer(frame, prose(head), together(*of_forecasts(result.scores), of_matrix(result)))


def _over_the_mean(scores: Sequence[records.ForecastScore]) -> tuple[Frame, str]:
    used = in_use(scores)
    return _OVER_THE_MEAN[None if used is None else beyond_chance(used.gain)]


def of_forecasts(scores: Sequence[records.ForecastScore]) -> Iterator[Text]:
    """The accuracy of the forecaster in use, compared with each model's mean."""
    used = in_use(scores)
    if used is None:
        return
    mean = next((x for x in overall(scores) if x.forecaster.partition("(")[0] == MEAN), used)
    compared = prose(", each model’s mean {mean}", mean=share(mean.accuracy))
    yield prose(
        "On {n} unseen questions {accuracy} of the answers are predicted correctly{mean}{gain}.",
        n=used.accuracy.n,
        accuracy=share(used.accuracy),
        mean=() if mean is used else compared,
        gain=_difference(used.gain),
    )


def in_use(scores: Sequence[records.ForecastScore]) -> records.ForecastScore | None:
    """The overall score of the forecaster in use: the chosen one, otherwise the first."""
    every = overall(scores)
    return next((score for score in every if score.chosen), every[0] if every else None)


def of_matrix(result: records.FleetResult) -> Text:
    """The size of the response matrix."""
    cells = result.questions * result.models
    return prose(
        "{answers} answers of {models} models to {questions} questions are known, "
        f"{percent(result.answers / cells) if cells else '0.0'}\u00a0% of all.",
        answers=result.answers,
        models=result.models,
        questions=result.questions,
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
        unknown = prose("The forecasts are compared with nothing: no answer is known")
        return Answer("undecided", unknown, _SAMPLING)
    high = sum(shift < 0 for _, _, shift in shifts)
    low = sum(shift > 0 for _, _, shift in shifts)
    why = prose(
        "Observed minus expected accuracy is {shift} on average. {high} of {all} forecasts lie "
        "above the observed accuracy, and the intervals of {missed} leave it out. {sampling}",
        shift=gap(result.shift),
        high=high,
        all=len(shifts),
        missed=sum(not expected.low <= seen <= expected.high for expected, seen, _ in shifts),
        sampling=_SAMPLING,
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
    return Answer(frame, prose(head), why)


def of_route(result: records.RouteResult) -> Answer:
    """Whether routing beats the single best model, and a random choice with the same mix."""
    every = {score.router: score for score in overall(result.routers)}
    router, single, verdict = every.get(ROUTER), every.get(SINGLE_BEST), routing_verdict(every)
    frame, head = _OVER_SINGLE_BEST[verdict]
    if router is None or single is None:
        return Answer(frame, prose(head), of_matrix(result))
    if verdict == "dearer":
        head += f": {router.cost or 0:.4g} a question instead of {single.cost or 0:.4g}"
    why = prose(
        "On {n} questions the router’s choice is correct for {accuracy}, the single best model"
        "{model} for {single}{gain}.",
        n=router.accuracy.n,
        accuracy=share(router.accuracy),
        model=() if single.model is None else prose(" (**{model}**)", model=single.model),
        single=share(single.accuracy),
        gain=_difference(single.gain),
    )
    return Answer(frame, prose(head), why)


def routing_verdict(every: Mapping[str, records.RouterScore]) -> str | None:
    """The value of routing: `beyond_chance` of its gain over the single best model.

    ``mix`` if the router is better than that but not significantly better than a random choice
    with the same mix of models, which has the same cost; ``dearer`` if it is better than both and
    a question costs more than with the single best model.
    """
    over_single, over_mix = (
        beyond_chance(every[name].gain if name in every else None)
        for name in (SINGLE_BEST, SAME_MIX)
    )
    if over_single != "more":
        return over_single
    if over_mix != "more":
        return "mix"
    cost, of_single = every[ROUTER].cost, every[SINGLE_BEST].cost
    return "dearer" if cost is not None and of_single is not None and cost > of_single else "more"


def of_predict(result: records.PredictResult) -> Answer:
    """How many benchmarks are predicted, and how many better than by the models' mean."""
    every = result.predictions
    predicted = sum(x.splits > 0 and x.significant >= SIGNIFICANT_SHARE * x.splits for x in every)
    better = [
        benchmark.mse.value < benchmark.baseline.value
        for benchmark in every
        if isinstance(benchmark.mse, Estimate) and isinstance(benchmark.baseline, Estimate)
    ]
    compared = prose(
        "The error is below that of predicting the models’ mean on {better} of {all}.",
        better=sum(better),
        all=len(better),
    )
    why = prose(
        "Predicted is an order of the models, from their answers to all other benchmarks, that "
        f"agrees significantly in at least {100 * SIGNIFICANT_SHARE:g}\u00a0% of the random splits."
    )
    head = prose("{count} of {all} benchmarks are predicted", count=predicted, all=len(every))
    frame: Frame = "good" if every and predicted == len(every) else "undecided"
    return Answer(frame, head, together(why, compared if better else ()))


def of_map(result: records.MapResult) -> Answer:
    """The most similar models, and whether communities are similar."""
    alike, *others = of_neighbours(result.fleet) or [prose("No two models have a distance.")]
    near = of_communities(result.communities)
    return Answer("neutral", alike, together(*others, *near, of_matrix(result)))


def of_neighbours(models: Sequence[records.FleetModel]) -> list[Text]:
    """The two models that are most alike, and the one that is least like any other."""
    pairs = [(model.nearest[0], model.name) for model in models if model.nearest]
    if not pairs:
        return []
    first, model = min(pairs, key=lambda pair: pair[0].distance)
    last, loner = max(pairs, key=lambda pair: pair[0].distance)
    alike = f"Most alike: {{one}} and {{other}}, {first.distance:.2f} apart."
    least = f"Least like any other: **{{one}}**, {last.distance:.2f} from **{{other}}**."
    return [
        prose(alike, one=model, other=first.model),
        prose(least, one=loner, other=last.model),
    ]


def of_communities(communities: Sequence[records.CommunityDistance]) -> Iterator[Text]:
    """The communities whose models are closer to each other than by chance."""
    within = [pair.p_adjusted for pair in communities if pair.first == pair.second]
    tested = [value for value in within if value is not None]
    if tested:
        yield prose(
            "The models of {near} of {all} communities are closer to each other than to others, "
            "more so than random groups (p\u00a0<\u00a00.05, corrected for their number).",
            near=sum(value < 0.05 for value in tested),
            all=len(tested),
        )
    if few := len(within) - len(tested):
        yield prose(
            f"Communities of fewer than {FEW_MODELS} models, too few to conclude: {{few}}.", few=few
        )


def of_reliability(bins: Sequence[records.ReliabilityBin]) -> Iterator[Text]:
    """How many groups of forecasts come true as often as predicted, and the worst one."""
    known = [(x.predicted, x.observed) for x in bins if isinstance(x.observed, Estimate)]
    if known:
        worst, seen = max(known, key=lambda pair: abs(pair[1].value - pair[0]))
        yield prose(
            "Of {all} groups of forecasts with like probabilities, {within} agree with what came "
            f"true. Farthest apart: predicted {100 * worst:.0f}\u00a0%, true {{seen}}.",
            all=len(known),
            within=sum(true.low <= predicted <= true.high for predicted, true in known),
            seen=share(seen),
        )


def of_expected(expected: Sequence[records.ExpectedAccuracy]) -> Iterator[Text]:
    """The models with the highest and the lowest expected accuracy, beside the observed one.

    With each, the number of other models with an interval that overlaps with its own.
    """
    defined = [(x.accuracy, x) for x in expected if isinstance(x.accuracy, Estimate)]
    defined.sort(key=lambda pair: -pair[0].value)
    ends = defined[:: max(1, len(defined) - 1)]
    for words, (accuracy, model) in zip(("Highest", "Lowest"), ends, strict=False):
        rivals = count_rivals(accuracy, [other for other, _ in defined])
        seen = model.observed and prose(", observed {seen}", seen=share(model.observed))
        yield prose(
            f"{words}: **{{model}}**, expected {{accuracy}}{{seen}}{{rivals}}.",
            model=model.model,
            accuracy=share(accuracy),
            seen=seen or (),
            rivals=prose("; {n} other intervals overlap with it", n=rivals) if rivals else (),
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


def of_predictions(predictions: Sequence[records.BenchmarkPrediction]) -> Iterator[Text]:
    """The benchmarks whose order of models is predicted best and worst."""
    defined = [(x.tau.value, x) for x in predictions if isinstance(x.tau, Estimate)]
    defined.sort(key=lambda pair: -pair[0])
    ends = defined[:: max(1, len(defined) - 1)]
    for words, (tau, benchmark) in zip(("Best", "Worst"), ends, strict=False):
        errors = (benchmark.mse, benchmark.baseline)
        error, mean = (
            f"{100 * x.value**0.5:.1f}" if isinstance(x, Estimate) else "unknown" for x in errors
        )
        yield prose(
            f"{words} predicted: **{{name}}**, Kendall’s τ {two_digits(tau)}; typical error "
            f"{error} points, of the models’ mean {mean}.",
            name=benchmark.benchmark,
        )


def of_contributions(contributions: Sequence[records.Contribution]) -> Iterator[Text]:
    """How many contributions are above 0, and the largest of these, or else of all."""
    others = [x for x in contributions if x.source != x.target and isinstance(x.value, Estimate)]
    if not others:
        return
    best = min(others, key=lambda contribution: from_greatest(contribution.value))
    remarks = {"unclear": ", which may be chance", "few": ", from too few questions to conclude"}
    yield prose(
        "{helping} of {all} contributions of one benchmark to another are above 0, not corrected "
        "for their number. Largest: **{source}** to **{target}**, {value}"
        f"{remarks.get(beyond_chance(best.value) or '', '')}.",
        helping=sum(beyond_chance(contribution.value) == "more" for contribution in others),
        all=len(others),
        source=best.source,
        target=best.target,
        value=gap(best.value),
    )
