"""How much memory does a whole job take, from its data to the page?

`audit` searches made-up sentences for typos with one trial each, on a reference that counts words,
and asks a target about what it finds. `compare` compares the saved answers of two models to
questions with four options. Each is a process of its own.

    python benchmarks/audit_memory.py [--texts COUNT ...] [--questions COUNT ...] [--json]

Keys of --json, for each count: `audit_COUNT_mb` and `compare_COUNT_mb` (greatest resident memory of
the process, in MB), `..._seconds`, `..._result_mb` and `..._page_mb` (size of the result's JSON and
of the page); `python`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from surroundings import WORDS, command, show, surroundings

import scope
from scope.progress import Silent


def main() -> None:
    """Run every job in a process of its own, and print its figures."""
    parser = command(__doc__)
    parser.add_argument("--texts", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--questions", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--only", nargs=2, metavar=("JOB", "COUNT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measured(arguments.only[0], int(arguments.only[1]))))
        return
    figures: dict[str, object] = {}
    for job, counts in (("audit", arguments.texts), ("compare", arguments.questions)):
        for count in counts:
            found = alone(job, count)
            figures |= {f"{job}_{count}_{key}": value for key, value in found.items()}
    figures |= surroundings()
    show(figures, as_json=arguments.json)


def alone(job: str, count: int) -> dict[str, float]:
    """The figures of a job in a new process."""
    command = [sys.executable, __file__, "--only", job, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(job: str, count: int) -> dict[str, float]:
    """Do the job here; its peak is that of this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        found = {"audit": audit, "compare": compare}[job](count, folder)
        seconds = time.perf_counter() - began
        megabytes = {path.name: path.stat().st_size / 1e6 for path in found.iterdir()}
    return {
        "mb": peak_mb(),
        "seconds": round(seconds, 1),
        "result_mb": round(megabytes["result.json"], 1),
        "page_mb": round(megabytes["report.html"], 1),
    }


def peak_mb() -> float:
    """Greatest resident memory of this process so far.

    Unlike getrusage, the status does not count the memory of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(one for one in lines if one.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024, 1)


class Counts:
    """A classifier that counts letters: quick, and different for every weight."""

    labels = ("negative", "positive")

    def __init__(self, weight: int) -> None:
        self.spec, self.fingerprint = f"python:counts:{weight}", f"counts {weight}"
        self._weight = weight

    def __call__(self, texts: Sequence[str]) -> list[tuple[float, float]]:
        """The share of letters at even places, roughly."""
        found = []
        for text in texts:
            pull = sum(ord(letter) * (place % self._weight) for place, letter in enumerate(text))
            positive = (pull % 1000) / 1000
            found.append((1 - positive, positive))
        return found


def audit(count: int, folder: Path) -> Path:
    """The folder of the audit's run."""
    chance = random.Random(0)
    with (folder / "texts.csv").open("w", encoding="utf-8") as file:
        file.write("text\n")
        for number in range(count):
            file.write(f"{' '.join(chance.choices(WORDS, k=12))} {number}\n")
    result = scope.audit(
        reference=Counts(7),
        targets=[Counts(11)],
        data=folder / "texts.csv",
        capabilities=["typo"],
        trials=1,
        runs=folder,
        run="audit",
        cache=False,
        progress=Silent(),
    )
    return Path(str(result.folder))


def compare(count: int, folder: Path) -> Path:
    """The folder of the comparison's run."""
    chance = random.Random(0)
    with (
        (folder / "questions.jsonl").open("w", encoding="utf-8") as questions,
        (folder / "one.jsonl").open("w", encoding="utf-8") as one,
        (folder / "two.jsonl").open("w", encoding="utf-8") as two,
    ):
        for number in range(count):
            question = " ".join(chance.choices(WORDS, k=12))
            row = {
                "id": str(number),
                "question": f"{question} {number}?",
                "options": [f"{word} {place}" for place, word in enumerate(WORDS[:4])],
                "answer": chance.randrange(4),
            }
            questions.write(json.dumps(row) + "\n")
            for answers in (one, two):
                weights = [chance.random() for _ in range(4)]
                shares = [weight / sum(weights) for weight in weights]
                best = shares.index(max(shares))
                answer = {"id": str(number), "answer": best, "probabilities": shares}
                answers.write(json.dumps(answer) + "\n")
    result = scope.compare(
        models=[f"predictions:{folder / name}.jsonl" for name in ("one", "two")],
        tasks="choice",
        data=folder / "questions.jsonl",
        runs=folder,
        run="compare",
        progress=Silent(),
    )
    return Path(str(result.folder))


if __name__ == "__main__":
    main()
