"""The results of the jobs on a fleet with everything a report must survive, built by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from made_up_comparison import (
    ARABIC,
    CLOCK,
    CLOSING,
    IMAGE,
    LINK,
    SCRIPT,
    file_card,
    interval,
    records,
)

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
    no_skill = Undefined(reason=f"no answer is known {IMAGE}")
    near = [
        tuple(
            Neighbour(model=MODELS[(place + step) % 6], distance=step / 4) for step in (1, 2, 3, 4)
        )
        for place in range(4)
    ]
    small, medical = COMMUNITIES
    return records(
        FleetModel,
        "name skill x y community nearest added",
        (MODELS[0], estimate(0.5), 0.0, 0.0, small, near[0], False),
        (MODELS[1], estimate(0.75, 1200), 1.0, 0.5, medical, near[1], False),
        (MODELS[2], estimate(0.625), 1.125, 0.5, medical, near[2], False),
        (MODELS[3], estimate(0.25), -2.0, 1.0, small, near[3], False),
        (MODELS[4], no_skill, 0.5, -1.0, None, (), False),
        (MODELS[5], estimate(0.375, 200), None, None, None, (), True),
    )


def scores() -> tuple[ForecastScore, ...]:
    no_chances = Undefined(reason=f"no probabilities {LINK}")
    whole = records(
        ForecastScore,
        "forecaster accuracy brier gain chosen",
        ("mean", estimate(0.640625), estimate(0.21875), None, False),
        (KNN, estimate(0.671875), no_chances, estimate(0.015625), False),
        (USED, estimate(0.703125), estimate(0.1875), estimate(0.0625), True),
    )
    accuracies = (estimate(0.75), estimate(0.5), Undefined(reason=f"one question {IMAGE}", n=1))
    parts = (
        replace(score, category=category, accuracy=accuracy)
        for category, accuracy in zip(CATEGORIES, accuracies, strict=True)
        for score in (whole[0], whole[2])
    )
    return (*whole, *parts)


def expected() -> tuple[ExpectedAccuracy, ...]:
    unknown = (f"no question {LINK}", f"no answer {IMAGE}", "no answer")
    return records(
        ExpectedAccuracy,
        "model accuracy observed shift",
        (MODELS[0], estimate(0.75, 12), estimate(0.625, 9), estimate(-0.125, 9)),
        (MODELS[1], *(Undefined(reason=reason) for reason in unknown)),
        (MODELS[2], estimate(0.25, 12), estimate(0.25, 9), estimate(0.0, 12)),
    )


def reliability() -> tuple[ReliabilityBin, ...]:
    return records(
        ReliabilityBin,
        "low high predicted observed",
        (0, 0.25, 0.125, estimate(0.1875)),
        (0.25, 0.5, 0.375, estimate(0.375)),
        (0.5, 0.75, 0.625, Undefined(reason=f"empty {SCRIPT}")),
        (0.75, 1, 0.875, estimate(0.8125)),
    )


def routers() -> tuple[RouterScore, ...]:
    gain = estimate(0.015625, half=0.0078125)
    whole = records(
        RouterScore,
        "router model accuracy cost gain",
        ("router", None, estimate(0.71875), 0.125, None),
        ("single best", MODELS[1], estimate(0.703125), 0.5, gain),
        ("random with the same mix", None, estimate(0.5), None, estimate(0.21875)),
        ("oracle", None, estimate(0.9375), None, estimate(-0.21875)),
    )
    parts = (replace(score, category=category) for category in CATEGORIES[:2] for score in whole)
    return (*whole, *parts)


def predictions() -> tuple[BenchmarkPrediction, ...]:
    points = tuple(
        BenchmarkPoint(model=model, predicted=place / 8, observed=place / 7)
        for place, model in enumerate(MODELS)
    )
    good = (estimate(0.625, 100), estimate(0.03125, 100, half=0.0078125))
    few = (f"too few models {IMAGE}", "too few models")
    return records(
        BenchmarkPrediction,
        "benchmark questions models tested splits significant tau mse points",
        (CATEGORIES[0], 1_200, 6, 3, 100, 97, *good, points),
        (CATEGORIES[1], 40, 6, 3, 100, 12, *[estimate(0.125, 100)] * 2, points[:3]),
        (CATEGORIES[2], 1, 2, 0, 0, 0, *(Undefined(reason=reason, n=2) for reason in few), ()),
    )


def contributions() -> tuple[Contribution, ...]:
    logic, law, links = CATEGORIES
    return records(
        Contribution,
        "source target value",
        (logic, law, estimate(0.046875)),
        (law, logic, estimate(-0.0234375)),
        (logic, links, estimate(0.0, half=0.0078125)),
        (links, logic, Undefined(reason=f"one question {SCRIPT}")),
    )


def communities() -> tuple[CommunityDistance, ...]:
    small, medical = COMMUNITIES
    return records(
        CommunityDistance,
        "first second pairs distance p_value p_adjusted",
        (small, medical, 4, estimate(2.5, 4), None, None),
        (small, small, 1, Undefined(reason=f"1 pair {LINK}"), 0.5, 0.5),
        (medical, medical, 1, estimate(0.125, 1), 0.0004, 0.0008),
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
