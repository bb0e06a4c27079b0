"""Verdicts of reuse from stored answers of language models of known lineage.

Multiple-choice answers to MMLU-Pro: a base and what was trained from it, both ways, and pairs of
two families, at an error rate of 0.05 (`reuse_stored_verdicts.py`).

Keys of --json: the counts `mmlu_pro_related_called_DECISION` and
`mmlu_pro_unrelated_called_DECISION`, `mmlu_pro_verdicts` (one line for each related pair) and
`seconds`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from reuse_pairs import family, of_language_models
from reuse_stored import multiple_choice
from reuse_stored_verdicts import counted, judge_pairs, lines


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
