"""Verdicts of reuse from stored answers of language models of known lineage.

Multiple-choice answers to MMLU-Pro: a base and what was trained from it, both ways, and pairs of
two families, of which 100 are drawn, the same in every run. The error rate is 0.05, and the
controls are the models of other families than suspect and reference. It is assumed that no suspect
was trained on a reference's answers.

Keys of --json: the counts `mmlu_pro_related_called_DECISION` and
`mmlu_pro_unrelated_called_DECISION`, `mmlu_pro_verdicts` (one line for each related pair) and
`seconds`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from reuse_error_rates import case_of, verdict_on
from reuse_pairs import Lineage, family, of_language_models
from stored_answers import Pool, multiple_choice

from scope.records import Verdict

UNRELATED = 100
"""How many unrelated pairs are judged."""


class Judged(NamedTuple):
    """One verdict, and whether the two are related in truth."""

    related: bool
    verdict: Verdict


def judge_pairs(pool: Pool, lineage: Lineage, families: Sequence[str]) -> list[Judged]:
    """The verdicts on all related pairs both ways, and on some unrelated ones."""
    return [
        Judged(truth, _judge(pool, reference, suspect, families))
        for truth, reference, suspect in pairs_to_judge(lineage, UNRELATED)
    ]


def pairs_to_judge(lineage: Lineage, unrelated: int) -> list[tuple[bool, int, int]]:
    """Truth, reference and suspect: related pairs both ways, and this number of unrelated ones."""
    apart = lineage.pairs[lineage.unrelated]
    drawn = apart[np.random.default_rng(0).permutation(len(apart))[:unrelated]]
    related = lineage.pairs[lineage.related]
    both = [(True, *way) for pair in related.tolist() for way in (pair, pair[::-1])]
    return [*both, *((False, *pair) for pair in drawn.tolist())]


def _judge(pool: Pool, reference: int, suspect: int, families: Sequence[str]) -> Verdict:
    kin = {families[reference], families[suspect]}
    controls = [place for place, family in enumerate(families) if family not in kin]
    rows = [reference, suspect, *controls]
    answers = replace(pool.answers, answers=pool.answers.answers[rows])
    return verdict_on(case_of([pool.models[row] for row in rows], answers))


def counted(data: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """How often each decision is made on related and on unrelated pairs."""
    counts: dict[str, Any] = {}
    for truth, name in ((True, "related"), (False, "unrelated")):
        decisions = Counter(pair.verdict.decision for pair in judged if pair.related == truth)
        for decision in ("related", "not related", "undecided"):
            counts[f"{data}_{name}_called_{decision.replace(' ', '_')}"] = decisions[decision]
    return counts


def lines(judged: Sequence[Judged]) -> list[str]:
    """One line for each verdict on a related pair, and on each that is called related."""
    return [
        f"{pair.verdict.decision:<12} {pair.verdict.reference} -> {pair.verdict.suspect}: "
        f"{_why(pair.verdict)}"
        for pair in judged
        if pair.related or pair.verdict.decision == "related"
    ]


def _why(verdict: Verdict) -> str:
    p = "" if verdict.p_value is None else f"p = {verdict.p_value:.3f}"
    return "; ".join([p, *verdict.reasons])


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge the pairs of the data of ``arguments.data``."""
    start = time.perf_counter()
    pool = multiple_choice(arguments.data)
    families = [family(model) for model in pool.models]
    judged = judge_pairs(pool, of_language_models(pool.models), families)
    return {
        **counted("mmlu_pro", judged),
        "mmlu_pro_verdicts": "\n".join(lines(judged)),
        "seconds": round(time.perf_counter() - start, 1),
    }
