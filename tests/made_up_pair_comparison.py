"""A small report on a pair of models, of audits in both directions, a comparison and a test."""

from __future__ import annotations

from dataclasses import replace

import made_up_comparison
import made_up_reuse_comparison
import made_up_tasks_comparison
from made_up_comparison import CLOCK, IMAGE, SCRIPT, TARGETS, estimate, prediction, records

from scope.records import (
    AuditResult,
    Endpoint,
    Measurement,
    ModelFacts,
    NotRun,
    PairResult,
    Replacement,
    TextsNeeded,
)
from scope.records.probe import LayerAlignment

PAIR = ("teacher", TARGETS[0])


def direction(target: str, reference: str, verdict: Replacement, role: str) -> AuditResult:
    """The made-up audit with these names; its third model has the role."""
    audit = made_up_comparison.build_comparison()
    names = {"teacher": reference, TARGETS[0]: target, TARGETS[1]: TARGETS[1]}
    first, second, third = audit.manifest.models
    cards = (first, second, replace(third, role=role, prompts={}))
    return replace(
        audit,
        manifest=replace(
            audit.manifest,
            models=tuple(replace(card, name=names[card.name]) for card in cards),
            capabilities=audit.manifest.capabilities[:2],
        ),
        measurements=tuple(replace(one, target=names[one.target]) for one in audit.measurements),
        answer_shares=tuple(
            replace(one, model=names[one.model], degenerate=None) for one in audit.answer_shares
        ),
        examples=(
            replace(audit.examples[0], targets=(prediction(0.25), prediction(0.75))),
            *audit.examples[1:],
        ),
        outcomes=audit.outcomes[:2],
        verdicts=(verdict,),
        differences=(),
        curves=(),
        clock=None,
    )


def build_comparison() -> PairResult:
    teacher, student = PAIR
    endpoints = (
        Endpoint(name="accuracy", estimate=estimate(-0.03125), limit=-0.02),
        Endpoint(name="agreement", estimate=estimate(0.0), limit=-0.05, p_within=0.001),
    )
    lower = replace(endpoints[0], estimate=estimate(-0.25), p_beyond=0.001)
    unproven = f"It is too early to say whether {student} may replace {teacher}: accuracy is open."
    beyond = f"{teacher} may not replace {student}: accuracy is beyond its limit."
    open_verdict, refused = records(
        Replacement,
        "target decision endpoints open beyond sentence if_equal",
        (student, "not shown", endpoints, ("accuracy",), (), unproven, TextsNeeded(unchanged=640)),
        (teacher, "may not", (lower, endpoints[1]), (), ("accuracy",), beyond, None),
    )
    audit = direction(student, teacher, open_verdict, "baseline")
    reuse = replace(made_up_reuse_comparison.build_comparison(), clock=None)
    models = tuple(replace(card, role="model") for card in audit.manifest.models[:2])
    similarity = Measurement(metric="capa", target=student, against=teacher, estimate=estimate(0.5))
    return PairResult(
        manifest=replace(
            audit.manifest, job="pair", models=models, command=f"scope pair a b --data '{SCRIPT}'"
        ),
        audits=(audit, direction(teacher, student, refused, "floor")),
        comparisons=(replace(made_up_tasks_comparison.build_comparison(), clock=None),),
        reuses=(reuse,),
        similarities=(similarity,),
        facts=records(
            ModelFacts,
            "model parameters stored dtype memory seconds timed reason",
            (teacher, 4_400_000, 17_600_000, "float32", 17_500_000, 0.0125, 200, None),
            (student, None, None, None, None, 0.5, 200, f"no file {IMAGE}"),
        ),
        alignments=(
            LayerAlignment(
                first=teacher,
                second=student,
                sentences=500,
                values=((0.875, 0.25), (0.5, 0.625)),
                margins=((0.0625, 0.125), (0.125, 0.0625)),
                chance=0.125,
            ),
        ),
        not_run=(NotRun(job="compare", part="cloze", reason=f"no model fills masks {SCRIPT}"),),
        clock=replace(CLOCK, seconds=61.5),
    )
