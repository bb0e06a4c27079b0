"""Verdicts of `scope reuse --controls-from ... --like-suspect` on models of known lineage.

The stored answers of 29 models to MMLU-Pro: every base and what was trained from it, both ways, and
30 pairs of two families, the same in every run, at an error rate of 0.05. Nothing but the table is
given: the command leaves out families by name, and near copies.

Keys of --json: the counts `mmlu_pro_related_called_DECISION` and
`mmlu_pro_unrelated_called_DECISION`, `mmlu_pro_verdicts` (one line for each related pair) and
`seconds_a_verdict`, the median.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from reuse_error_rates import ALPHA
from reuse_pairs import of_language_models
from reuse_power_answers import Judged, counted, lines, pairs_to_judge
from stored_answers import multiple_choice

import scope

UNRELATED = 30


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge the pairs of the data of ``arguments.data``."""
    models = multiple_choice(arguments.data).models
    asked = pairs_to_judge(of_language_models(models), UNRELATED)
    folder, judged, seconds = arguments.data / "mmlu_pro_models", [], []
    table = f"predictions:{folder}/responses.tsv.gz#"
    for truth, reference, suspect in asked:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as runs:
            (verdict,) = scope.reuse(
                suspect=f"{table}{models[suspect]}",
                references=f"{table}{models[reference]}",
                controls_from=f"{table}*",
                like_suspect=True,
                task="choice",
                data=str(folder / "items.jsonl.gz"),
                alpha=ALPHA,
                runs=Path(runs),
            ).verdicts
        seconds.append(time.perf_counter() - start)
        judged.append(Judged(truth, verdict))
    return {
        **counted("mmlu_pro", judged),
        "mmlu_pro_verdicts": "\n".join(lines(judged)),
        "seconds_a_verdict": round(statistics.median(seconds), 1),
    }
