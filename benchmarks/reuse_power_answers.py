"""Reuse from stored answers: do shared mistakes tell related models from unrelated ones?

One procedure, `scope.evidence.shared_mistakes`, with nothing set for a data set: it sees what the
models of the pairs answered, and its U of each pair is compared with simpler measures on the same
pairs (`reuse_measures.py`, `reuse_pairs.py`, `reuse_discrimination.py`).

- MMLU-Pro, multiple choice: bases and what was trained from them, against pairs of two families.
- NLU, 0/1 correctness: checkpoints of one training run, against pairs of two encoders; the mean
  over the sets. `nlu_seeds` is the same with encoders that differ by their seed alone counted as
  unrelated, which `nlu` leaves out. `all_stored_` is what becomes of U when the procedure also sees
  the early checkpoints, which are in no pair and often far below the others in skill.

Keys of --json: each of `mmlu_pro_`, `nlu_` and `nlu_seeds_`, then nothing for shared mistakes or
what they are compared with (`agreement_`, `capa_`, `consensus_` and `overlap_`; for NLU
`all_stored_`, `error_consistency_` and `overlap_`), then `auroc`, `auroc_low`, `auroc_high`,
`tpr_at_fpr_01`, `tpr_at_fpr_01_low`, `tpr_at_fpr_01_high` (95 %, by bootstrap over models). Of all
three also `sets`, `items` (of all sets), `stored` (models that answered), `models` (of them in the
pairs), `related` and `unrelated` (pairs); `mmlu_pro_seconds` and `nlu_seconds` that shared mistakes
took, and `seconds` in all. Of MMLU-Pro also the verdicts at an error rate of 0.05
(`reuse_stored_verdicts.py`): `mmlu_pro_related_called_DECISION` and
`mmlu_pro_unrelated_called_DECISION` (counts), and `mmlu_pro_verdicts`, one line a related pair.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reuse_discrimination import discrimination
from reuse_measures import (
    Pairs,
    Values,
    above_consensus,
    consistency_of_errors,
    discrete_capa,
    mistakes_overlap,
    standing_out,
    standing_out_of_all,
    wrong_agreement,
)
from reuse_pairs import Lineage, family, of_checkpoints, of_language_models
from reuse_stored import Pool, multiple_choice, right_or_wrong
from reuse_stored_verdicts import counted, judge_pairs, lines

from scope.evidence.answers import AnswerMatrix

Measure = Callable[[AnswerMatrix, Pairs], Values]

OURS = ""
NAMES = {
    OURS: "shared mistakes (ours)",
    "all_stored_": "the same among all stored",
    "agreement_": "agreement on wrong answers",
    "capa_": "discrete CAPA",
    "consensus_": "agreement above consensus",
    "overlap_": "overlap of mistakes",
    "error_consistency_": "error consistency",
}
"""The measures as the keys and the table name them."""

AUROC, TRUE_POSITIVES = "auroc", "tpr_at_fpr_01"
RESTS_ON = ("sets", "items", "stored", "models", "related", "unrelated")

TITLES = {
    "mmlu_pro": "MMLU-Pro",
    "nlu": "NLU, mean over sets",
    "nlu_seeds": "NLU, other seeds unrelated",
}


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything on the data of ``arguments.data``."""
    start = time.perf_counter()
    found = {**of_mmlu_pro(arguments.data), **of_nlu(arguments.data)}
    found |= verdicts_on_mmlu_pro(arguments.data)
    return {**found, "seconds": round(time.perf_counter() - start, 1)}


def of_mmlu_pro(folder: Path) -> dict[str, Any]:
    """The figures of the multiple-choice answers."""
    pool = multiple_choice(folder)
    lineage = of_language_models(pool.models)
    families = [family(model) for model in pool.models]
    measures: dict[str, Measure] = {
        OURS: standing_out,
        "agreement_": wrong_agreement,
        "capa_": discrete_capa,
        "consensus_": partial(above_consensus, families=families),
        "overlap_": mistakes_overlap,
    }
    values, seconds = measured([pool], lineage.pairs, measures)
    return {**told_apart("mmlu_pro", [pool], lineage, values), "mmlu_pro_seconds": seconds}


def verdicts_on_mmlu_pro(folder: Path) -> dict[str, Any]:
    """What `scope reuse` would say of the pairs at an error rate of 0.05."""
    pool = multiple_choice(folder)
    families = [family(model) for model in pool.models]
    judged = judge_pairs(pool, of_language_models(pool.models), families)
    return {**counted("mmlu_pro", judged), "mmlu_pro_verdicts": "\n".join(lines(judged))}


def of_nlu(folder: Path) -> dict[str, Any]:
    """The figures of the sets of right and wrong answers, by either lineage."""
    pools = list(right_or_wrong(folder).values())
    every = of_checkpoints(pools[0].models, other_seeds_unrelated=True)
    measures: dict[str, Measure] = {
        OURS: standing_out,
        "all_stored_": standing_out_of_all,
        "error_consistency_": consistency_of_errors,
        "overlap_": mistakes_overlap,
    }
    values, seconds = measured(pools, every.pairs, measures)
    fewer = of_checkpoints(pools[0].models, other_seeds_unrelated=False)
    return {
        **told_apart("nlu", pools, fewer, values),
        **told_apart("nlu_seeds", pools, every, values),
        "nlu_seconds": seconds,
    }


def measured(
    pools: Sequence[Pool], pairs: Pairs, measures: Mapping[str, Measure]
) -> tuple[dict[str, Values], float]:
    """What each measure says of the pairs, shape (pools, pairs), and the seconds that ours took."""
    values, seconds = {}, {}
    for key, measure in measures.items():
        start = time.perf_counter()
        values[key] = np.array([measure(pool.answers, pairs) for pool in pools])
        seconds[key] = round(time.perf_counter() - start, 1)
    return values, seconds[OURS]


def told_apart(
    data: str, pools: Sequence[Pool], lineage: Lineage, values: Mapping[str, Values]
) -> dict[str, Any]:
    """The figures of all measures, and what they rest on."""
    found: dict[str, Any] = {}
    for key, sets in values.items():
        told = discrimination(sets, lineage)
        for rate, (value, low, high) in zip((AUROC, TRUE_POSITIVES), told, strict=True):
            name = f"{data}_{key}{rate}"
            found |= {name: round(value, 4)}
            found |= {f"{name}_low": round(low, 4), f"{name}_high": round(high, 4)}
    return {
        **found,
        f"{data}_related": int(lineage.related.sum()),
        f"{data}_unrelated": int(lineage.unrelated.sum()),
        f"{data}_stored": len(pools[0].models),
        f"{data}_models": len(np.unique(lineage.pairs)),
        f"{data}_items": sum(len(pool.answers.gold) for pool in pools),
        f"{data}_sets": len(pools),
    }


def table(figures: Mapping[str, Any]) -> str:
    """A line a measure, under what it was measured on."""
    lines = []
    for data, title in TITLES.items():
        rests_on = ", ".join(f"{one} {figures[f'{data}_{one}']:,}" for one in RESTS_ON)
        lines += [f"{title}: {rests_on}", f"  {'':<28}{'AUROC':<24}TPR at 1 % FPR"]
        for key, name in NAMES.items():
            if f"{data}_{key}{AUROC}" in figures:
                cells = (_cell(figures, f"{data}_{key}{rate}") for rate in (AUROC, TRUE_POSITIVES))
                lines.append(f"  {name:<28}{next(cells):<24}{next(cells)}")
    lines += ["MMLU-Pro, verdicts at 0.05:", figures["mmlu_pro_verdicts"]]
    lines += [f"  {key} {value}" for key, value in figures.items() if "_called_" in key]
    taken = (f"{key} {figures[key]}" for key in ("mmlu_pro_seconds", "nlu_seconds", "seconds"))
    return "\n".join([*lines, ", ".join(taken)])


def _cell(figures: Mapping[str, Any], key: str) -> str:
    return f"{figures[key]:.3f} [{figures[f'{key}_low']:.3f}, {figures[f'{key}_high']:.3f}]"
