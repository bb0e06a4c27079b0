"""Which copies of a model may replace it? Verdicts on models whose likeness is known.

The demo's reference is audited against copies with weights in 8 bits and in bfloat16, copies that
lack 30 to 90 % of their weights, the student, the independent model and a constant; with another
seed as the baseline, and without one. Asserted: pruned by 80 and 90 %, the independent model and
the constant never may replace.

    python benchmarks/verdicts.py [--n 100 300] [--capability NAME ...] [--json]

Keys of --json: for each n, `baseline` or `alone`, and model `N_WITH_MODEL` (the verdict) and
`N_WITH_MODEL_sentence`; `N_WITH_seconds`; `python`, `torch`, `processor`, `cores`. The first audit
also searches and answers; later ones reuse that.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from surroundings import surroundings

import scope
from scope.demo_models.bases import load_base, save_base
from scope.demo_models.build import build_demo_models, in_eight_bits, pruned
from scope.paths import cache_folder
from scope.progress import Silent
from scope.records import AuditResult

NEVER = ("pruned-80", "pruned-90", "independent", "constant")


def main() -> None:
    """Audit with and without a baseline, assert what is known and print the verdicts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", nargs="*", type=int, default=[100, 300], help="tweets to change")
    parser.add_argument("--capability", nargs="*", default=["synonym", "typo"])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    models = build_demo_models(cache_folder() / "zoo", progress=Silent())
    with tempfile.TemporaryDirectory() as folder:
        targets = [models.student, models.independent, *copies(models.reference, Path(folder))]
        for n in asked.n:
            for kind, baseline in (("baseline", str(models.another_seed)), ("alone", None)):
                began = time.monotonic()
                result: AuditResult = scope.audit(
                    reference=str(models.reference),
                    targets=[*map(str, targets), constant],
                    baseline=baseline,
                    data="demo:tweets",
                    capabilities=asked.capability,
                    n=n,
                    runs=Path(folder) / f"runs-{kind}",
                    progress=Silent(),
                )
                figures[f"{n}_{kind}_seconds"] = round(time.monotonic() - began)
                for verdict in result.verdicts:
                    name = verdict.target.rpartition("/")[2]
                    figures[f"{n}_{kind}_{name}"] = verdict.decision
                    figures[f"{n}_{kind}_{name}_sentence"] = verdict.sentence
    wrong = [key for key, one in figures.items() if one == "may replace" and key.endswith(NEVER)]
    assert not wrong, wrong
    figures |= surroundings("torch")
    if asked.json:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:<40} {value}")


def copies(reference: Path, folder: Path) -> list[Path]:
    """Folders of the reference's copies."""
    changes: dict[str, Callable[[Any], Any]] = {
        "eight-bits": in_eight_bits,
        "bfloat16": lambda model: model.bfloat16().float(),
        **{f"pruned-{lost}": partial(pruned, share=lost / 100) for lost in (30, 50, 60, 80, 90)},
    }
    for name, change in changes.items():
        base = load_base(reference)
        save_base(base._replace(model=change(base.model)), folder / name)
    return [folder / name for name in changes]


def constant(texts: Sequence[str]) -> list[list[float]]:
    """A model that calls everything negative."""
    return [[0.9, 0.1]] * len(texts)


constant.labels = ("negative", "positive")  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
