"""The main results of a job on a fleet in a few sentences, each no stronger than its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reports.prose import Text, prose, together
from reports.wording import Cell, count_rivals, percent
from scope.jobs.fleet.score_words import beyond_chance, from_greatest, overall
from scope.records import (
    BenchmarkPrediction,
    CommunityDistance,
    Contribution,
    Estimate,
    ExpectedAccuracy,
    FleetResult,
    ForecastResult,
    ForecastScore,
    RouterScore,
    RouteShare,
    Undefined,
)
from scope.records.fleet import FEW_MODELS, ROUTER, SAME_MIX, SINGLE_BEST

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

MEAN = "mean"
"""The forecaster that predicts each model's mean."""

_FEW = "There are too few questions for a conclusion."
_SAMPLING = (
    "The intervals of expected accuracies cover the sampling of questions only, not a shift "
    "between the training questions and these."
)
_SHIFTS = dict.fromkeys(("more", "less"), "The forecasts are shifted. ")
_OVER_THE_MEAN = {
    "more": "The interval excludes 0.",
    "less": "The forecaster is !!worse!! than the mean.",
    "unclear": "The interval includes 0: the difference may be chance.",
    "few": _FEW,
}
_OVER_SINGLE_BEST = {
    "more": "Routing pays: it is significantly better than the single best model and than a random "
    "choice with the same mix of models.",
    "dearer": "Routing is significantly better than the single best model and than a random choice "
    "with the same mix of models, but a question costs {cost} instead of {single}.",
    "mix": "Routing is significantly better than the single best model, but not than a random "
    "choice with the same mix of models at the same cost: a benefit of reading the question is not "
    "shown.",
    "less": "Routing is !!worse!! than the single best model.",
    "unclear": "The interval includes 0: the router and the single best model are not "
    "distinguishable.",
    "few": _FEW,
}


def of_forecasts(scores: Sequence[ForecastScore]) -> Iterator[Text]:
    """The accuracy of the forecaster in use, compared with each model's mean."""
    used, mean = in_use(scores), of_mean(scores)
    if used is None:
        return
    compared = mean is not None and mean is not used
    yield together(
        (
            *prose(
                "``{forecaster}`` predicts {accuracy} of the answers to unseen questions correctly",
                forecaster=used.forecaster,
                accuracy=Cell.share(used.accuracy),
            ),
            *(
                prose("; the mean of each model predicts {mean}", mean=Cell.share(mean.accuracy))
                if mean is not None and compared
                else ()
            ),
            *_difference(used.gain),
        ),
        prose(_OVER_THE_MEAN.get(beyond_chance(used.gain) or "", "")),
    )


def in_use(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The overall score of the forecaster in use: the chosen one, otherwise the first."""
    every = overall(scores)
    return next((score for score in every if score.chosen), every[0] if every else None)


def of_mean(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The overall score of predicting each model's mean."""
    every = overall(scores)
    return next((one for one in every if one.forecaster.partition("(")[0] == MEAN), None)


def _difference(gain: Estimate | Undefined | None) -> Text:
    """The end of a sentence on two accuracies: their difference, if it was asked for."""
    return (
        prose(".") if gain is None else prose("; the difference is {gain}.", gain=Cell.points(gain))
    )


def of_expected(expected: Sequence[ExpectedAccuracy]) -> Iterator[Text]:
    """The models with the highest and the lowest expected accuracy.

    With each, its observed accuracy if known, and how many other models have an interval that
    overlaps with its own.
    """
    defined = [one for one in expected if isinstance(one.accuracy, Estimate)]
    if not defined:
        return
    ordered = sorted(defined, key=lambda one: from_greatest(one.accuracy))
    accuracies = [one.accuracy for one in defined if isinstance(one.accuracy, Estimate)]
    ends = [
        prose(
            "{accuracy}{overlapping}{observed}",
            accuracy=Cell.share(one.accuracy),
            overlapping=_overlapping(count_rivals(one.accuracy, accuracies)),
            observed=() if one.observed is None else _observed(one.observed),
        )
        for one in ordered[:: max(1, len(ordered) - 1)]
        if isinstance(one.accuracy, Estimate)
    ]
    best = prose(
        "**{model}** has the highest expected accuracy on the unseen questions: {accuracy}",
        model=ordered[0].model,
        accuracy=ends[0],
    )
    last = prose(", **{model}** the lowest: {accuracy}", model=ordered[-1].model, accuracy=ends[-1])
    yield (*best, *(last if len(ends) > 1 else ()), *prose("."))


def _observed(observed: Estimate | Undefined) -> Text:
    return prose(", observed {accuracy}", accuracy=Cell.share(observed))


def of_shift(result: ForecastResult) -> Iterator[Text]:
    """How far the forecasts are from the observed accuracies, and what the intervals leave out."""
    if not result.expected:
        return
    if result.shift is None:
        yield prose(f"No answer to an unseen question is known. {_SAMPLING}")
        return
    pairs = [
        (one.accuracy, one.observed.value, one.shift.value)
        for one in result.expected
        if isinstance(one.accuracy, Estimate)
        and isinstance(one.observed, Estimate)
        and isinstance(one.shift, Estimate)
    ]
    yield prose(
        "Observed minus expected accuracy, the mean over the models, is {shift}: {high} of {all} "
        "forecasts lie above the observed accuracy, and the intervals of {missed} leave it out. "
        f"{_SHIFTS.get(beyond_chance(result.shift) or '', '')}{_SAMPLING}",
        shift=Cell.points(result.shift),
        high=sum(shift < 0 for _, _, shift in pairs),
        missed=sum(not one.low <= seen <= one.high for one, seen, _ in pairs),
        all=len(pairs),
    )


def _overlapping(rivals: int) -> Text:
    if not rivals:
        return ()
    if rivals == 1:
        return prose(" (the interval of 1 other overlaps with it)")
    return prose(" (the intervals of {rivals} others overlap with it)", rivals=rivals)


def of_routing(routers: Sequence[RouterScore]) -> Iterator[Text]:
    """The accuracy of the router, compared with the single best model and the other baselines."""
    every = {one.router: one for one in overall(routers)}
    if ROUTER not in every:
        return
    single = every.get(SINGLE_BEST)
    yield together(
        (
            *prose(
                "The router answers {accuracy} of the questions correctly",
                accuracy=Cell.share(every[ROUTER].accuracy),
            ),
            *(() if single is None else _single(single)),
            *_difference(None if single is None else single.gain),
        ),
        _worth(every),
    )
    for name, one in every.items():
        if name not in {ROUTER, SINGLE_BEST}:
            accuracy = Cell.share(one.accuracy)
            yield prose("For comparison, {name}: {accuracy}.", name=name, accuracy=accuracy)


def _single(single: RouterScore) -> Text:
    named = () if single.model is None else prose(", **{model}**,", model=single.model)
    accuracy = Cell.share(single.accuracy)
    template = "; the single best model{named} answers {accuracy}"
    return prose(template, named=named, accuracy=accuracy)


def worth(every: Mapping[str, RouterScore]) -> str | None:
    """What routing is worth: `beyond_chance` of its gain over the single best model.

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


def _worth(every: Mapping[str, RouterScore]) -> Text:
    found = worth(every)
    if found == "dearer":
        cost, single = (prose(f"{every[name].cost:.4g}") for name in (ROUTER, SINGLE_BEST))
        return prose(_OVER_SINGLE_BEST["dearer"], cost=cost, single=single)
    return prose(_OVER_SINGLE_BEST.get(found or "", ""))


def of_mix(mix: Sequence[RouteShare]) -> Iterator[Text]:
    """The model that the router selects most often."""
    if mix:
        first = max(mix, key=lambda one: one.share)
        models = "model" if len(mix) == 1 else "models"
        yield prose(
            f"The router selects {{count}} {models}, most often **{{model}}**: for "
            f"{percent(first.share)}\u00a0% of the questions.",
            count=len(mix),
            model=first.model,
        )


def of_predictions(predictions: Sequence[BenchmarkPrediction]) -> Iterator[Text]:
    """The number of predicted benchmarks, and the best and worst predicted ones."""
    if not predictions:
        return
    predicted = sum(
        one.splits > 0 and one.significant >= SIGNIFICANT_SHARE * one.splits for one in predictions
    )
    yield together(
        prose(
            "**{count} of {all}** held-out benchmarks are predicted: the ranking of the models by "
            "predicted accuracy agrees with the observed one, significantly in at least "
            f"{100 * SIGNIFICANT_SHARE:g}\u00a0% of the random splits.",
            count=predicted,
            all=len(predictions),
        ),
        _ends(predictions),
    )


def _ends(predictions: Sequence[BenchmarkPrediction]) -> Text:
    defined = [(one.benchmark, one.tau) for one in predictions if isinstance(one.tau, Estimate)]
    if not defined:
        return ()
    ordered = sorted(defined, key=lambda pair: -pair[1].value)
    best, *_, worst = (
        prose("**{name}** with {tau}", name=name, tau=Cell.of(tau, signed=True))
        for name, tau in (ordered[0], ordered[-1])
    )
    if len(ordered) == 1:
        return prose("Kendall’s τ is highest for {best}.", best=best)
    return prose("Kendall’s τ is highest for {best}, lowest for {worst}.", best=best, worst=worst)


def of_communities(communities: Sequence[CommunityDistance]) -> Iterator[Text]:
    """The communities whose models are closer to each other than by chance."""
    within = [one.p_adjusted for one in communities if one.first == one.second]
    tested = [value for value in within if value is not None]
    if tested:
        near = sum(value < 0.05 for value in tested)
        yield prose(
            f"In {{near}} of {{tested}} communities of {FEW_MODELS} or more models these are "
            "closer to each other than in random groups of the same size (p\u00a0<\u00a00.05 after "
            "Benjamini and Hochberg’s correction).",
            near=near or prose("none"),
            tested=len(tested),
        )
    if few := len(within) - len(tested):
        yield prose(
            f"Communities of fewer than {FEW_MODELS} models, too few to conclude: {{few}}.", few=few
        )


def of_contributions(contributions: Sequence[Contribution]) -> Iterator[Text]:
    """How many contributions are above 0, and the largest of these, or else of all."""
    others = [
        one for one in contributions if one.source != one.target and isinstance(one.value, Estimate)
    ]
    if not others:
        return
    best = max(others, key=lambda one: -from_greatest(one.value))
    helping = sum(beyond_chance(one.value) == "more" for one in others)
    remark = {
        "unclear": ", which may be chance",
        "few": ", with too few questions for a conclusion",
    }.get(beyond_chance(best.value) or "", "")
    above = "The intervals of {helping} of {all} contributions of one benchmark to another"
    uncorrected = "they are not corrected for their number: 1 of 40 is expected without any effect"
    counted = (
        prose(f"{above} are above 0; {uncorrected}.", helping=helping, all=len(others))
        if helping
        else prose("No benchmark’s questions significantly improve forecasts on another.")
    )
    yield together(
        counted,
        prose(
            "The largest contribution is from **{source}** to **{target}**: {value}"
            f"{remark}.",
            source=best.source,
            target=best.target,
            value=Cell.points(best.value),
        ),
    )


def of_matrix(result: FleetResult) -> Text:
    """What the results are based on."""
    added = len(result.added)
    models = "model was" if added == 1 else "models were"
    late = prose(f"; {{added}} {models} added without retraining", added=added) if added else ()
    return prose(
        "The results are based on {answers} answers of {models} models to {questions} questions: "
        f"{known_percent(result)}\u00a0% of the matrix is known{{late}}.",
        answers=result.answers,
        models=result.models,
        questions=result.questions,
        late=late,
    )


def known_percent(result: FleetResult) -> str:
    """The share of the matrix that is known, in per cent."""
    cells = result.questions * result.models
    return percent(result.answers / cells) if cells else "0.0"
