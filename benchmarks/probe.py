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
`train_seconds` (one seed of all steps, scored, with the report, where all latents are kept).
`models_pearson_NAME_STEP`, `models_difference` with its interval, `models_cka_greatest`,
`models_cka_chance`, `models_seconds`. `seconds` in all, `seeds`, versions, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import probe_models
import probe_steps
from surroundings import command_of_parts, parsed, show, surroundings

from scope.errors import ScopeError

PARTS = ("steps", "models")


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
    show(figures, as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = command_of_parts(__doc__, PARTS)
    parser.add_argument("--seeds", type=int, default=5, help="how many probes a step")
    return parsed(parser, PARTS)


if __name__ == "__main__":
    main()
