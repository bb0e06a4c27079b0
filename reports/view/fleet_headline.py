"""The first section of a report on a fleet: the main results in a few sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reports.view import wording
from reports.view.fleet_words import ROUTER, SAME_MIX, SINGLE, beyond_chance, in_use, of_mean
from scope.records import (
    BenchmarkPrediction,
    Contribution,
    Estimate,
    FleetFindings,
    FleetResult,
    RouterScore,
)

SIGNIFICANT_SHARE = 0.95
"""A benchmark counts as predicted if at least this share of the splits is significant."""

BY_CHANCE = 0.05
"""Contributions that are at least this likely by chance are not a finding."""


@dataclass(frozen=True, kw_only=True)
class ForecastFinding:
    """The accuracy of the forecaster in use, compared with each model's mean.

    ``mean`` and ``gain`` are None if it is the mean itself or was not compared with it.
    """

    forecaster: str
    accuracy: wording.Cell
    mean: wording.Cell | None
    gain: wording.Cell | None
    beyond: str | None


@dataclass(frozen=True, kw_only=True)
class RouteFinding:
    """The accuracy of the router, compared with the single best model.

    ``beyond`` is `beyond_chance` of the gain over the single best model; ``mix`` if the router is
    better than that but not significantly better than a random choice with the same mix of
    models, which has the same cost; ``dearer`` if it is better than both and a question costs
    more than with the single best model.
    """

    accuracy: wording.Cell
    single: str | None
    single_accuracy: wording.Cell | None
    gain: wording.Cell | None
    beyond: str | None
    costs: tuple[str, str] | None
    others: tuple[tuple[str, wording.Cell], ...]


@dataclass(frozen=True, kw_only=True)
class PredictFinding:
    """The number of predicted benchmarks, and the best and worst predicted ones."""

    predicted: int
    benchmarks: int
    share: str
    ends: tuple[tuple[str, wording.Cell], ...]


@dataclass(frozen=True, kw_only=True)
class MapFinding:
    """Communities whose models are closer to each other than by chance, and the best contribution.

    ``beyond`` is `beyond_chance` of the best contribution. ``helping`` of ``contributions`` are
    above 0 by their intervals; if there are any, the best is the largest of these. ``by_chance``
    is whether so many intervals above 0 are likely without any true contribution.

    ``tested`` counts the communities with a p-value, ``near`` those significant after Holm's
    correction.
    """

    near: int
    tested: int
    source: str | None
    target: str | None
    contribution: wording.Cell | None
    beyond: str | None
    helping: int
    by_chance: bool
    contributions: int


@dataclass(frozen=True, kw_only=True)
class FleetHeadline:
    """The main results; parts that were not requested are None.

    ``known`` is the percentage of the matrix that is known. ``most_asked`` is the model that the
    router selects most often, with its share of the questions; ``asked`` counts the selected
    models. ``expected`` are the models with the highest and lowest expected accuracy, each with
    the number of others whose interval overlaps with its own.
    """

    title: str
    questions: int
    models: int
    answers: int
    known: str
    added: int
    forecast: ForecastFinding | None
    route: RouteFinding | None
    expected: tuple[tuple[str, wording.Cell, int], ...]
    asked: int
    most_asked: tuple[str, str] | None
    predict: PredictFinding | None
    map: MapFinding | None


def fleet_headline(comparison: FleetResult, findings: FleetFindings) -> FleetHeadline:
    """The first section of the report on a fleet."""
    cells = findings.questions * findings.models
    job = comparison.manifest.job.replace("-", " ", 1)
    return FleetHeadline(
        title=f"SCoPE {job}: {findings.models:,} models",
        questions=findings.questions,
        models=findings.models,
        answers=findings.answers,
        known=wording.percent(findings.answers / cells) if cells else "0.0",
        added=sum(model.added for model in findings.members),
        forecast=_forecast(findings),
        route=_route(findings),
        expected=_expected(findings),
        asked=len(findings.mix),
        most_asked=_most_asked(findings),
        predict=_predict(findings.predictions),
        map=_map(findings),
    )


def _forecast(findings: FleetFindings) -> ForecastFinding | None:
    used = in_use(findings.scores)
    if used is None:
        return None
    mean = of_mean(findings.scores)
    compared = mean is not None and mean is not used
    return ForecastFinding(
        forecaster=used.forecaster,
        accuracy=wording.share_cell(used.accuracy),
        mean=wording.share_cell(mean.accuracy) if mean is not None and compared else None,
        gain=None if used.gain is None else wording.points_cell(used.gain),
        beyond=beyond_chance(used.gain),
    )


def _route(findings: FleetFindings) -> RouteFinding | None:
    every = {one.router: one for one in findings.routers if one.category is None}
    if ROUTER not in every:
        return None
    single: RouterScore | None = every.get(SINGLE)
    gain = None if single is None else single.gain
    return RouteFinding(
        accuracy=wording.share_cell(every[ROUTER].accuracy),
        single=None if single is None else single.model,
        single_accuracy=None if single is None else wording.share_cell(single.accuracy),
        gain=None if gain is None else wording.points_cell(gain),
        beyond=_worth(every),
        costs=_costs(every[ROUTER], single),
        others=tuple(
            (name, wording.share_cell(one.accuracy))
            for name, one in every.items()
            if name not in {ROUTER, SINGLE}
        ),
    )


def _worth(every: Mapping[str, RouterScore]) -> str | None:
    over_single, over_mix = (
        beyond_chance(every[name].gain if name in every else None) for name in (SINGLE, SAME_MIX)
    )
    if over_single != "more":
        return over_single
    if over_mix != "more":
        return "mix"
    cost, of_single = every[ROUTER].cost, every[SINGLE].cost
    return "dearer" if cost is not None and of_single is not None and cost > of_single else "more"


def _costs(router: RouterScore, single: RouterScore | None) -> tuple[str, str] | None:
    """The cost per question of the router and of the single best model."""
    if single is None or router.cost is None or single.cost is None:
        return None
    return f"{router.cost:.4g}", f"{single.cost:.4g}"


def _most_asked(findings: FleetFindings) -> tuple[str, str] | None:
    if not findings.mix:
        return None
    first = max(findings.mix, key=lambda one: one.share)
    return first.model, wording.percent(first.share)


def _predict(predictions: tuple[BenchmarkPrediction, ...]) -> PredictFinding | None:
    if not predictions:
        return None
    ordered = sorted(_defined(predictions), key=lambda pair: -pair[1].value)
    ends = ordered if len(ordered) <= 1 else (ordered[0], ordered[-1])
    return PredictFinding(
        predicted=sum(
            one.splits > 0 and one.significant >= SIGNIFICANT_SHARE * one.splits
            for one in predictions
        ),
        benchmarks=len(predictions),
        share=f"{100 * SIGNIFICANT_SHARE:g}",
        ends=tuple((one.benchmark, wording.cell(tau, signed=True)) for one, tau in ends),
    )


def _defined(
    predictions: tuple[BenchmarkPrediction, ...],
) -> Iterator[tuple[BenchmarkPrediction, Estimate]]:
    for one in predictions:
        if isinstance(one.tau, Estimate):
            yield one, one.tau


def _map(findings: FleetFindings) -> MapFinding | None:
    if not findings.communities and not findings.contributions:
        return None
    tested = [one.p_adjusted for one in findings.communities if one.p_adjusted is not None]
    others = [
        one
        for one in findings.contributions
        if one.source != one.target and isinstance(one.value, Estimate)
    ]
    best = _best(others)
    helping = sum(beyond_chance(one.value) == "more" for one in others)
    return MapFinding(
        near=sum(value < 0.05 for value in tested),
        tested=len(tested),
        source=None if best is None else best.source,
        target=None if best is None else best.target,
        contribution=None if best is None else wording.points_cell(best.value),
        beyond=None if best is None else beyond_chance(best.value),
        helping=helping,
        by_chance=_as_many_by_chance(helping, len(others)) >= BY_CHANCE,
        contributions=len(others),
    )


def _as_many_by_chance(above: int, intervals: int) -> float:
    """The probability of at least so many 95 % intervals above 0 if no true value is.

    >>> round(_as_many_by_chance(1, 40), 2), round(_as_many_by_chance(4, 40), 2)
    (0.64, 0.02)
    """
    share = 0.025
    return sum(
        math.comb(intervals, number) * share**number * (1 - share) ** (intervals - number)
        for number in range(above, intervals + 1)
    )


def _best(contributions: Sequence[Contribution]) -> Contribution | None:
    """The largest contribution to another benchmark; significant ones take precedence."""
    return max(
        contributions,
        key=lambda one: (
            beyond_chance(one.value) == "more",
            one.value.value if isinstance(one.value, Estimate) else float("-inf"),
        ),
        default=None,
    )


def _expected(findings: FleetFindings) -> tuple[tuple[str, wording.Cell, int], ...]:
    """The models with the highest and the lowest expected accuracy."""
    defined = [
        (one.accuracy.value, one.model, one.accuracy)
        for one in findings.expected
        if isinstance(one.accuracy, Estimate)
    ]
    ordered = sorted(defined, key=lambda one: -one[0])
    ends = ordered if len(ordered) <= 1 else (ordered[0], ordered[-1])
    accuracies = [accuracy for _, _, accuracy in defined]
    return tuple(
        (model, wording.share_cell(accuracy), wording.count_rivals(accuracy, accuracies))
        for _, model, accuracy in ends
    )
