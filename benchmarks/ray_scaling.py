"""How does a search scale over workers of Ray, and when is the driver the bottleneck?

Searches of *typo* (kept pairs, three trials) by workers that have started, as an audit has them
done, into a run on disk:

- with a simulated slow model, which sleeps for every text: 16 workers against 1;
- with the demo's reference, one thread each: 2 workers against 1, in turns;
- the driver's CPU time for an example, in which it sends, receives and stores: the marginal one,
  between 64 examples and 640. A worker's time for an example over the driver's is the number of
  workers that keep the driver busy.

Starting Ray and the workers, which import TextAttack, is not timed.

    python benchmarks/ray_scaling.py [--json]

Keys of --json: `sleeping_seconds_1`, `sleeping_seconds_16` (both for 640 examples; the first from
64), `sleeping_share` (of 16 times the speed; goal 0.9), `model_seconds_1`, `model_seconds_2`,
`model_share` (of twice; goal 0.8), `driver_ms` (CPU for an example), `driver_bound_sleeping`,
`driver_bound_model` (workers at which the driver is the bottleneck), `python`, `torch`, `ray`,
`processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from surroundings import surroundings

from capabilities.typo import Typo
from scope.data import load_data
from scope.demo_models.build import build_demo_models
from scope.jobs.on_workers import Helpers, database, helpers
from scope.jobs.perturbing import PairSearch
from scope.jobs.ray_connection import Engine
from scope.models import ModelOptions, load_classifier
from scope.models.cached import CachedClassifier
from scope.paths import cache_folder
from scope.progress import Silent, suitable_progress
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Prediction
from scope.store import Run

SECONDS_A_TEXT = 0.02
MANY = 16
EXAMPLES = 640
FEW = 64
EXAMPLES_OF_THE_MODEL = 160
TURNS = 2


class Sleeping:
    """A classifier that takes its time for every text and no processor."""

    spec = "python:ray_scaling:Sleeping"
    fingerprint = "sleeping"
    labels = ("negative", "positive")

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """An answer by the first letter."""
        time.sleep(SECONDS_A_TEXT * len(texts))
        shares = [0.9 - ord(text[:1] or "a") % 8 / 100 for text in texts]
        return [Prediction(probabilities=(1 - share, share)) for share in shares]


class Spent(NamedTuple):
    """Time on the wall, and this process's time on the processor."""

    wall: float
    cpu: float


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    # Workers find this module by its name.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    figures = measured() | surroundings("torch", "ray")
    if arguments.json:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:<24} {value}")


def measured() -> dict[str, Any]:
    """All figures but those of the surroundings."""
    loaded = load_data("demo:tweets", n=2 * EXAMPLES, seed=0)
    examples = [one for one in loaded.examples if 40 <= len(one.text) <= 140][:EXAMPLES]
    folder = build_demo_models(cache_folder() / "zoo", progress=suitable_progress()).reference
    model = partial(load_classifier, str(folder), ModelOptions(threads=1))
    with started(Sleeping, 1) as one:
        sleeping_1 = spent(one, examples[:: EXAMPLES // FEW]).wall * EXAMPLES / FEW
    with started(Sleeping, MANY) as many:
        few, all_ = spent(many, examples[:FEW]), spent(many, examples)
    some = examples[:EXAMPLES_OF_THE_MODEL]
    with started(model, 2) as two, started(model, 1) as one:
        turns = [(spent(one, some).wall, spent(two, some).wall) for _ in range(TURNS)]
    model_1, model_2 = map(sum, zip(*turns, strict=True))
    driver = (all_.cpu - few.cpu) / (EXAMPLES - FEW)
    return {
        "sleeping_seconds_1": round(sleeping_1, 1),
        "sleeping_seconds_16": round(all_.wall, 1),
        "sleeping_share": round(sleeping_1 / all_.wall / MANY, 3),
        "model_seconds_1": round(model_1 / TURNS, 1),
        "model_seconds_2": round(model_2 / TURNS, 1),
        "model_share": round(model_1 / model_2 / 2, 3),
        "driver_ms": round(1000 * driver, 2),
        "driver_bound_sleeping": round(sleeping_1 / EXAMPLES / driver),
        "driver_bound_model": round(model_1 / TURNS / EXAMPLES_OF_THE_MODEL / driver),
    }


@contextmanager
def started(load: Callable[[], Any], workers: int) -> Iterator[Helpers]:
    """Workers that have all loaded the model and searched."""
    with helpers(partial(warmed, load), Engine(None, workers)) as there:
        seen: set[int] = set()
        while len(seen) < workers:
            numbers = [(place,) for place in range(workers)]
            seen |= {process for _, process in there.pool.each(own_process, numbers)}
        yield there


def warmed(load: Callable[[], Any]) -> Classifier:
    """The model, after a search."""
    model: Classifier = load()
    search(model, [Example(id="warm", text="a rather long text", label=None)])
    return model


def own_process(model: Classifier, places: tuple[int, ...]) -> int:
    """The worker's process."""
    time.sleep(0.2)
    return os.getpid()


def spent(there: Helpers, examples: Sequence[Example]) -> Spent:
    """The time of the searches of these examples, into a new run."""
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        with Run.open(Path(folder) / "run", {"job": "benchmark"}) as run:
            there.fill(run, search, examples, Silent().task("searching", len(examples)))
        found = Spent(time.perf_counter() - wall, time.process_time() - cpu)
    print(there.count, "workers,", len(examples), "examples:", found, file=sys.stderr)
    return found


def search(model: Classifier, examples: Sequence[Example]) -> bytes:
    """On a worker: a database of the kept pairs of the examples."""

    def find(run: Run) -> None:
        PairSearch(
            capability=Typo(),
            reference=CachedClassifier(model, run),
            examples=examples,
            options=SearchOptions(),
            run=run,
            progress=Silent(),
            kept_as="typo",
            shown_as="typo",
        ).kept()

    return database(find)


if __name__ == "__main__":
    # What is pickled must have this module's name, not `__main__`, on the workers.
    import ray_scaling

    ray_scaling.main()
