"""The verdicts on stored answers at an error rate of 0.05: every pair of known lineage, both ways.

The controls are the models of other families than suspect and reference. Of unrelated pairs 100
are drawn, the same in every run. It is assumed that no suspect was trained on a reference's
answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from reuse_pairs import Lineage
from reuse_stored import Pool

from scope.jobs.preparation import soft_scope_metric
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.verdicts import conclude
from scope.records import Verdict

ALPHA = 0.05
UNRELATED = 100
"""So many unrelated pairs are judged."""


class Judged(NamedTuple):
    """One verdict, and whether the two are related in truth."""

    related: bool
    verdict: Verdict


def judge_pairs(pool: Pool, lineage: Lineage, families: Sequence[str]) -> list[Judged]:
    """The verdicts on all related pairs both ways, and on some unrelated ones."""
    related = lineage.pairs[lineage.related]
    unrelated = lineage.pairs[lineage.unrelated]
    drawn = np.random.default_rng(0).permutation(len(unrelated))[:UNRELATED]
    asked = [(True, *pair) for one, other in related for pair in ((one, other), (other, one))]
    asked += [(False, *pair) for pair in unrelated[drawn]]
    return [
        Judged(truth, _judge(pool, int(reference), int(suspect), families))
        for truth, reference, suspect in asked
    ]


def _judge(pool: Pool, reference: int, suspect: int, families: Sequence[str]) -> Verdict:
    kin = {families[reference], families[suspect]}
    controls = [place for place, family in enumerate(families) if family not in kin]
    rows = [reference, suspect, *controls]
    answers = replace(pool.answers, answers=pool.answers.answers[rows])
    case = Case(
        reference=pool.models[reference],
        suspect=pool.models[suspect],
        controls=tuple(pool.models[one] for one in controls),
        items=[
            CaseItem(id=str(one), unit=str(one), text="", gold="", reference="", suspect="")
            for one in range(len(answers.gold))
        ],
        answers=answers,
        hash="",
        queries=len(answers.gold),
    )
    finding = finding_of(case, alpha=ALPHA, soft_scope=soft_scope_metric(0.1, 1.0), seed=0)
    (verdict,) = conclude([finding], ALPHA, assume_no_label_training=True)
    return verdict


def counted(data: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """How often each decision is made on related and on unrelated pairs."""
    found: dict[str, Any] = {}
    for truth, name in ((True, "related"), (False, "unrelated")):
        decisions = Counter(one.verdict.decision for one in judged if one.related == truth)
        for decision in ("related", "not related", "undecided"):
            found[f"{data}_{name}_called_{decision.replace(' ', '_')}"] = decisions[decision]
    return found


def lines(judged: Sequence[Judged]) -> list[str]:
    """One line for each verdict on a related pair, and on each that is called related."""
    return [
        f"{one.verdict.decision:<12} {one.verdict.reference} -> {one.verdict.suspect}: "
        f"{_why(one.verdict)}"
        for one in judged
        if one.related or one.verdict.decision == "related"
    ]


def _why(verdict: Verdict) -> str:
    p = "" if verdict.p_value is None else f"p = {verdict.p_value:.3f}"
    return "; ".join([p, *verdict.reasons])
