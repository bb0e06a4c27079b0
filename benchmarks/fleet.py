"""What are compact vectors of many models worth, and what do they cost?

    python benchmarks/fleet.py [PART ...] [--data DIR] [--seeds N] [--workers N] [--json]

Parts, all by default: `forecasts` and routes on held-out questions, against each model's mean, KNN
and matrix factorization as published (`fleet_forecasts.py`); `predictions` of a benchmark left
out (`fleet_predictions.py`); `newcomers`, models without retraining (`fleet_newcomers.py`). Sets
are metabench and mmlu_pro.

Keys of --json, each a mean over the splits with `_low` and `_high`, the 95 % interval of Student's
t over the splits, which share questions, so that it is a guide only: `SET_mean`, `SET_knn`,
`SET_published`, `SET_ours` (accuracy of forecasts with 80 % of the questions to train on, and with
`_10`, `_20`, `_40` behind it with so many per cent); `SET_ours_vectors`, the same by the
questions' vectors alone; `SET_ours_over_mean`, `SET_ours_over_knn`, `SET_ours_over_published`
(paired differences) and those of `SET_ours_vectors`; `SET_route`, `SET_single_best`,
`SET_route_over_single_best` (how often the model asked is right), and `SET_CATEGORY_route` and
`SET_CATEGORY_single_best`. `predict_significant` of `predict_benchmarks` have 95 significant
splits or more of 100; `predict_BENCHMARK_significant`, `_tau`, `_mse`. `SET_added`,
`SET_retrained`, `SET_added_over_retrained`, `SET_added_ms` (median), `SET_added_ms_most`. `seconds`
in all, `seeds`, `python`, `numpy`, `scikit-learn`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import fleet_forecasts
import fleet_newcomers
import fleet_predictions
from fleet_sets import SETS, StoredSet, stored_set
from surroundings import command_of_parts, parsed, show, surroundings

from scope.errors import ScopeError
from scope.progress import suitable_progress

PARTS = ("forecasts", "predictions", "newcomers")


def main() -> None:
    """Measure, and print a table or JSON."""
    arguments = _arguments()
    began = time.perf_counter()
    # Before workers start: each multiplies matrices with one thread, whatever the machine has.
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        figures = _of_stored_answers(arguments)
    except ScopeError as error:
        sys.exit(str(error))
    figures |= {"seconds": time.perf_counter() - began, "seeds": arguments.seeds}
    figures |= surroundings("numpy", "scikit-learn")
    show(figures, as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = command_of_parts(__doc__, PARTS)
    parser.add_argument("--seeds", type=int, default=5, help="how many splits")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    return parsed(parser, PARTS)


def _of_stored_answers(arguments: argparse.Namespace) -> dict[str, Any]:
    stored = {name: stored_set(arguments.data, name, suitable_progress()) for name in SETS}
    figures: dict[str, Any] = {}
    with ProcessPoolExecutor(
        arguments.workers, get_context("spawn"), initializer=_hold, initargs=(stored,)
    ) as workers:
        if "forecasts" in arguments.parts:
            figures |= _forecasts(workers, stored, arguments.seeds)
        if "newcomers" in arguments.parts:
            for name in SETS:
                found = workers.map(partial(_newcomers, name), range(arguments.seeds))
                figures |= fleet_newcomers.figures(name, list(found))
    if "predictions" in arguments.parts:
        found_all = fleet_predictions.predictions(stored["metabench"])
        figures |= fleet_predictions.figures(found_all)
    return figures


_HELD: dict[str, StoredSet] = {}
"""A worker's own copy of the sets, which it gets once."""


def _hold(stored: dict[str, StoredSet]) -> None:
    _HELD.update(stored)


def _newcomers(name: str, seed: int) -> fleet_newcomers.Newcomers:
    return fleet_newcomers.newcomers(_HELD[name], seed)


def _scores(key: tuple[str, float, int]) -> fleet_forecasts.Scores:
    name, share, seed = key
    return fleet_forecasts.scores(_HELD[name], share, seed)


def _forecasts(
    workers: ProcessPoolExecutor, stored: dict[str, StoredSet], seeds: int
) -> dict[str, Any]:
    # What takes longest comes first, so that no worker is left with it at the end.
    shares = sorted(fleet_forecasts.SHARES, reverse=True)
    keys = [(name, share, seed) for share in shares for name in stored for seed in range(seeds)]
    results = {}
    with suitable_progress().task("forecasts", len(keys)) as advance:
        for key, scores in zip(keys, workers.map(_scores, keys), strict=True):
            results[key] = scores
            advance(1)
    figures = fleet_forecasts.figures(results)
    for name in SETS:
        figures |= fleet_forecasts.by_category(results, name)
    return figures


if __name__ == "__main__":
    main()
