"""What does each capability find, and what does that cost?

Every capability that is in a group searches the same texts on the demo's reference, with its
student and its independent model as targets; each alone, for its time, then all in one audit for
the differences, which are corrected for multiple tests together (Holm). Nothing is chosen so that
a model wins.

    python benchmarks/each_capability.py [--data FILE] [--n 100] [--capability NAME ...] [--json]

Keys of --json, for each capability: `_searches` (texts and trials), `_found`, `_candidates`,
`_not_applicable`, `_queries` (of a search), `_seconds` (of its audit alone), and for each target
`_hard`, `_soft`, `_flip`, `_informedness`, `_concordance`: interval and n, or why there is none;
`differences` between the targets, with p-values; `python`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from surroundings import surroundings

import scope
from scope.demo_models.build import build_demo_models
from scope.paths import cache_folder
from scope.progress import Silent
from scope.records import AuditResult, Estimate, Measurement
from scope.registry import BUILT_IN, find

SHOWN = {"hard_scope": "hard", "soft_scope": "soft", "flip_scope": "flip"}


def main() -> None:
    """Audit with each capability, then with all, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default="demo:tweets")
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--capability", nargs="*", default=in_groups())
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.capability:
            began = time.perf_counter()
            result = audited([name], asked.data, asked.n, Path(folder))
            figures |= {f"{name}_{key}": one for key, one in counts(result).items()}
            figures[f"{name}_seconds"] = round(time.perf_counter() - began, 1)
            figures |= {f"{name}_{key}": one for key, one in numbers(result).items()}
            show(figures, name, as_json=asked.json)
        whole = audited(asked.capability, asked.data, asked.n, Path(folder))
    figures["differences"] = differences(whole)
    figures |= surroundings("textattack")
    if asked.json:
        print(json.dumps(figures))
        return
    for line in figures["differences"]:
        print(line)


def in_groups() -> list[str]:
    """The capabilities that need no model of the user's."""
    return [name for name in BUILT_IN["capabilities"] if find("capabilities", name).target.groups]


def audited(names: list[str], data: str, n: int, folder: Path) -> AuditResult:
    """The audit of the demo's models."""
    models = build_demo_models(cache_folder() / "zoo", progress=Silent())
    result: AuditResult = scope.audit(
        reference=str(models.reference),
        targets=[str(models.student), str(models.independent)],
        data=data,
        n=n,
        capabilities=names,
        runs=folder,
        progress=Silent(),
    )
    return result


def counts(result: AuditResult) -> dict[str, float]:
    """Searches and queries of an audit with one capability."""
    ((kept,), (drawn,)) = result.outcomes, result.candidate_outcomes
    return {
        "searches": kept.searched,
        "found": kept.found,
        "candidates": drawn.found,
        "not_applicable": sum(kept.not_applicable.values()),
        "queries": round(kept.queries / kept.searched, 1),
    }


def numbers(result: AuditResult) -> dict[str, str]:
    """The figures of each target."""
    return {
        f"{one.target}_{key}": written(one)
        for one in result.measurements
        if one.subset is None and one.capability is not None
        for key in [SHOWN.get(one.metric.partition("[")[0], one.metric.partition("[")[0])]
        if key in (*SHOWN.values(), "concordance", "informedness")
    }


def written(one: Measurement) -> str:
    """An estimate with its interval and n."""
    found = one.estimate
    return f"{found} n={found.n}" if isinstance(found, Estimate) else str(found)


def differences(result: AuditResult) -> list[str]:
    """A line for each difference between the targets."""
    return [
        f"{one.capability} {one.metric}: {one.first} - {one.second} = {one.estimate}"
        + (f", p {one.p_value:.4f}" if one.p_value is not None else "")
        + (f", Holm {one.p_adjusted:.4f}" if one.p_adjusted is not None else "")
        for one in result.differences
    ]


def show(figures: dict[str, Any], name: str, *, as_json: bool) -> None:
    """Print what is known of a capability."""
    if not as_json:
        for key, value in figures.items():
            if key.startswith(f"{name}_"):
                print(f"{key:<36} {value}", flush=True)


if __name__ == "__main__":
    main()
