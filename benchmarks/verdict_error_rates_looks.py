"""How often is a verdict wrong after planned looks, and after two runs that are judged together?

    python benchmarks/verdict_error_rates_looks.py [--repetitions 20000] [--json]

Made-up differences by text, each -1, 0 or 1: of accuracy (margin .02, 5 % of 1,600 texts differ),
and of *keeps* (margin .05, 10 % of 400 differ). Ways of looking (`WAYS`): one look; four planned
ones; four at `ERROR` each, which is wrong; a first run of a quarter, half or nine tenths of the
texts and then all; the same after four looks at the first run; a first run whose texts the second
takes again with other changes, half of them; and both runs at `ERROR`, which is wrong.

Keys of --json: `WAY_ENDPOINT_within_1`, how often a false *may replace* is said of a target whose
difference lies at the margin, and `..._beyond_N`, a false *may not* with N such endpoints, after
Holm's correction. `..._power` and `..._texts`: how often a target exactly as good is within, and
how many texts that takes on average. `holds`: of ways that are not wrong, *within* errs at most
.03. *Beyond* errs up to .028 at one look at one endpoint, and up to .031 in two runs; with four
endpoints on 200 texts or fewer .036 and .040.
"""

from __future__ import annotations

import sys
from itertools import pairwise, product
from typing import Any

import numpy as np
from surroundings import command, show, surroundings

from scope.records import ERROR
from scope.statistics.intervals import Tails, effective, paired_tails
from scope.verdicts.decide import error_at, error_of_second

Way = list[tuple[float, float, float]]
"""Looks: the shares of the texts at which one begins and ends, and its error."""


def _then_all(share: float, first: Way, *, again: float = 0.0, error: float | None = None) -> Way:
    """A first run, then all texts; ``again`` is the share of its texts that count anew."""
    second = error or error_of_second(share * (1 - again) ** 2)
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
    counts = {0: np.zeros((3, *shape))}
    gain, loss = (differing + mean) / 2, (differing - mean) / 2
    for before, after in pairwise(ends):
        new = generator.multinomial(after - before, [gain, loss, 1 - differing], size=shape)
        counts[after] = counts[before] + np.moveaxis(new, -1, 0)
    rows = []
    for begin, end, error in way:
        gains, losses, same = counts[round(end * texts)] - counts[round(begin * texts)]
        seen = effective(gains, losses, gains + losses, gains + losses + same)
        rows.append([tail * ERROR / error for tail in paired_tails(seen, margin)])
    return Tails(*np.moveaxis(np.array(rows), 1, 0))


def figures(repetitions: int) -> dict[str, Any]:
    """All of the figures, and whether they hold."""
    generator = np.random.default_rng(0)
    rates: dict[str, float] = {}
    for way, (endpoint, (margin, _, texts)) in product(WAYS, ENDPOINTS.items()):
        for kind, tests in ("within", 1), ("beyond", 1), ("beyond", 4), ("beyond", 14):
            p = tails_at(generator, WAYS[way], endpoint, -margin, (tests, repetitions))
            wrong = getattr(p, kind).min(axis=1) * tests < ERROR
            rates[f"{way}_{endpoint}_{kind}_{tests}"] = float(wrong.any(axis=0).mean())
        p = tails_at(generator, WAYS[way], endpoint, 0.0, (1, repetitions))
        right = p.within[:, 0] < ERROR
        last = np.where(right.any(axis=0), right.argmax(axis=0), len(right) - 1)
        rates[f"{way}_{endpoint}_power"] = float(right.any(axis=0).mean())
        sizes = np.array([texts * (end - begin) for begin, end, _ in WAYS[way]])
        rates[f"{way}_{endpoint}_texts"] = float(sizes[last].mean())
    within = [rates[key] for key in rates if "_within_" in key and not key.startswith("wrong")]
    return {**rates, "holds": max(within) <= 0.03}


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where a figure does not hold."""
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=20_000, help="of each kind")
    arguments = parser.parse_args()
    result = figures(arguments.repetitions)
    show(result | surroundings("numpy", "scipy"), as_json=arguments.json)
    sys.exit(not result["holds"])


if __name__ == "__main__":
    main()
