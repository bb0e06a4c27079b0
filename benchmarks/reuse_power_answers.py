"""Verdicts of reuse from stored answers of language models of known lineage.

Multiple-choice answers to MMLU-Pro: a base and what was trained from it, both ways, and pairs of
two families, of which 100 are drawn, the same in every run. The error rate is 0.05. Controls are
models of other families than suspect and reference: 5, 8, 13 or 19 of them, drawn, or all; some
pairs have fewer than 19. Or those that `--controls-from` with `--like-suspect` chooses, which knows
nothing of families but the names.

Keys of --json: for each number N (or `all`, `chosen`) the counts
`mmlu_pro_N_related_called_DECISION` and `mmlu_pro_N_unrelated_called_DECISION`;
`mmlu_pro_verdicts` (one line for each related pair, with all controls) and `seconds`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from reuse_error_rates import case_of, hardly_agrees, verdict_on
from reuse_pairs import Lineage, family, of_language_models
from stored_answers import Pool, multiple_choice

from scope.jobs.reuse.judging import considered
from scope.jobs.reuse.request import USUAL_CONTROLS
from scope.records import Decision, Verdict

UNRELATED = 100
"""How many unrelated pairs are judged."""

CONTROLS = (5, 8, 13, 19)


class Judged(NamedTuple):
    """One verdict, and whether the two are related in truth.

    The verdict is None where agreement alone shows that it is not *related*: it is undecided.
    """

    related: bool
    verdict: Verdict | None

    @property
    def decision(self) -> Decision:
        """What the verdict is."""
        return self.verdict.decision if self.verdict else "undecided"


def pairs_to_judge(lineage: Lineage, unrelated: int) -> list[tuple[bool, int, int]]:
    """Truth, reference and suspect: related pairs both ways, and this number of unrelated ones."""
    apart = lineage.pairs[lineage.unrelated]
    drawn = apart[np.random.default_rng(0).permutation(len(apart))[:unrelated]]
    related = lineage.pairs[lineage.related]
    both = [(True, *way) for pair in related.tolist() for way in (pair, pair[::-1])]
    return [*both, *((False, *pair) for pair in drawn.tolist())]


def judge_pair(
    pool: Pool,
    reference: int,
    suspect: int,
    controls: Sequence[int],
    derivatives: Sequence[int] = (),
    *,
    in_full: bool = False,
) -> Verdict | None:
    """The verdict on models of a pool by their rows; None where it surely is undecided."""

    def answers(row: int) -> Any:
        return replace(pool.answers, answers=pool.answers.answers[[reference, row, *controls]])

    names = [pool.models[row] for row in (reference, suspect, *controls)]
    known = {pool.models[row]: answers(row) for row in derivatives}
    case = case_of(names, answers(suspect), known)
    return None if not (derivatives or in_full) and hardly_agrees(case) else verdict_on(case)


def chosen(pool: Pool, reference: int, suspect: int) -> list[int]:
    """The rows of the controls that `--controls-from` with `--like-suspect` chooses."""
    rows = [suspect, *(row for row in range(len(pool.models)) if row not in (reference, suspect))]
    names = [pool.models[row] for row in rows]
    answers = replace(pool.answers, answers=pool.answers.answers[rows])
    taken = [pool.models[suspect], pool.models[reference]]
    every = considered(answers, names, taken, 1, USUAL_CONTROLS)
    kept = {candidate.model for candidate in every if not candidate.left_out}
    return [row for row, name in zip(rows, names, strict=True) if name in kept]


def counted(data: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """How often each decision is made on related and on unrelated pairs."""
    counts: dict[str, Any] = {}
    for truth, name in ((True, "related"), (False, "unrelated")):
        decisions = Counter(pair.decision for pair in judged if pair.related == truth)
        for decision in ("related", "not related", "of neither kind", "undecided"):
            counts[f"{data}_{name}_called_{decision.replace(' ', '_')}"] = decisions[decision]
    return counts


def lines(judged: Sequence[Judged]) -> list[str]:
    """One line for each verdict on a related pair, and on each that is called related."""
    return [
        f"{pair.decision:<12} {pair.verdict.reference} -> {pair.verdict.suspect}: "
        f"{_why(pair.verdict)}"
        for pair in judged
        if pair.verdict and (pair.related or pair.decision == "related")
    ]


def _why(verdict: Verdict) -> str:
    p = "" if verdict.p_value is None else f"p = {verdict.p_value:.3f}"
    return "; ".join([p, *verdict.reasons])


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge the pairs of the data of ``arguments.data``."""
    start = time.perf_counter()
    pool = multiple_choice(arguments.data)
    families = [family(model) for model in pool.models]
    generator = np.random.default_rng(0)
    judged: dict[str, list[Judged]] = {}
    for truth, reference, suspect in pairs_to_judge(of_language_models(pool.models), UNRELATED):
        kin = {families[reference], families[suspect]}
        others = [place for place, each in enumerate(families) if each not in kin]
        order = generator.permutation(others).tolist()
        drawn = {str(number): order[:number] for number in CONTROLS if number <= len(order)}
        drawn |= {"all": order, "chosen": chosen(pool, reference, suspect)}
        for among, controls in drawn.items():
            in_full = truth and among == "all"
            verdict = judge_pair(pool, reference, suspect, controls, in_full=in_full)
            judged.setdefault(among, []).append(Judged(truth, verdict))
    counts: dict[str, Any] = {}
    for among, verdicts in judged.items():
        counts |= counted(f"mmlu_pro_{among}", verdicts)
    return {
        **counts,
        "mmlu_pro_verdicts": "\n".join(lines(judged["all"])),
        "seconds": round(time.perf_counter() - start, 1),
    }
