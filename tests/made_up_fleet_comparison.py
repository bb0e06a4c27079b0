"""The results of the jobs on a fleet with everything a report must survive, built by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from made_up_comparison import ARABIC, CLOCK, CLOSING, IMAGE, LINK, SCRIPT, file_card, interval

from scope.records import (
    BenchmarkPoint,
    BenchmarkPrediction,
    CommunityDistance,
    Contribution,
    EmbedResult,
    Estimate,
    ExpectedAccuracy,
    FleetModel,
    FleetResult,
    ForecastResult,
    ForecastScore,
    Manifest,
    MapResult,
    Neighbour,
    PredictResult,
    ReliabilityBin,
    RouteResult,
    RouterScore,
    RouteShare,
    Undefined,
)

MODELS = ("alone", f"far {CLOSING}", f"near {IMAGE}", f"old {ARABIC}", "odd", f"late {SCRIPT}")
COMMUNITIES = ("7B", f"medical {IMAGE}")
CATEGORIES = ("logic", f"law {SCRIPT}", f"links {LINK}")
USED = f'factors(dimensions=20, encoder="{IMAGE}")'
KNN = "knn(neighbours=131)"


def estimate(value: float, n: int = 400, half: float = 0.03125) -> Estimate:
    return interval(value, n, half, f"bootstrap {IMAGE}")


def members() -> tuple[FleetModel, ...]:
    """Six models: two in a community each, one without an accuracy, one off the map, one added."""
    skills: tuple[Estimate | Undefined, ...] = (
        estimate(0.5),
        estimate(0.75, 1200),
        estimate(0.625),
        estimate(0.25),
        Undefined(reason=f"no answer is known {IMAGE}"),
        estimate(0.375, 200),
    )
    places = ((0.0, 0.0), (1.0, 0.5), (1.125, 0.5), (-2.0, 1.0), (0.5, -1.0), (None, None))
    communities = (COMMUNITIES[0], COMMUNITIES[1], COMMUNITIES[1], COMMUNITIES[0], None, None)
    return tuple(
        FleetModel(
            name=name,
            skill=skill,
            x=x,
            y=y,
            community=community,
            nearest=tuple(
                Neighbour(model=MODELS[(place + step) % 6], distance=step / 4)
                for step in ((1, 2, 3, 4) if place < 4 else ())
            ),
            added=place == 5,
        )
        for place, (name, skill, (x, y), community) in enumerate(
            zip(MODELS, skills, places, communities, strict=True)
        )
    )


def scores() -> tuple[ForecastScore, ...]:
    whole = (
        ForecastScore(forecaster="mean", accuracy=estimate(0.640625), brier=estimate(0.21875)),
        ForecastScore(
            forecaster=KNN,
            accuracy=estimate(0.671875),
            brier=Undefined(reason=f"no probabilities {LINK}"),
            gain=estimate(0.015625),
        ),
        ForecastScore(
            forecaster=USED,
            accuracy=estimate(0.703125),
            brier=estimate(0.1875),
            gain=estimate(0.0625),
            chosen=True,
        ),
    )
    found: tuple[Estimate | Undefined, ...] = (
        estimate(0.75),
        estimate(0.5),
        Undefined(reason=f"one question {IMAGE}", n=1),
    )
    parts = (
        replace(one, category=category, accuracy=accuracy)
        for category, accuracy in zip(CATEGORIES, found, strict=True)
        for one in (whole[0], whole[2])
    )
    return (*whole, *parts)


def expected() -> tuple[ExpectedAccuracy, ...]:
    accuracies = (estimate(0.75, 12), Undefined(reason=f"no question {LINK}"), estimate(0.25, 12))
    observed = (estimate(0.625, 9), Undefined(reason=f"no answer {IMAGE}"), estimate(0.25, 9))
    shifts = (estimate(-0.125, 9), Undefined(reason="no answer"), estimate(0.0, 12))
    return tuple(
        ExpectedAccuracy(model=model, accuracy=accuracy, observed=seen, shift=shift)
        for model, accuracy, seen, shift in zip(MODELS, accuracies, observed, shifts, strict=False)
    )


def reliability() -> tuple[ReliabilityBin, ...]:
    return (
        ReliabilityBin(low=0, high=0.25, predicted=0.125, observed=estimate(0.1875)),
        ReliabilityBin(low=0.25, high=0.5, predicted=0.375, observed=estimate(0.375)),
        ReliabilityBin(
            low=0.5, high=0.75, predicted=0.625, observed=Undefined(reason=f"empty {SCRIPT}")
        ),
        ReliabilityBin(low=0.75, high=1, predicted=0.875, observed=estimate(0.8125)),
    )


def routers() -> tuple[RouterScore, ...]:
    whole = (
        RouterScore(router="router", accuracy=estimate(0.71875), cost=0.125),
        RouterScore(
            router="single best",
            model=MODELS[1],
            accuracy=estimate(0.703125),
            cost=0.5,
            gain=estimate(0.015625, half=0.0078125),
        ),
        RouterScore(
            router="random with the same mix", accuracy=estimate(0.5), gain=estimate(0.21875)
        ),
        RouterScore(router="oracle", accuracy=estimate(0.9375), gain=estimate(-0.21875)),
    )
    parts = (replace(one, category=category) for category in CATEGORIES[:2] for one in whole)
    return (*whole, *parts)


def predictions() -> tuple[BenchmarkPrediction, ...]:
    points = tuple(
        BenchmarkPoint(model=model, predicted=place / 8, observed=place / 7)
        for place, model in enumerate(MODELS)
    )
    first = BenchmarkPrediction(
        benchmark=CATEGORIES[0],
        questions=1_200,
        models=6,
        tested=3,
        splits=100,
        significant=97,
        tau=estimate(0.625, 100),
        mse=estimate(0.03125, 100, half=0.0078125),
        points=points,
    )
    return (
        first,
        replace(
            first,
            benchmark=CATEGORIES[1],
            questions=40,
            significant=12,
            tau=estimate(0.125, 100),
            mse=estimate(0.125, 100),
            points=points[:3],
        ),
        BenchmarkPrediction(
            benchmark=CATEGORIES[2],
            questions=1,
            models=2,
            tested=0,
            splits=0,
            significant=0,
            tau=Undefined(reason=f"too few models {IMAGE}", n=2),
            mse=Undefined(reason="too few models", n=2),
        ),
    )


def contributions() -> tuple[Contribution, ...]:
    values: dict[tuple[int, int], Estimate | Undefined] = {
        (0, 1): estimate(0.046875),
        (1, 0): estimate(-0.0234375),
        (0, 2): estimate(0.0, half=0.0078125),
        (2, 0): Undefined(reason=f"one question {SCRIPT}"),
    }
    return tuple(
        Contribution(source=CATEGORIES[source], target=CATEGORIES[target], value=value)
        for (source, target), value in values.items()
    )


def communities() -> tuple[CommunityDistance, ...]:
    one, two = COMMUNITIES
    return (
        CommunityDistance(first=one, second=two, pairs=4, distance=estimate(2.5, 4)),
        CommunityDistance(
            first=one,
            second=one,
            pairs=1,
            distance=Undefined(reason=f"1 pair {LINK}"),
            p_value=0.5,
            p_adjusted=0.5,
        ),
        CommunityDistance(
            first=two,
            second=two,
            pairs=1,
            distance=estimate(0.125, 1),
            p_value=0.0004,
            p_adjusted=0.0008,
        ),
    )


def mix() -> tuple[RouteShare, ...]:
    return (RouteShare(model=MODELS[0], share=0.25), RouteShare(model=MODELS[1], share=0.75))


RECORDS: dict[str, type[FleetResult]] = {
    "fleet-embed": EmbedResult,
    "fleet-forecast": ForecastResult,
    "fleet-map": MapResult,
    "fleet-predict": PredictResult,
    "fleet-route": RouteResult,
}
"""The record of each job."""


def everything(job: str) -> dict[str, Any]:
    """All that a job can find, by field."""
    found = {
        "fleet": members(),
        "scores": scores(),
        "expected": expected(),
        "shift": estimate(-0.0625, 12),
        "reliability": reliability(),
        "routers": routers(),
        "mix": mix(),
        "predictions": predictions(),
        "contributions": contributions(),
        "communities": communities(),
    }
    of_job = {field.name for field in fields(RECORDS[job])}
    return {name: value for name, value in found.items() if name in of_job}


def build_comparison(job: str = "fleet-map", **changes: Any) -> FleetResult:
    """A run of a job that found everything it can find, but for the changes."""
    state = {
        "questions": 1_500,
        "models": 6,
        "answers": 8_100,
        "conflicts": 3,
        "forecaster": USED,
        "encoder": f"hf:encoder{IMAGE}",
        "notes": (f"answers given twice were decided by the majority {SCRIPT}", "one left out"),
        "files": ("embedder.safetensors", f"routes{IMAGE}.csv"),
        **everything(job),
        **changes,
    }
    return RECORDS[job](
        manifest=Manifest(
            job=job,
            models=(),
            data=(file_card(f"csv:answers{IMAGE}.csv", 1_500, 1_500, labelled=1_499),),
            capabilities=(),
            settings={"seed": 7, "folds": 5},
            versions={"scope": "0.1.0"},
            command=f"scope {job.replace('-', ' ')} --matrix 'csv:answers{IMAGE}.csv'",
        ),
        clock=CLOCK,
        **state,
    )


def bare(job: str, **parts: Any) -> FleetResult:
    """A run that found nothing but a matrix and these parts."""
    nothing: dict[str, Any] = dict.fromkeys((*everything(job), "notes", "files"), ())
    nothing |= {"shift": None} if "shift" in nothing else {}
    return build_comparison(job, **nothing | {"forecaster": "factors"} | parts)
