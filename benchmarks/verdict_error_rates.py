"""How often is a verdict wrong at its margin, and does the advised number of texts suffice?

    python benchmarks/verdict_error_rates.py [--repetitions 2000] [--json]

Made-up differences between a target and a baseline, with a known mean, in these ways (`WORLDS`):

- `losses`: the target is 1 worse on a share of texts, and the same on all others;
- `mixed`: on a tenth more it is 1 better or 1 worse; `mixed_02`: the same with a margin of .02;
- `quarters`: as `mixed`, a quarter at a time, on more texts;
- `rare_losses`: rarely 1 worse, often a quarter better or worse;
- `four_pairs`: both score four pairs a text, whose difficulty varies;
- `against_one`: the target's loss against the score 1, a quarter or a whole, by exact tails.

The true difference lies at the margin (.05 where no other stands in the name), at 20 to 400 texts
of which a quarter or all count, with one target and with five. A false *may replace* is one for
any target where all other endpoints are surely within; a false *may not* one for any target where
accuracy and agreement (margin .02, `mixed_02`) and two capabilities all lie at their margins.

Keys of --json: `WORLD_nN_yieldY_targetsT_may_replace` and `..._may_not` (rates of error), and the
greatest of either; `power_PLAN`, the share of targets that may replace at the advised
`rows_PLAN`; `holds`: errors at most .03 and powers at least .8, each within the 95 % error of its
simulation; `repetitions`, `seconds` and what they depend on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from surroundings import command, show, surroundings

from scope.progress import suitable_progress
from scope.protocols import Progress
from scope.records import ERROR, Endpoint, Replacement, Undefined
from scope.statistics.intervals import wilson
from scope.statistics.margins import (
    Discordance,
    Tails,
    discordance,
    loss_tails,
    paired_tails,
)
from scope.statistics.power import PlannedEndpoint, planned_from, texts_for_power, verdicts

REPETITIONS = 2000
SIZES = (20, 50, 200, 400)
YIELDS = (0.25, 1.0)
TARGETS = (1, 5)
MOST_ERROR, LEAST_POWER = 0.03, 0.8

Differences = NDArray[np.float64]
Shape = tuple[int, int]
World = Callable[[np.random.Generator, Shape, float], Differences]
"""Differences of the shape (repetitions, texts) with the mean minus the margin."""


def _one_of(values: Sequence[float], chances: Callable[[float], Sequence[float]]) -> World:
    def drawn(generator: np.random.Generator, shape: Shape, margin: float) -> Differences:
        steps = np.cumsum(chances(margin))
        return np.array([*values, 0.0])[np.searchsorted(steps, generator.random(shape))]

    return drawn


def _four_pairs(generator: np.random.Generator, shape: Shape, margin: float) -> Differences:
    chance = generator.beta(9, 1, size=shape)
    baseline = generator.binomial(4, chance)
    target = generator.binomial(4, chance * (1 - margin / 0.9))
    return np.asarray((target - baseline) / 4)


WORLDS: dict[str, tuple[float, World]] = {
    "losses": (0.05, _one_of([-1], lambda m: [m])),
    "mixed": (0.05, _one_of([-1, 1], lambda m: [0.05 + m, 0.05])),
    "mixed_02": (0.02, _one_of([-1, 1], lambda m: [0.05 + m, 0.05])),
    "quarters": (0.05, _one_of([-0.25, 0.25], lambda m: [0.2 + 4 * m, 0.2])),
    "rare_losses": (
        0.05,
        _one_of([-1, -0.25, 0.25], lambda m: [0.8 * m, 0.1 + 0.8 * m, 0.1]),
    ),
    "four_pairs": (0.05, _four_pairs),
    "against_one": (0.05, _one_of([-1, -0.25], lambda m: [m / 2, 2 * m])),
}
SURE = Endpoint(name="all others", estimate=Undefined(reason="made up"), limit=0.0, p_within=0.0)


def tails_of(world: str, generator: np.random.Generator, shape: Shape) -> Tails:
    """The p-values of each repetition."""
    margin, drawn = WORLDS[world]
    seen = discordance(drawn(generator, shape, margin))
    return (loss_tails if world == "against_one" else paired_tails)(seen, margin)


def verdicts_on(tails: Sequence[Sequence[Tails]], place: int) -> tuple[Replacement, ...]:
    """The verdicts of one repetition: a row of endpoints a target."""
    return verdicts(
        {
            str(target): [SURE, *(_endpoint(name, one, place) for name, one in enumerate(row))]
            for target, row in enumerate(tails)
        }
    )


def _endpoint(name: int, tails: Tails, place: int) -> Endpoint:
    return Endpoint(
        name=str(name),
        estimate=SURE.estimate,
        limit=0.0,
        p_within=float(tails.within[place]),
        p_beyond=float(tails.beyond[place]),
    )


def error_rate(
    decision: str,
    worlds: Sequence[str],
    texts: Sequence[int],
    targets: int,
    repetitions: int,
    generator: np.random.Generator,
) -> float:
    """How often any target gets this decision, with an endpoint of each world at its margin."""
    tails = [
        [
            tails_of(world, generator, (repetitions, n))
            for world, n in zip(worlds, texts, strict=True)
        ]
        for _ in range(targets)
    ]
    wrong = [
        any(one.decision == decision for one in verdicts_on(tails, place))
        for place in range(repetitions)
    ]
    return float(np.mean(wrong))


def errors(
    sizes: Sequence[int], repetitions: int, generator: np.random.Generator, progress: Progress
) -> dict[str, float]:
    """Both rates of error in each world."""
    found = {}
    with progress.task("errors", len(WORLDS) * len(sizes) * 4) as advance:
        for world in WORLDS:
            for n, share, targets in (
                (n, share, targets) for n in sizes for share in YIELDS for targets in TARGETS
            ):
                key, few = f"{world}_n{n}_yield{share:g}_targets{targets}", round(n * share)
                found[f"{key}_may_replace"] = error_rate(
                    "may replace", [world], [few], targets, repetitions, generator
                )
                all_at_margin = ["mixed_02", "mixed_02", world, world]
                found[f"{key}_may_not"] = error_rate(
                    "may not", all_at_margin, [n, n, few, few], targets, repetitions, generator
                )
                advance()
    return found


def plans() -> dict[str, tuple[list[PlannedEndpoint], int]]:
    """Plans by name, with the number of targets."""

    def plan(share: float, discordant: float | None) -> list[PlannedEndpoint]:
        unchanged = [
            PlannedEndpoint(name=name, margin=0.02, discordance=discordant)
            for name in ("accuracy", "agreement")
        ]
        changed = [
            PlannedEndpoint(name=name, margin=0.05, share=share, discordance=discordant)
            for name in ("typo", "synonym")
        ]
        return [*unchanged, *changed]

    against = PlannedEndpoint(name="typo", margin=0.05, share=0.5, against_one=True)
    return {
        "made_up": (plan(1.0, None), 1),
        "made_up_quarter": (plan(0.25, None), 1),
        "made_up_quarter_five": (plan(0.25, None), 5),
        "discordant": (plan(0.25, 0.03), 1),
        "discordant_five": (plan(1.0, 0.03), 5),
        "capability": ([plan(0.25, 0.1)[2]], 1),
        "against_one": ([against], 1),
    }


def power_at(
    plan: Sequence[PlannedEndpoint],
    targets: int,
    rows: int,
    repetitions: int,
    generator: np.random.Generator,
) -> float:
    """The share of targets that may replace, where all is as planned and yields vary."""
    tails = []
    for _ in range(targets):
        row = []
        for one in plan:
            n = np.maximum(generator.binomial(rows, one.share, size=repetitions), 1)
            some = 2 / (rows * one.share) if one.discordance is None else one.discordance
            losses = generator.binomial(n, some / 2).astype(float)
            gains = generator.binomial(n, 0 if one.against_one else some / 2).astype(float)
            seen = Discordance(gains, losses, n.astype(float))
            row.append((loss_tails if one.against_one else paired_tails)(seen, one.margin))
        tails.append(row)
    shown = [
        one.decision == "may replace"
        for place in range(repetitions)
        for one in verdicts_on(tails, place)
    ]
    return float(np.mean(shown))


def powers(repetitions: int, generator: np.random.Generator) -> dict[str, float]:
    """Advised rows and the power they have, of each plan and of one made from a pilot."""
    found: dict[str, float] = {}
    for name, (plan, targets) in plans().items():
        rows = texts_for_power(plan, targets=targets)
        assert rows is not None
        found[f"rows_{name}"] = rows
        found[f"power_{name}"] = power_at(plan, targets, rows, repetitions, generator)
    pilot = _four_pairs(generator, (1, 100), 0.0)[0]
    ids = [str(text) for text in range(len(pilot))]
    planned = planned_from("any", pilot, 0 * pilot, ids, margin=0.05, rows=len(pilot))
    rows = texts_for_power([planned])
    assert rows is not None
    seen = discordance(_four_pairs(generator, (repetitions, rows), 0.0))
    found["rows_four_pairs"] = rows
    found["power_four_pairs"] = float((paired_tails(seen, 0.05).within < ERROR).mean())
    return found


def figures(
    repetitions: int, progress: Progress, *, sizes: Sequence[int] = SIZES
) -> dict[str, Any]:
    """All of the figures, and whether they hold."""
    began, generator = time.monotonic(), np.random.default_rng(0)
    wrong = errors(sizes, repetitions, generator, progress)
    power = powers(repetitions, generator)
    reached = [value for key, value in power.items() if key.startswith("power")]
    greatest = {
        f"greatest_{kind}": max(value for key, value in wrong.items() if key.endswith(kind))
        for kind in ("may_replace", "may_not")
    }

    def bounds(rate: float) -> tuple[float, float]:
        return wilson(rate, repetitions, 1.96)

    holds = all(bounds(one)[0] <= MOST_ERROR for one in wrong.values()) and all(
        bounds(one)[1] >= LEAST_POWER for one in reached
    )
    seconds = round(time.monotonic() - began, 1)
    told = {"holds": holds, "repetitions": repetitions, "seconds": seconds}
    return {**wrong, **greatest, **power, **told}


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where a figure does not hold."""
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="of each kind")
    arguments = parser.parse_args()
    found = figures(arguments.repetitions, suitable_progress()) | surroundings("numpy", "scipy")
    show(found, as_json=arguments.json)
    sys.exit(not found["holds"])


if __name__ == "__main__":
    main()
