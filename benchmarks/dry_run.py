"""How near is `--dry-run` to what a run then takes?

Six jobs are first run dry and then for good, each in processes of its own with an empty cache: two
audits and a test of reuse on the demo's models and tweets, a comparison, a probe and a fleet on
tiny checkpoints with random weights.

    python benchmarks/dry_run.py [--json]

Keys of --json, for each job (`audit`, `typo`, `reuse`, `compare`, `probe`, `fleet`):
`JOB_expected_queries` and `JOB_queries` (distinct texts or questions that were asked),
`JOB_expected_seconds` and `JOB_seconds` (by the run's clock); `load` (the machine's, a minute's
mean, at the end); `python`, `torch`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldens_checkpoints import write_checkpoints
from goldens_world import make_world
from surroundings import surroundings

from scope.demo_models.build import build_demo_models
from scope.paths import cache_folder
from scope.progress import suitable_progress

SCOPE = Path(sys.executable).with_name("scope")
COMMANDS: Mapping[str, str] = {
    "audit": "audit --reference {zoo}/reference --target {zoo}/student --target {zoo}/independent"
    " --data demo:tweets --n 30",
    "typo": "audit --reference {zoo}/reference --target {zoo}/student --data demo:tweets --n 100"
    " --capability typo",
    "reuse": "reuse --suspect {zoo}/student --reference {zoo}/reference"
    " --control {zoo}/independent --control python:toys:Pupil1 --control python:toys:Pupil2"
    " --data demo:tweets --n 200 --perturbed 30",
    "compare": "compare --model ./reader --model ./causal --task extractive_qa --data passages.json"
    " --encoder ./sentences --max-answer-tokens 6",
    "probe": "probe --model {zoo}/reference --data pairs.csv --step raw",
    "fleet": "fleet embed --data train.csv --encoder ./encoder --forecaster factors --dimensions 4",
}


def main() -> None:
    """Play all jobs and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    zoo = build_demo_models(cache_folder() / "zoo", progress=suitable_progress()).reference.parent
    figures: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        found = played(command.format(zoo=zoo))
        figures |= {f"{name}_{key}": value for key, value in found.items()}
        if not arguments.json:
            print(
                f"{name:8} queries {found['queries']:6} expected {found['expected_queries']:6}"
                f"   seconds {found['seconds']:6.1f} expected {found['expected_seconds']:6.1f}",
                flush=True,
            )
    figures |= {"load": os.getloadavg()[0], **surroundings("torch")}
    if arguments.json:
        print(json.dumps(figures))


def played(command: str) -> dict[str, float]:
    """What a dry run expects of a command, and what the run takes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_world(folder)
        write_checkpoints(folder)
        expected = json.loads(_scope(f"{command} --dry-run --json", folder))
        seconds = json.loads(_scope(f"{command} --run it --json-full", folder))["clock"]["seconds"]
        return {
            # The vectors of SemScore are not kept, and cannot be counted.
            "expected_queries": sum(
                one["queries"] for one in expected["work"] if one["purpose"] != "SemScore"
            ),
            "queries": _asked(folder),
            "expected_seconds": expected["seconds"],
            "seconds": seconds,
        }


def _scope(command: str, folder: Path) -> str:
    """What the command prints; it has a cache of its own."""
    done = subprocess.run(
        [str(SCOPE), *shlex.split(command)],
        cwd=folder,
        env={**os.environ, "SCOPE_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _asked(folder: Path) -> int:
    """Distinct texts and questions that a run asked, and texts whose vectors it made."""
    asked: int
    with sqlite3.connect(folder / "runs/it/run.sqlite") as run:
        asked = run.execute("SELECT count(*) FROM answers").fetchone()[0]
    kept = json.loads(_scope("cache show --json", folder))["caches"]
    return asked + sum(int(one["entries"]) for one in kept if one["kind"] in ("latents", "vectors"))


if __name__ == "__main__":
    main()
