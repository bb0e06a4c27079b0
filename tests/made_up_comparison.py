"""A small comparison with everything a report must survive, built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scope.estimation.audits import measure
from scope.estimation.pairs import ScoredCandidates
from scope.metrics import METRICS
from scope.records import (
    AnswerShares,
    AuditResult,
    CapabilityCard,
    Clock,
    Curve,
    DataCard,
    Difference,
    Endpoint,
    Estimate,
    Example,
    Manifest,
    Measurement,
    ModelCard,
    Outcome,
    Perturbation,
    Prediction,
    Replacement,
    ScoredExample,
    ScoredPerturbation,
    Undefined,
)

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=window.injected=1>'
CLOSING = "</script></style></title><script>window.injected=1</script>"
LINK = "javascript:window.injected=1"
ARABIC = "فيلم رائع جدا"
TARGETS = ("student", f"rival {SCRIPT}")
LABELS = ("negative", f"positive {IMAGE}")
SOFT = "soft_scope(tolerance=0.1, cutoff=1.0)"


def records(kind: type[Any], fields: str, *rows: Sequence[Any]) -> tuple[Any, ...]:
    """A record a row, with the values of the fields."""
    return tuple(kind(**dict(zip(fields.split(), row, strict=True))) for row in rows)


def interval(value: float, n: int, half: float, method: str) -> Estimate:
    """An estimate with as much on either side."""
    return Estimate(value=value, low=value - half, high=value + half, n=n, method=method)


def file_card(spec: str, rows: int, used: int, **more: Any) -> DataCard:
    return DataCard(spec=spec, fingerprint="fedcba9876543210" * 4, rows=rows, used=used, **more)


def capability_card(name: str, question: str, **settings: Any) -> CapabilityCard:
    return CapabilityCard(name=name, question=question, origin="built in", settings=settings)


CLOCK = Clock(finished="2026-11-21T10:00:00+00:00", seconds=12.25)


def failed(name: str) -> Outcome:
    return Outcome(
        capability=name,
        status="failed",
        reason=f"ValueError: {LINK}",
        trace=f"Traceback (most recent call last):\n  raise ValueError('{CLOSING}')",
    )


def estimate(value: float, n: int = 4) -> Estimate:
    low, high = max(value - 0.125, -1.0), min(value + 0.125, 1.0)
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def prediction(positive: float, *, truncated: bool = False) -> Prediction:
    return Prediction(probabilities=(1 - positive, positive), truncated=truncated)


TEXTS = {
    "e1": ("a fine film", LABELS[1]),
    "e2": (f"{SCRIPT} <i>dull</i> {LINK}", "negative"),
    "e3": (ARABIC, None),
    "e4": (f"naïve {CLOSING} wörds", "negative"),
}


def examples() -> tuple[ScoredExample, ...]:
    return tuple(
        ScoredExample(
            example=Example(id=id_, text=text, label=label),
            reference=prediction(0.75),
            targets=(prediction(0.75), prediction(0.75, truncated=id_ == "e4")),
        )
        for id_, (text, label) in TEXTS.items()
    )


def found(
    capability: str, id_: str, text: str, *positives: float, trial: int = 1
) -> ScoredPerturbation:
    reference, *targets = (prediction(positive) for positive in positives)
    return ScoredPerturbation(
        capability=capability,
        perturbation=Perturbation(example_id=id_, trial=trial, text=text, score=0.8, queries=9),
        reference=reference,
        targets=tuple(targets),
    )


def perturbations() -> tuple[ScoredPerturbation, ...]:
    return (
        found("synonym", "e1", "a good film", 0.75, 0.75, 0.75),
        found("synonym", "e1", "a fine movie", 0.75, 0.5625, 0.25, trial=2),
        found("synonym", "e2", f"{SCRIPT} <img/src=x> {LINK}", 0.625, 0.25, 0.125),
        found("typo", "e3", "فيلم رئاع جدا", 0.6875, 0.75, 0.4375),
        ScoredPerturbation(
            capability="typo",
            perturbation=Perturbation(
                example_id="e4", trial=1, failure=f"no admissible word {SCRIPT}", queries=3
            ),
        ),
        # The reference itself changes here, so no target can lose an invariance.
        found("typo", "e4", f"naïve {CLOSING} wödrs", 0.25, 0.25, 0.75, trial=2),
    )


def measurements() -> tuple[Measurement, ...]:
    none = Undefined(reason=f"nothing is labelled {IMAGE}")
    student, rival = TARGETS
    rows: list[Sequence[Any]] = [
        ("iid_agreement", student, None, None, estimate(1.0)),
        ("iid_agreement", rival, None, None, estimate(0.75)),
        ("iid_accuracy_gap", student, None, None, none),
        ("iid_accuracy_gap", rival, None, None, estimate(0.25, n=3)),
    ]
    for capability in ("synonym", "typo"):
        rows += [
            ("ood_agreement", student, capability, None, estimate(0.75)),
            ("ood_agreement", rival, capability, None, estimate(0.5)),
            ("hard_scope", student, capability, None, estimate(0.875)),
            ("hard_scope", rival, capability, None, estimate(0.5)),
            (SOFT, student, capability, None, estimate(0.8125)),
            (SOFT, rival, capability, None, estimate(0.25)),
            ("hard_scope", student, capability, f"label = {LABELS[1]}", estimate(0.625, n=1)),
            ("hard_scope", rival, capability, f"label = {LABELS[1]}", estimate(0.375, n=1)),
            ("hard_scope", student, capability, "reference confidence ≥ 0.95", none),
        ]
    return records(Measurement, "metric target capability subset estimate", *rows)


def differences() -> tuple[Difference, ...]:
    undefined = Undefined(reason="one side is undefined")
    return records(
        Difference,
        "metric first second capability estimate p_value p_adjusted",
        ("hard_scope", *TARGETS, "synonym", estimate(0.375), 0.0004, 0.0123),
        ("iid_accuracy_gap", *TARGETS, None, undefined, None, None),
    )


def curves() -> tuple[Curve, ...]:
    return tuple(
        Curve(
            metric="soft_scope(tolerance=0.1)",
            parameter="cutoff",
            target=target,
            capability=capability,
            points=tuple((cutoff, estimate(top * cutoff / 2)) for cutoff in (0.5, 1.0, 2.0)),
        )
        for capability in ("synonym", "typo")
        for target, top in zip(TARGETS, (0.875, 0.5), strict=True)
    )


def model_card(name: str, role: str, **more: Any) -> ModelCard:
    return ModelCard(
        name=name,
        role=role,
        spec=f"hf:models/{name}",
        fingerprint="0123456789abcdef" * 4,
        **more,
    )


def manifest() -> Manifest:
    def card(name: str, role: str, **more: Any) -> ModelCard:
        exact = "to the byte, at least 4 rows a product"
        return model_card(name, role, **{"labels": LABELS, "reproducible": exact, **more})

    asked = {
        "prompts": {"classify": f"{{text}} {SCRIPT}? {{labels}}"},
        "words": dict.fromkeys(LABELS, f"good {IMAGE}"),
    }
    return Manifest(
        job="audit",
        models=(
            card("teacher", "reference"),
            card(TARGETS[0], "target", **asked),
            card(TARGETS[1], "target", truncated=1, reproducible="to about 2e-06", **asked),
        ),
        data=(file_card(f"file{IMAGE}.csv", 1234, 4, duplicates=2, empty=1, labelled=3),),
        capabilities=(
            capability_card("synonym", "Does the label survive a synonym?", preset="paper"),
            capability_card("typo", "Does the label survive a typing error?", preset="paper"),
            capability_card("negation", f"Never measured {CLOSING}", preset="paper"),
        ),
        settings={"seed": 7, "trials": 2, "distance": "l1", "similarity": None, "cache": True},
        versions={"scope": "0.1.0", "torch": "2.13.0"},
        command=f"scope audit --reference hf:models/teacher --data '{SCRIPT}'",
    )


def outcomes() -> tuple[Outcome, ...]:
    measured = records(
        Outcome,
        "capability status searched found queries failures",
        ("synonym", "measured", 3, 3, 27, {}),
        ("typo", "measured", 3, 2, 21, {f"no admissible word {SCRIPT}": 1}),
    )
    return (*measured, failed("negation"))


def answer_shares() -> tuple[AnswerShares, ...]:
    """The rival says the same of all texts."""
    half = {LABELS[1]: 2, "negative": 2}
    dead = f"it answers `{LABELS[1]}` to 4 of 4 texts"
    return records(
        AnswerShares,
        "model counts accuracy degenerate",
        ("teacher", half, estimate(0.75), None),
        ("student", half, Undefined(reason=f"no {IMAGE}"), None),
        (TARGETS[1], {LABELS[1]: 4}, estimate(0.25), dead),
    )


def build_comparison() -> AuditResult:
    return AuditResult(
        manifest=manifest(),
        outcomes=outcomes(),
        measurements=measurements(),
        differences=differences(),
        curves=curves(),
        examples=examples(),
        perturbations=perturbations(),
        answer_shares=answer_shares(),
        clock=CLOCK,
    )


def with_reactions() -> AuditResult:
    """The comparison with random typos and the moves that they cause, measured, and verdicts."""
    audit = build_comparison()
    changed = tuple(
        found("typo", id_, f"{id_} {CLOSING} {trial}", *(0.7 - step * trial for step in steps))
        for id_ in ("e1", "e2", "e3")
        for trial, steps in enumerate(((0.1, 0.08, 0.0), (0.1, 0.05, 0.0), (0.2, 0.2, 0.0)), 1)
    )
    changed = tuple(
        replace(each, perturbation=replace(each.perturbation, trial=place))
        for place, each in enumerate(changed, 1)
    )
    numbers = measure(
        audit.examples,
        (),
        ScoredCandidates(scored=changed),
        capabilities=("typo",),
        targets=TARGETS,
        labels=LABELS,
        soft_scope=METRICS["soft_scope"],
        seed=0,
    )
    verdicts = tuple(
        Replacement(
            target=target,
            decision="not shown",
            endpoints=(
                Endpoint(name="concordance on typo", estimate=interval(-0.02, 3, 0.04, "Tango")),
                Endpoint(
                    name="reach on typo",
                    estimate=interval(value, 3, 0.125, "t"),
                    limit=0.7,
                    most=1.43,
                    p_within=within,
                ),
            ),
        )
        for target, value, within in zip(TARGETS, (0.9375, 0.5), (0.0, 1.0), strict=True)
    )
    return replace(audit, candidates=changed, measurements=numbers.measurements, verdicts=verdicts)
