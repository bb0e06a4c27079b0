"""How often is a verdict wrong after planned looks, and after two runs that are judged together?

    python benchmarks/verdict_error_rates_looks.py [--repetitions 20000] [--json]

Made-up differences by text, each -1, 0 or 1: of accuracy (margin .02, 5 % of 1,600 texts differ),
and of *keeps* (margin .05, 10 % of 400 differ). Ways of looking (`WAYS`): one look; four planned
ones; four at `ERROR` each, which is wrong; a first run of a quarter, half or nine tenths of the
texts and then all; the same after four looks at the first run; a first run whose texts the second
takes again with other changes, half of them; and both runs at `ERROR`, which is wrong.

Keys of --json: `WAY_ENDPOINT_may_replace_targetsN` and `..._may_not_endpointsN`, rates of error
where the differences of all N lie at the margin, corrected by Holm; `..._power` and `..._texts`,
how often a target exactly as good is within, and how many texts that takes on average; `holds`:
errors of ways that are not wrong at most .03, within the 95 % error of the simulation.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from surroundings import command, show, surroundings

from scope.progress import suitable_progress
from scope.records import ERROR
from scope.statistics.intervals import wilson
from scope.statistics.margins import Tails, effective, paired_tails
from scope.verdicts import error_at, error_of_second

Numbers = NDArray[np.float64]
Way = list[tuple[float, float, float]]
"""Looks: the shares of the texts at which one begins and ends, and its error."""


def _then_all(share: float, first: Way, *, again: float = 0.0, error: float | None = None) -> Way:
    """A first run, then all texts; ``again`` is the share of its texts that count anew."""
    correlation = math.sqrt(share / (1 + again * share)) * (1 - again)
    second = error or error_of_second(correlation)
    looks = [(begin * share, end * share, alpha) for begin, end, alpha in first]
    return [*looks, (again * share, 1.0 + again * share, second)]


ONE: Way = [(0.0, 1.0, ERROR)]
FOUR: Way = [(0.0, look / 4, error_at(look, 4)) for look in (1, 2, 3, 4)]
WAYS: dict[str, Way] = {
    "one": ONE,
    "four": FOUR,
    "wrong_four": [(begin, end, ERROR) for begin, end, _ in FOUR],
    **{f"second_{share}": _then_all(share, ONE) for share in (0.25, 0.5, 0.9)},
    "second_0.5_after_four": _then_all(0.5, FOUR),
    "second_0.5_redrawn": _then_all(0.5, ONE, again=0.5),
    "wrong_second_0.5": _then_all(0.5, ONE, error=ERROR),
}
ENDPOINTS = {"accuracy": (0.02, 0.05, 1600), "keeps": (0.05, 0.1, 400)}


def tails_at(
    generator: np.random.Generator, way: Way, endpoint: str, mean: float, shape: tuple[int, int]
) -> Tails:
    """P-values at each look, times `ERROR` by its error; shape (looks, tests, repetitions)."""
    margin, differing, texts = ENDPOINTS[endpoint]
    ends = sorted({round(end * texts) for look in way for end in look[:2]} | {0})
    counts: dict[int, Numbers] = {0: np.zeros((3, *shape))}
    gain, loss = (differing + mean) / 2, (differing - mean) / 2
    for before, end in zip(ends, ends[1:], strict=False):
        new = generator.multinomial(end - before, [gain, loss, 1 - differing], size=shape)
        counts[end] = counts[before] + np.moveaxis(new, -1, 0)
    rows = []
    for begin, end, error in way:
        gains, losses, _ = both = counts[round(end * texts)] - counts[round(begin * texts)]
        seen = effective(gains, losses, gains + losses, both.sum(axis=0))
        rows.append([tail * ERROR / error for tail in paired_tails(seen, margin)])
    return Tails(*np.moveaxis(np.array(rows), 1, 0))


def figures(repetitions: int) -> dict[str, Any]:
    """All of the figures, and whether they hold."""
    began, generator, rates = time.monotonic(), np.random.default_rng(0), {}
    for way, endpoint in ((way, endpoint) for way in WAYS for endpoint in ENDPOINTS):
        key, margin = f"{way}_{endpoint}", ENDPOINTS[endpoint][0]
        for kind, name in enumerate(("may_replace_targets", "may_not_endpoints")):
            for tests in (1, 4, 14):
                shape = tests, repetitions
                p = tails_at(generator, WAYS[way], endpoint, -margin, shape)[kind]
                wrong = (p.min(axis=1) * tests < ERROR).any(axis=0)
                rates[f"{key}_{name}{tests}"] = float(wrong.mean())
        within = tails_at(generator, WAYS[way], endpoint, 0.0, (1, repetitions)).within[:, 0] < ERROR
        ends = np.array([end - begin for begin, end, _ in WAYS[way]])
        taken = np.where(within.any(axis=0), within.argmax(axis=0), len(ends) - 1)
        rates[f"{key}_power"] = float(within.any(axis=0).mean())
        rates[f"{key}_texts"] = float(ends[taken].mean() * ENDPOINTS[endpoint][2])
    errors = [rate for key, rate in rates.items() if "_may_" in key and "wrong" not in key]
    holds = all(wilson(rate, repetitions, 1.96)[0] <= 0.03 for rate in errors)
    seconds = round(time.monotonic() - began, 1)
    return {**rates, "greatest": max(errors), "holds": holds, "seconds": seconds}


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where a figure does not hold."""
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=20_000, help="of each kind")
    arguments = parser.parse_args()
    suitable_progress()
    result = figures(arguments.repetitions) | surroundings("numpy", "scipy")
    show(result, as_json=arguments.json)
    sys.exit(not result["holds"])


if __name__ == "__main__":
    main()
