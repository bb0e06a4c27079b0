"""How does work scale over workers of Ray, and when is the driver the bottleneck?

Workers that have started do the steps of jobs, into a run on disk:

- the answers of a simulated slow model, which sleeps for every text: 16 workers against 1;
- searches of *typo* (kept pairs, three trials) on the demo's reference, one thread each: 2 workers
  against 1, in turns;
- the driver's CPU time for an example of these searches, in which it sends, receives and stores:
  the marginal one, between 32 examples and 160. A worker's time for an example over the driver's
  is the number of workers that keep the driver busy.

Starting Ray and the workers, which import TextAttack, is not timed.

    python benchmarks/ray_scaling.py [--json]

Keys of --json: `sleeping_seconds_1`, `sleeping_seconds_16` (both for 640 texts; the first from 64),
`sleeping_share` (of 16 times the speed; goal 0.9), `model_seconds_1`, `model_seconds_2` (for 160
examples), `model_share` (of twice; goal 0.8), `driver_ms` (CPU for an example), `driver_bound`
(workers at which the driver is the bottleneck), `python`, `torch`, `ray`, `processor`, `cores`.
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
from scope.jobs.workers import Step
from scope.models import ModelOptions, load_classifier
from scope.models.cached import CachedClassifier
from scope.paths import cache_folder
from scope.progress import Silent, suitable_progress
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Prediction
from scope.store import Run

SECONDS_A_TEXT = 0.5
MANY = 16
TEXTS, TEXTS_OF_ONE = 640, 64
EXAMPLES, FEW = 160, 32
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
    loaded = load_data("demo:tweets", n=2 * TEXTS, seed=0)
    examples = [one for one in loaded.examples if 40 <= len(one.text) <= 140][:TEXTS]
    with started(Sleeping, 1) as there:
        sleeping_1 = spent(there, answer, examples[:TEXTS_OF_ONE]).wall * TEXTS / TEXTS_OF_ONE
    with started(Sleeping, MANY) as there:
        sleeping_16 = spent(there, answer, examples).wall
    folder = build_demo_models(cache_folder() / "zoo", progress=suitable_progress()).reference
    load = partial(warmed, str(folder))
    some, few = examples[:EXAMPLES], examples[:FEW]
    with started(load, 2) as two, started(load, 1) as one:
        turns = [(spent(one, search, some), spent(two, search, some)) for _ in range(TURNS)]
        first = spent(two, search, few)
    model_1, model_2 = (sum(one.wall for one in each) / TURNS for each in zip(*turns, strict=True))
    driver = (sum(each[1].cpu for each in turns) / TURNS - first.cpu) / (EXAMPLES - FEW)
    return {
        "sleeping_seconds_1": round(sleeping_1, 1),
        "sleeping_seconds_16": round(sleeping_16, 1),
        "sleeping_share": round(sleeping_1 / sleeping_16 / MANY, 3),
        "model_seconds_1": round(model_1, 1),
        "model_seconds_2": round(model_2, 1),
        "model_share": round(model_1 / model_2 / 2, 3),
        "driver_ms": round(1000 * driver, 2),
        "driver_bound": round(model_1 / EXAMPLES / driver),
    }


@contextmanager
def started(load: Callable[[], Any], workers: int) -> Iterator[Helpers]:
    """Workers that have all loaded the model."""
    with helpers(load, Engine(None, workers)) as there:
        seen: set[int] = set()
        while len(seen) < workers:
            numbers = [(place,) for place in range(workers)]
            seen |= {process for _, process in there.pool.each(own_process, numbers)}
        yield there


def warmed(folder: str) -> Classifier:
    """The demo's reference, after a search."""
    model = load_classifier(folder, ModelOptions(threads=1))
    search(model, [Example(id="warm", text="a rather long text", label=None)])
    return model


def own_process(model: Any, places: tuple[int, ...]) -> int:
    """The worker's process."""
    time.sleep(0.2)
    return os.getpid()


def spent(there: Helpers, step: Step, examples: Sequence[Example]) -> Spent:
    """The time of a step on these examples, into a new run."""
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        with Run.open(Path(folder) / "run", {"job": "benchmark"}) as run:
            there.fill(run, step, examples, Silent().task("examples", len(examples)))
        found = Spent(time.perf_counter() - wall, time.process_time() - cpu)
    print(there.count, "workers,", len(examples), "examples:", found, file=sys.stderr)
    return found


def answer(model: Classifier, examples: Sequence[Example]) -> bytes:
    """On a worker: a database of the answers to the texts."""
    texts = [one.text for one in examples]
    return database(lambda run: CachedClassifier(model, run).classify(texts))


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
