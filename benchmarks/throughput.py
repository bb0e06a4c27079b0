"""How many items a second do our adapters answer, against a plain loop over the same model?

The same items go through each adapter, and one by one through a loop over the same checkpoint by
the transformers library alone, which takes the same steps (`throughput_races.py`). Both run in this
process, in turn, in single precision, with as many threads as torch takes by itself.

    adapter               model                             items
    masked                BERT of MiniLM's size, random     clozes of 8 to 40 words
    sentinel              T5 of T5-small's size, random     the same
    causal_choice         SmolLM2-135M                      4 options of 1 to 8 words
    encoder               all-MiniLM-L6-v2                  answers of 1 to 10 words
    encoder_sentences     all-MiniLM-L6-v2                  sentences of 8 to 40 words

Random weights take as long as trained ones. Then lm-evaluation-harness scores the items of
causal_choice on the same checkpoint. Texts are made up, with fixed seeds.

    python benchmarks/throughput.py [--json] [--only NAME]... [--scale FACTOR]

Keys of --json: for each ADAPTER `ADAPTER_ratio` (our items/s over the loop's), `ADAPTER_ours` and
`ADAPTER_plain` (items/s; ours is the median of three runs), `ADAPTER_items`, `ADAPTER_same` (share
of equal answers); `harness_ratio` (our items/s over the harness's), `harness_agreement` (share of
equal choices), `harness_ours`, `harness_plain` (items/s, the harness's), `harness_items`,
`harness_batch_size`; `causal_model`, `python`, `torch`, `transformers`, `lm_eval`, `processor`,
`cores`, `threads`, and `load` (the machine's load average before and after).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from surroundings import command, show, surroundings
from throughput_harness import Harness
from throughput_races import ADAPTERS, Entrants, Race, causal_choice

from scope.models.torch_setup import load_torch

HARNESS = "harness"
RUNS = 3
WARM_UP = 4
"""Items that each sees first, outside the clock."""


def main() -> None:
    """Run everything and print a table, or JSON."""
    arguments = _arguments()
    load = [os.getloadavg()[0]]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        entrants = Entrants(Path(folder), arguments.scale)
        for name, prepare in ADAPTERS.items():
            if name in arguments.only:
                measured = run(name, prepare(entrants))
                figures |= {f"{name}_{key}": value for key, value in measured.items()}
        if HARNESS in arguments.only:
            measured = against_harness(entrants)
            figures |= {f"{HARNESS}_{key}": value for key, value in measured.items()}
        if {HARNESS, "causal_choice"} & set(arguments.only):
            figures["causal_model"] = entrants.causal[1]
    figures |= {
        **surroundings(
            "torch", "transformers", *(["lm_eval"] if HARNESS in arguments.only else [])
        ),
        "threads": load_torch().get_num_threads(),
        "load": [*load, os.getloadavg()[0]],
    }
    show(figures, as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = command(__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="times as many items")
    names = [*ADAPTERS, HARNESS]
    parser.add_argument("--only", action="append", choices=names, help="this one; repeatable")
    arguments = parser.parse_args()
    arguments.only = arguments.only or names
    return arguments


def run(name: str, race: Race) -> dict[str, float]:
    """Time both on the same items, ours before and after the loop; say how often they agree."""
    race.ours(race.items[:WARM_UP])
    first, answers = timed(name, race.ours, race.items)
    one_by_one, expected = timed(f"{name}, loop", loop(race), race.items)
    seconds = [first, *(timed(name, race.ours, race.items)[0] for _ in range(RUNS - 1))]
    ours = statistics.median(seconds)
    equal = [race.same(*both) for both in zip(answers, expected, strict=True)]
    return {
        "ratio": round(one_by_one / ours, 2),
        "ours": round(len(race.items) / ours, 1),
        "plain": round(len(race.items) / one_by_one, 1),
        "items": len(race.items),
        "same": round(statistics.mean(equal), 4),
    }


def loop(race: Race) -> Callable[[Sequence[Any]], list[Any]]:
    """The plain loop, warmed up."""
    for item in race.items[:WARM_UP]:
        race.plain(item)
    return lambda items: [race.plain(item) for item in items]


def against_harness(entrants: Entrants) -> dict[str, float]:
    """The race of causal_choice, with the harness in the loop's stead."""
    harness = Harness(entrants.causal[0])
    race = causal_choice(entrants)
    best = harness.settle_batch_size(race.items)
    race.ours(race.items[:WARM_UP])
    first, answers = timed("ours", race.ours, race.items)
    theirs, expected = timed("harness", harness.choose, race.items)
    last, _ = timed("ours", race.ours, race.items)
    ours = statistics.mean([first, last])
    return {
        "ratio": round(theirs / ours, 2),
        "agreement": round(statistics.mean(map(race.same, answers, expected)), 4),
        "ours": round(len(race.items) / ours, 1),
        "plain": round(len(race.items) / theirs, 1),
        "items": len(race.items),
        "batch_size": best,
    }


def timed(
    name: str, answer: Callable[[Sequence[Any]], Sequence[Any]], items: Sequence[Any]
) -> tuple[float, Sequence[Any]]:
    """Wall seconds for all items, and the answers."""
    start = time.perf_counter()
    answers = answer(items)
    seconds = time.perf_counter() - start
    print(f"{name}: {seconds:.1f} s for {len(items)} items", file=sys.stderr)
    return seconds, answers


if __name__ == "__main__":
    main()
