"""How far do a frozen language model's layers follow people's judgement of likeness in meaning?

    python benchmarks/probe.py [PART ...] [--data DIR] [--seeds N] [--json]

Parts, both by default: `steps`, FREEZE's steps on STS-B from `scope probe`, with GenericsKB for the
sentences without scores (`probe_steps.py`); `models`, SmolLM2 against Gemma 3 270M in one report.
What they keep is deleted afterwards, but for that report.

Keys of --json: `pearson_STEP` and `spearman_STEP` for the steps raw, mlp, siamese, autoencoder and
final, the mean over the seeds on the test pairs, with `_sd` over the seeds and `_least` of them.
Of the first seed's probe, with the 95 % interval over pairs as `_low` and `_high`: those two,
`pearson_STEP_gain` over the step before, `pearson_STEP_unseen` on the `unseen_pairs` of which no
sentence was learned from, and `error_STEP`, the mean absolute error. `train_pairs`, `test_pairs`;
`train_seconds` (one seed of all steps, scored, with the report) and `texts_read_again` (in that
second run, where all latents are kept). `models_pearson_NAME_STEP`,
`models_difference` with its interval, `models_cka_greatest`, `models_cka_chance`,
`models_seconds`. `seconds` in all, `seeds`, versions, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import probe_models
import probe_steps
from surroundings import surroundings

from scope.errors import ScopeError

PARTS = ("steps", "models")
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def main() -> None:
    """Measure, and print a table or JSON."""
    arguments = _arguments()
    began = time.perf_counter()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCOPE_CACHE"] = folder
        try:
            if "steps" in arguments.parts:
                figures |= probe_steps.figures(arguments.data, Path(folder), arguments.seeds)
            if "models" in arguments.parts:
                figures |= probe_models.figures(arguments.data, Path(folder))
        except ScopeError as error:
            sys.exit(str(error))
    figures |= {"seconds": time.perf_counter() - began, "seeds": arguments.seeds}
    figures |= surroundings("torch", "transformers", "numpy")
    print(json.dumps(figures) if arguments.json else "\n".join(_table(figures)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("SCOPE_BENCHMARK_DATA", BESIDE)),
        help="the folder with stsb and genericskb (default: SCOPE_BENCHMARK_DATA, else "
        "../shared/data beside the repository)",
    )
    parser.add_argument("--seeds", type=int, default=5, help="how many probes a step")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.parts) - set(PARTS)):
        parser.error(f"no part {unknown[0]}; parts are {', '.join(PARTS)}")
    arguments.parts = arguments.parts or PARTS
    return arguments


def _table(figures: dict[str, Any]) -> Iterator[str]:
    """The ladder as a table beside the published figures, and everything else a line each."""
    shown: set[str] = set()
    if "pearson_final" in figures:
        yield probe_steps.HEAD
        for step, published in probe_steps.PUBLISHED.items():
            yield probe_steps.line(figures, step, published)
        shown |= {key for key in figures if key.startswith(("pearson_", "spearman_"))}
    for key, value in figures.items():
        if key not in shown and not key.endswith(("_low", "_high")):
            told = f"{value:.4g}" if isinstance(value, float) else str(value)
            low, high = figures.get(f"{key}_low"), figures.get(f"{key}_high")
            yield f"{key:<28} {told}" + ("" if low is None else f" [{low:.4g}, {high:.4g}]")


if __name__ == "__main__":
    main()
