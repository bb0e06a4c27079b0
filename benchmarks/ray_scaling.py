"""How does an audit scale over workers of Ray?

The models sleep for every text and take no processor. An audit of *typo* (one trial) runs in this
process and on workers. The time that models sleep, over that of the workers' whole run, is the
share of perfect scaling; the rest is the start of Ray, of the workers and of their imports, the
answers of the reference in this process, the merge and the report.

    python benchmarks/ray_scaling.py [--json] [--texts N] [--workers N]

Keys of --json: `texts`, `workers`, `seconds_1` (in this process), `seconds_workers`, `speedup`,
`python`, `torch`, `ray`, `processor`, `cores`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surroundings import command, show, surroundings

import scope

SECONDS_A_TEXT = 0.05


class Sleeping:
    """A classifier that takes its time for every text and no processor."""

    labels = ("negative", "positive")
    fingerprint = "sleeping"

    def classify(self, texts: Sequence[str]) -> list[tuple[float, float]]:
        """An answer by the number of characters."""
        time.sleep(SECONDS_A_TEXT * len(texts))
        shares = [0.1 + len(text) % 9 / 10 for text in texts]
        return [(1 - share, share) for share in shares]


class SleepingToo(Sleeping):
    """Another one."""

    fingerprint = "sleeping too"


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = command(__doc__)
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--workers", type=int, default=8)
    arguments = parser.parse_args()
    # Workers find this module by its name.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    figures = measured(arguments.texts, arguments.workers) | surroundings("torch", "ray")
    show(figures, as_json=arguments.json)


def measured(texts: int, workers: int) -> dict[str, Any]:
    """All figures but those of the surroundings."""
    here, there = seconds(texts), seconds(texts, engine="ray", workers=workers)
    return {
        "texts": texts,
        "workers": workers,
        "seconds_1": round(here, 1),
        "seconds_workers": round(there, 1),
        "speedup": round(here / there, 2),
    }


def seconds(texts: int, **options: Any) -> float:
    """The time of an audit."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        scope.audit(
            reference="python:ray_scaling:Sleeping",
            targets=["python:ray_scaling:SleepingToo"],
            capabilities=["typo"],
            data="demo:tweets",
            n=texts,
            n_unchanged=texts,
            trials=1,
            candidates=0,
            cache=False,
            runs=Path(folder),
            **options,
        )
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
