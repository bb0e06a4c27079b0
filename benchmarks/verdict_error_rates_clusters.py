"""How often is a verdict on texts in clusters wrong at its margin, and does its interval cover?

    python benchmarks/verdict_error_rates_clusters.py [--repetitions 4000] [--json]

A cluster, such as a document, has its own probabilities of a gain, a loss and neither, from a
Dirichlet distribution: its texts are correlated by .1, .3 or .7, and the mean lies at the margin,
.02 or .05 (`WORLDS`; *share* are same answers, *slope* is a normal mean, *equal* no difference at
all). There are 10 to 400 clusters of 5 or 20 texts, or of geometric sizes with these means. Keys of
--json: `WORLD_MARGIN_CLUSTERSxSIZE`, the greatest share of false *within* and *beyond* over the
correlations (of *equal*: the power), the least and greatest coverage, and that without clusters.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from surroundings import command, show, surroundings

from scope.records import ERROR, Estimate
from scope.statistics.intervals import (
    discordance,
    loss_tails,
    paired_tails,
    student_estimate,
    tango_statistic,
)

WORLDS = ("losses", "mixed", "busy", "quarters", "share", "slope", "equal")
CHANCES = {"mixed": 0.05, "busy": 0.15, "quarters": 0.2, "equal": 0.02}
SIZES = ((10, 5), (10, 20), (20, 5), (20, 20), (50, 5), (50, 20), (200, 5), (200, 20), (400, 5))
Numbers = NDArray[Any]


def differences(
    world: str,
    margin: float,
    sizes: Numbers,
    correlation: float,
    draws: np.random.Generator,
    n: int,
) -> Numbers:
    """Shape (n, texts), texts of a cluster beside each other."""
    if world == "slope":
        of_cluster = draws.standard_normal((n, len(sizes))) * correlation**0.5
        alone = draws.standard_normal((n, sizes.sum())) * (1 - correlation) ** 0.5
        return np.asarray(np.repeat(of_cluster, sizes, axis=1) + alone - margin)
    step, both = 0.25 if world == "quarters" else 1.0, CHANCES.get(world, 1e-9)
    lost = both + (margin / step if world != "equal" else 0)
    shape = np.array([lost, both, 1 - lost - both]) * (1 - correlation) / correlation
    chances = np.repeat(draws.dirichlet(shape, (n, len(sizes))), sizes, axis=1)
    place = draws.random((n, sizes.sum()))
    lose = place < chances[..., 0]
    return np.asarray(step * ((place > 1 - chances[..., 1]).astype(float) - lose))


def rates(world: str, margin: float, values: Numbers, sizes: Numbers) -> list[float]:
    """False *within*, false *beyond*, coverage, and coverage where clusters are ignored."""
    ids = [str(name) for name in np.repeat(np.arange(len(sizes)), sizes)]
    if world == "slope":
        means = [student_estimate(row, ids) for row in values[:1000]]
        ends = np.array([(each.low, each.high) for each in means if isinstance(each, Estimate)])
        below, above = ends[:, 1] < -margin, ends[:, 0] > -margin
        return [above.mean(), below.mean(), 1 - (above | below).mean(), np.nan]
    seen, true = discordance(values, ids), 0.0 if world == "equal" else -margin
    within, beyond = (loss_tails if world == "share" else paired_tails)(seen, margin)
    covers = abs(tango_statistic(seen, true)) <= seen.quantile(ERROR)
    if world == "share":
        covers = (within >= ERROR) & (beyond >= ERROR)
    alone = abs(tango_statistic(discordance(values), true)) <= discordance([0.0]).quantile(ERROR)
    return [float(np.mean(part)) for part in (within < ERROR, beyond < ERROR, covers, alone)]


def figures(repetitions: int) -> dict[str, str]:
    """The rates of each world, margin, and number and size of clusters."""
    draws, found = np.random.default_rng(0), {}
    for world, margin, (count, size) in (
        (w, m, s) for w in WORLDS for m in (0.02, 0.05) for s in SIZES
    ):
        rows = []
        for sizes in (np.full(count, size), np.minimum(draws.geometric(1 / size, count), 4 * size)):
            for correlation in (0.1, 0.3, 0.7):
                n = min(repetitions, 40_000_000 // (count * size * 4))
                values = differences(world, margin, sizes, correlation, draws, n)
                rows.append(rates(world, margin, values, sizes))
        within, beyond, covers, alone = np.array(rows).T
        found[f"{world}_{margin}_{count}x{size}"] = (
            f"within {within.max():.3f} beyond {beyond.max():.3f} covers {covers.min():.3f} to "
            f"{covers.max():.3f}, without clusters {alone.min():.3f}"
        )
    return found


if __name__ == "__main__":
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=4000, help="of each kind")
    arguments = parser.parse_args()
    show(figures(arguments.repetitions) | surroundings("numpy"), as_json=arguments.json)
