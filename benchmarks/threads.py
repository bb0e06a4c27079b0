"""How long does the demo's audit take with one thread and with several, beside other processes?

Each audit runs in a process of its own and a new folder, the demo's three models on the same
tweets, and asks all models itself. The settings take turns, so that what else the machine does
falls on all alike: `all` lets every model compute with all cores, `one` with one thread, and
`default` leaves the number to SCoPE (decision 28). The other processes do nothing but count.
`--torch-first` imports torch before SCoPE, so that waiting threads spin.

    python benchmarks/threads.py [--json] [--n TEXTS] [--busy PROCESSES] [--rounds ROUNDS]
        [--torch-first]

Keys of --json: `all_seconds`, `one_seconds`, `default_seconds` and the same with
`_processor_seconds` (medians, loading included), `ratio` (all over default, wall time), `same`
(whether all results have the same estimates), `texts`, `busy`, `torch_first`, `load` (the
machine's, a minute's mean, at the end); `python`, `torch`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surroundings import surroundings

from scope.demo_models.build import build_demo_models
from scope.models.threads import available_cores
from scope.paths import cache_folder
from scope.progress import suitable_progress

AUDIT = """
import json, sys, time
import scope
from scope.models import ModelOptions
folder, n, threads, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
began = time.monotonic()
result = scope.audit(
    reference=f"{folder}/reference",
    targets=[f"{folder}/student", f"{folder}/independent"],
    data="demo:tweets",
    n=n,
    runs=runs,
    run="audit",
    cache=False,
    model_options=ModelOptions(threads=threads or None),
)
print(json.dumps({
    "seconds": time.monotonic() - began,
    "processor_seconds": time.process_time(),
    "estimates": result.to_frame().to_csv(),
}))
"""


def main() -> None:
    """Run the audits in turn and print a table, or JSON."""
    arguments = _arguments()
    folder = build_demo_models(cache_folder() / "zoo", progress=suitable_progress()).reference
    settings = {"all": available_cores(), "one": 1, "default": 0}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in settings}
    with counting(arguments.busy):
        for _ in range(arguments.rounds):
            for name, threads in settings.items():
                found[name].append(audit(folder.parent, arguments, threads))
    figures = {
        f"{name}_{key}": round(statistics.median(one[key] for one in runs), 2)
        for name, runs in found.items()
        for key in ("seconds", "processor_seconds")
    }
    figures["ratio"] = round(figures["all_seconds"] / figures["default_seconds"], 2)
    figures["same"] = len({one["estimates"] for runs in found.values() for one in runs}) == 1
    figures |= {"texts": arguments.n, "busy": arguments.busy}
    figures |= {"torch_first": arguments.torch_first, "load": os.getloadavg()[0]}
    figures |= surroundings("torch")
    if arguments.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{key:28} {value}" for key, value in figures.items()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--n", type=int, default=20, help="texts of each audit")
    parser.add_argument("--busy", type=int, default=0, help="other processes that compute")
    parser.add_argument("--rounds", type=int, default=3, help="audits of each setting")
    parser.add_argument("--torch-first", action="store_true", help="import torch before SCoPE")
    return parser.parse_args()


def audit(models: Path, arguments: argparse.Namespace, threads: int) -> dict[str, Any]:
    """One audit in a process of its own; 0 threads stands for the default."""
    code = f"import torch\n{AUDIT}" if arguments.torch_first else AUDIT
    with tempfile.TemporaryDirectory() as runs:
        done = subprocess.run(
            [sys.executable, "-c", code, str(models), str(arguments.n), str(threads), runs],
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def counting(processes: int) -> Iterator[None]:
    """So many processes that keep a core busy each."""
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


if __name__ == "__main__":
    main()
