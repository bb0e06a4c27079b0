"""How fast are logs of many models read, and in how much memory?

Logs of lm-evaluation-harness, each model's answers to the same questions of four options, are
written to a temporary folder and read as `scope logs` reads them.

    python benchmarks/evaluation_logs.py [--models 1000] [--items 5000] [--json]

Keys of --json: `models`, `items` (of each model), `gigabytes`, `items_a_second`, `peak_mb` (the
most memory of the process, libraries included); `python`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

from surroundings import show, surroundings

from scope.data.evaluation_logs import LogSpec, contents_of

OPTIONS = ("iron", "oak", "wool", "glass")


def main() -> None:
    """Write the logs, read them and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for place in range(arguments.models):
            write_log(Path(folder) / f"model-{place:04}", arguments.items, seed=place)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.jsonl"))
        began = time.perf_counter()
        (task,) = contents_of(LogSpec.parse("lm-eval", folder))
        seconds = time.perf_counter() - began
    if (len(task.models), task.shared) != (arguments.models, arguments.items):
        raise SystemExit(f"{len(task.models)} models with {task.shared} shared items were read")
    figures = {
        "models": len(task.models),
        "items": task.shared,
        "gigabytes": round(size / 1e9, 2),
        "items_a_second": round(arguments.models * arguments.items / seconds),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    show(figures | surroundings(), as_json=arguments.json)


def write_log(folder: Path, items: int, seed: int) -> None:
    """One model's samples and results, as the harness writes them."""
    generator = random.Random(seed)
    folder.mkdir()
    results = {
        "results": {"made": {}},
        "configs": {"made": {"task": "made", "output_type": "multiple_choice"}},
        "versions": {"made": 1.0},
        "n-shot": {"made": 0},
        "config": {"model": "hf", "model_args": f"pretrained={folder.name}"},
        "model_name": folder.name,
    }
    (folder / "results_2026-01-21T03-44-18.458309.json").write_text(json.dumps(results))
    with (folder / "samples_made_2026-01-21T03-44-18.458309.jsonl").open("w") as lines:
        for number in range(items):
            values = [round(-generator.expovariate(0.2), 4) for _ in OPTIONS]
            right = number % len(OPTIONS)
            sample = {
                "doc_id": number,
                "doc": {"question": f"Which is number {number}?", "choices": OPTIONS},
                "target": str(right),
                "arguments": {
                    f"gen_args_{place}": {"arg_0": f"Number {number}:", "arg_1": f" {option}"}
                    for place, option in enumerate(OPTIONS)
                },
                "filtered_resps": [[str(value), "False"] for value in values],
                "filter": "none",
                "acc": float(values.index(max(values)) == right),
                "doc_hash": f"{number:064x}",
                "prompt_hash": f"{number:064x}",
                "target_hash": f"{right:064x}",
            }
            lines.write(json.dumps(sample) + "\n")


if __name__ == "__main__":
    main()
