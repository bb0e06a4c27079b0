"""What flips, base rate and ceiling show on the demo's models, and what they cost.

Audits the demo's student and independent model, with the reference trained with another seed as the
ceiling, with and without flipped pairs in turn, in one process and without a shared cache.

    python benchmarks/reference_points.py [--json] [--data SPEC] [--n N]

Keys of --json: for each capability and model `CAPABILITY_MODEL_METRIC` with `_low`, `_high` and
`_n`, of `hard_scope`, `soft_scope`, `flip_scope`, `informedness` and `base_rate`; for each pair of
models `CAPABILITY_FIRST_SECOND_informedness_difference` and `_p` (Holm-adjusted over the audit);
`queries` and `queries_without` (distinct texts that the reference answered), `queries_ratio`,
`seconds`, `seconds_without`, `seconds_ratio`; `python`, `torch`, `textattack`, `processor`,
`cores`.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from surroundings import surroundings

import scope
from scope.demo_models.build import DemoModels, build_demo_models
from scope.paths import cache_folder
from scope.progress import suitable_progress
from scope.records import AuditResult, Estimate

METRICS = ("hard_scope", "soft_scope", "flip_scope", "informedness", "base_rate")


def main() -> None:
    """Run both audits and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data", default="demo:tweets", help="a data spec, such as a .csv")
    parser.add_argument("--n", type=int, default=100, help="number of texts")
    arguments = parser.parse_args()
    models = build_demo_models(cache_folder() / "zoo", progress=suitable_progress())
    # The first audit pays for what the process imports and reads once.
    audited(models, arguments.data, 2, flips=True)
    _, without, few = audited(models, arguments.data, arguments.n, flips=False)
    found, seconds, queries = audited(models, arguments.data, arguments.n, flips=True)
    figures = {
        **dict(numbers(found)),
        **dict(differences(found)),
        "queries": queries,
        "queries_without": few,
        "queries_ratio": round(queries / few, 3),
        "seconds": round(seconds, 1),
        "seconds_without": round(without, 1),
        "seconds_ratio": round(seconds / without, 3),
        **surroundings("torch", "textattack"),
    }
    if arguments.json:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:<60} {value}")


def audited(
    models: DemoModels, data: str, n: int, *, flips: bool
) -> tuple[AuditResult, float, int]:
    """An audit from scratch, its seconds, and the texts that the reference answered."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        result = scope.audit(
            reference=str(models.reference),
            targets=[str(models.student), str(models.independent)],
            ceiling=str(models.another_seed),
            data=data,
            n=n,
            flips=flips,
            run="audit",
            runs=Path(folder),
            cache=False,
            progress=suitable_progress(),
        )
        seconds = time.monotonic() - began
        return result, seconds, answered(Path(folder) / "audit" / "run.sqlite", result)


def answered(path: Path, result: AuditResult) -> int:
    """How many texts a run holds answers of the reference to."""
    with closing(sqlite3.connect(path)) as database:
        found = database.execute(
            "SELECT count(*) FROM predictions JOIN models ON models.id = predictions.model "
            "WHERE models.fingerprint = ?",
            (result.manifest.reference.fingerprint,),
        )
        return int(found.fetchone()[0])


def numbers(result: AuditResult) -> list[tuple[str, float]]:
    """Every number with its interval and n, by its key."""
    found: list[tuple[str, float]] = []
    for one in result.measurements:
        head = one.metric.partition("(")[0]
        if one.subset is None and head in METRICS and isinstance(one.estimate, Estimate):
            key = f"{one.capability}_{one.target}_{head}"
            found += [
                (key, round(one.estimate.value, 3)),
                (f"{key}_low", round(one.estimate.low, 3)),
                (f"{key}_high", round(one.estimate.high, 3)),
                (f"{key}_n", one.estimate.n),
            ]
    return found


def differences(result: AuditResult) -> list[tuple[str, float]]:
    """The differences in informedness with their adjusted p-values."""
    found: list[tuple[str, float]] = []
    for one in result.differences:
        if one.metric == "informedness" and isinstance(one.estimate, Estimate):
            key = f"{one.capability}_{one.first}_{one.second}_informedness"
            found.append((f"{key}_difference", round(one.estimate.value, 3)))
            found.append((f"{key}_p", round(one.p_adjusted or 0.0, 4)))
    return found


if __name__ == "__main__":
    main()
