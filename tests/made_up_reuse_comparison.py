"""A small test of reuse with everything a report must survive, built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from made_up_comparison import (
    ARABIC,
    CLOCK,
    CLOSING,
    IMAGE,
    LINK,
    SCRIPT,
    capability_card,
    file_card,
    interval,
    model_card,
    records,
)

from scope.jobs.reuse.verdicts import sentence_of
from scope.records import (
    ControlCheck,
    Decision,
    Derivative,
    Estimate,
    Evidence,
    InformativeItem,
    Manifest,
    Measurement,
    MistakeCount,
    ModelScore,
    Outcome,
    ReuseResult,
    Undefined,
    Verdict,
)

SUSPECT = f"suspect {SCRIPT}"
REFERENCES = ("ours", f"theirs {IMAGE}", f"old {ARABIC}")
CONTROLS = ("alone", f"far {CLOSING}", "near", "apart", f"{ARABIC} {LINK}")
ALPHA = 0.6
LONG = f"A long question {SCRIPT} {ARABIC} " * 30


def estimate(value: float, n: int = 40) -> Estimate:
    return interval(value, n, 0.125, f"bootstrap {IMAGE}")


def standings(values: Sequence[float]) -> tuple[ModelScore, ...]:
    return tuple(
        ModelScore(model=model, value=value)
        for model, value in zip(CONTROLS[: len(values)], values, strict=True)
    )


def evidence(values: Sequence[float]) -> tuple[Evidence, ...]:
    """Every kind of case: known and unknown, with a capability, shown beside, without a value."""
    controls = standings(values)
    none = Undefined(reason=f"no probabilities {LINK}", n=3)
    synonym = f"synonym {IMAGE}"
    return records(
        Evidence,
        "kind capability suspect controls decides",
        ("shared_mistakes", None, estimate(0.625), controls, True),
        ("soft_scope(tolerance=0.1, cutoff=1.0)", synonym, none, controls[:1], True),
        (f"invented {SCRIPT}", None, estimate(0.25), (), False),
        ("capa", None, estimate(-0.25), controls, False),
    )


def checks(count: int) -> tuple[ControlCheck, ...]:
    skills: tuple[Estimate | Undefined, ...] = (
        *(estimate(0.5 + place / 16) for place in range(count - 1)),
        Undefined(reason=f"answers nothing {IMAGE}"),
    )
    flags = ((), (f"far below the suspect’s skill {CLOSING}", "answers seldom"), (), (), (ARABIC,))
    shares = (1 - place / 8 for place in range(count))
    rows = zip(CONTROLS[:count], skills, shares, flags[:count], strict=True)
    return records(ControlCheck, "model skill given flags", *rows)


def items() -> tuple[InformativeItem, ...]:
    return records(
        InformativeItem,
        "id text gold reference suspect expected weight",
        ("q1", f"Which city {SCRIPT}?", "Denver", "Paris", "Paris", 0.0625, 2.75),
        (f'q2"{IMAGE}', ARABIC, None, LINK, f"red {CLOSING}", 0.5, -0.75),
        ("q3", LONG, LONG, LONG, LONG, 0.03125, 3.5),
        ("q4", "How many?", "four", "four", "four", 0.875, 0.125),
    )


def verdict(
    reference: str, decision: Decision, suspect: float, controls: Sequence[float]
) -> Verdict:
    """A verdict with all that belongs to it; the p-value follows from the joint statistic."""
    above = sum(value >= suspect for value in controls)
    pairs = (len(controls) + 2) * (len(controls) + 1) // 2
    p_value = (1 + above) / pairs
    return Verdict(
        suspect=SUSPECT,
        reference=reference,
        decision=decision,
        sentence="",
        alpha=ALPHA,
        p_value=p_value,
        p_rank=p_value,
        pairs=pairs,
        threshold=2.75,
        standings=(ModelScore(model=SUSPECT, value=suspect), *standings(controls)),
        evidence=evidence([value / 16 for value in controls]),
        controls=checks(len(controls)),
        controls_needed=4,
        skill=estimate(0.625),
        shared=1200,
        queries=1500,
        probes="abcdef0123456789" * 4,
    )


def related() -> Verdict:
    return replace(
        verdict(REFERENCES[0], "related", 6.5, (1.25, -0.5, 2.75, 0.25, 1.5)),
        p_adjusted=0.5,
        items=items(),
        mistakes=MistakeCount(n=640, same=0.375, expected=0.125),
        excluded=(f"cousin {SCRIPT}",),
        changes=(f"a control from the same base {IMAGE}",),
        warnings=(f"the control far is related to the reference itself {SCRIPT}", ARABIC),
    )


def not_related() -> Verdict:
    return replace(
        verdict(REFERENCES[1], "not related", 1.25, (1.25, -0.5, 2.75, 0.25, 1.5)),
        p_adjusted=1.0,
        derivatives=records(
            Derivative,
            "model same unlike counted",
            (f"tuned {SCRIPT}", 0.75, False, True),
            (f"{ARABIC} rounded", 0.99, False, False),
        ),
        derivatives_needed=1,
        p_derivative=0.5,
        reasons=(f"three controls are at least as alike {LINK}",),
    )


def undecided() -> Verdict:
    """Three controls cannot decide at this error rate."""
    return replace(
        verdict(REFERENCES[2], "undecided", 3.0, (1.0, 0.5, 2.0)),
        reasons=("there are 3 controls; 4 are needed",),
        changes=("1 more control",),
    )


def manifest() -> Manifest:
    return Manifest(
        job="reuse",
        models=(
            model_card(SUSPECT, "suspect"),
            *(model_card(name, "reference") for name in REFERENCES),
            *(model_card(name, "control") for name in CONTROLS),
        ),
        data=(file_card(f"file:questions{IMAGE}.json", 1500, 1200, labelled=1200),),
        capabilities=(capability_card("choice", f"Which option is right? {LINK}"),),
        settings={"seed": 7, "alpha": ALPHA},
        versions={"scope": "0.1.0"},
        command=f"scope reuse --suspect '{SCRIPT}' --reference hf:ours",
    )


def measurements() -> tuple[Measurement, ...]:
    return records(
        Measurement,
        "metric target against capability estimate",
        ("capa", SUSPECT, REFERENCES[0], "choice", estimate(0.75)),
        ("capa", CONTROLS[1], REFERENCES[0], "choice", Undefined(reason=f"none {IMAGE}")),
        ("accuracy", SUSPECT, "(gold)", "choice", estimate(0.5)),
        ("iid_agreement", SUSPECT, None, None, estimate(0.5)),
    )


def build_comparison() -> ReuseResult:
    return ReuseResult(
        manifest=manifest(),
        outcomes=records(
            Outcome,
            "capability status searched found failures",
            ("choice", "measured", 13500, 13499, {f"no answer {IMAGE}": 1}),
        ),
        measurements=measurements(),
        verdicts=tuple(
            replace(each, sentence=sentence_of(each))
            for each in (related(), not_related(), undecided())
        ),
        clock=CLOCK,
    )
