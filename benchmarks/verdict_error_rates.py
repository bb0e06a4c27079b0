"""How often is a verdict wrong at its margin, and does the advised number of texts suffice?

    python benchmarks/verdict_error_rates.py [--repetitions 1000] [--json]
    python benchmarks/verdict_error_rates.py --run RUNS/NAME [--json]

`errors`: random worlds, a sixteenth as many as repetitions, are searched for the greatest rate of
each error: mixtures of whole and small losses and gains, over capabilities with even and uneven
numbers of texts. The three greatest are drawn again, 20 times as often, so that the figures are not
those of chance. The true difference is the margin: of `accuracy`, which stands for same answers,
too; of `keeps`, which stands for same reaction; and of `share`, a mean against a limit. *May
replace* asks each capability to be within twice the margin, too. Coverage is also that of smaller
differences: where two models hardly differ, intervals are wider than they need be and cover more
than .98.

`verdict_errors`: whole verdicts on 1, 4 and 14 targets. *May replace* is wrong for a target whose
accuracy is at the margin; *may not*, said of one target, where every endpoint is at its limit.

`slope_errors`, in verdict_error_rates_worlds.py: strength of reaction.

`powers`: planned and simulated power, by the share of texts that differ and the number of texts;
that of the advised number, and of one that is planned from the texts of a pilot.

--run: see verdict_error_rates_seeds.py. `holds`: errors at most .03, coverage at least .93, powers
of advised numbers at least .8, planned powers within .05 of simulated ones, each within three
standard errors; of strength, the usual moves on 300 texts alone.
"""

from __future__ import annotations

import sys
import time
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr
from surroundings import command, show, surroundings
from verdict_error_rates_seeds import seed_against_seed
from verdict_error_rates_worlds import Layout, Numbers, World, random_worlds, slope_errors

from scope.jobs.pages import load_result
from scope.records import ERROR, AuditResult, Endpoint, Undefined
from scope.statistics.intervals import loss_tails, paired_tails, tango_statistic, wilson
from scope.verdicts.decide import decide, pooled
from scope.verdicts.plan import PlannedEndpoint, planned_differences, texts_for_power

UNEVEN = [(300, 66), (300, 45), (300, 35), (600, 50), (600, 35), (100, 50), (600, 100, 45)]
LAYOUTS = [*UNEVEN, (300, 150, 66), (100, 100), (300, 300), (100,), (300,), (600,)]
KINDS: dict[str, tuple[float, list[Layout], tuple[float, float]]] = {
    "accuracy": (0.02, [(200,), (300,), (1000,), (500, 300)], (0.0, 0.1)),
    "keeps": (0.05, LAYOUTS, (0.2, 0.1)),
    "share": (0.05, LAYOUTS, (0.0, 0.0)),
    "share_02": (0.02, [(200,), (300,), (1000,)], (0.0, 0.0)),
}
"""Margin, layouts, and the greatest chances of gains; a share has none."""
TARGETS, AGAIN = (1, 4, 14), 20
UNLIKE, ALIKE, WORSE = (0.045, 0, 0, 0.025), (0.01, 0.1, 0.1, 0.01), (0.06, 0.3, 0.1, 0.01)
LIMITS = (("may_replace", 0, 0.03), ("may_not", 0, 0.03), ("coverage", 1, 0.93), ("power", 1, 0.8))
"""Endings of keys, which of Wilson's bounds is compared, and with what."""
NONE = Undefined(reason="made up")


def rates(
    world: World, margin: float, truth: float, generator: np.random.Generator, repetitions: int
) -> Numbers:
    """Of both errors, and of coverage, where the true difference is minus ``truth``."""
    shares = not np.any(np.array(world.chances)[:, 2:])
    whole, *parts = world.draw(generator, repetitions)
    judge = loss_tails if shares else paired_tails
    within, beyond = (tail < ERROR for tail in judge(whole, margin))
    for part in parts if len(parts) > 1 else []:
        within &= judge(part, 2 * margin).within < ERROR
    above, below = loss_tails(
        whole._replace(losses=whole.losses - whole.gains * (not shares)), truth
    )
    if not shares:
        score = tango_statistic(whole, -truth)
        above, below = ndtr(-score), np.maximum(ndtr(score), below)
    covered = np.minimum(above, below) >= ERROR
    return np.array([within.mean(), beyond.mean(), covered.mean()])


def errors(generator: np.random.Generator, repetitions: int) -> dict[str, Any]:
    """The greatest rates of error and the least coverage of each kind, and the worlds."""
    found: dict[str, Any] = {}
    for (name, (margin, layouts, gains)), nearer in product(KINDS.items(), (0.0, 0.5, 1.0)):
        truth = nearer * margin
        worlds = [*islice(random_worlds(generator, layouts, truth, gains), repetitions // 16)]
        tried = np.array([rates(w, margin, truth, generator, repetitions) for w in worlds])
        key = f"{name}_{nearer:g}_of_margin"
        found[f"{key}_median_coverage"] = float(np.median(tried[:, 2]))
        for column, end, sign in ((0, "may_replace", -1), (1, "may_not", -1), (2, "coverage", 1)):
            if nearer == 1 or column == 2:
                worst = [worlds[place] for place in np.argsort(sign * tried[:, column])[:3]]
                anew = [rates(w, margin, truth, generator, AGAIN * repetitions) for w in worst]
                place = int(np.argmin([sign * row[column] for row in anew]))
                found[f"{key}_{end}"] = float(anew[place][column])
                found[f"{key}_{end}_in"] = str(worst[place]).replace("\n", "")
    return found


def verdict_errors(generator: np.random.Generator, repetitions: int) -> dict[str, float]:
    """How often the verdict on a target is wrong, by the number of targets.

    Accuracy stands at its margin; and three times two capabilities of which the second is at twice
    the margin, so that their mean is at the margin.
    """
    worlds = (World((1000,), [UNLIKE]), *[World((300, 150), [ALIKE, WORSE])] * 3)
    margins = (0.02, *(0.05, 0.1, 0.1) * 3)
    found: dict[str, float] = {}
    for targets in TARGETS:
        tails = np.empty((targets, len(margins), 2, repetitions))
        for row in tails:
            drawn = [world.draw(generator, repetitions) for world in worlds]
            parts = [drawn[0][0], *(part for world in drawn[1:] for part in world)]
            row[:] = [paired_tails(*pair) for pair in zip(parts, margins, strict=True)]
        places = np.moveaxis(tails, -1, 0)
        replaced = [decisions(place[:, :1]).count("may replace") / targets for place in places]
        refused = [decisions(place).count("may not") / targets for place in places]
        found[f"targets{targets}_may_replace"] = float(np.mean(replaced))
        found[f"targets{targets}_may_not"] = float(np.mean(refused))
    return found


def decisions(tails: Numbers) -> list[str]:
    """Those on several targets, from their endpoints' p-values."""
    ends = {
        str(target): [
            Endpoint(name="any", estimate=NONE, limit=0.0, p_within=p, p_beyond=q) for p, q in row
        ]
        for target, row in enumerate(tails.tolist())
    }
    return [verdict.decision for verdict in decide(ends)]


def powers(generator: np.random.Generator, repetitions: int) -> dict[str, float]:
    """Planned and simulated powers, and those of advised numbers of texts."""

    def simulated(world: World, margin: float) -> float:
        whole = world.draw(generator, repetitions)[0]
        return float((paired_tails(whole, margin).within < ERROR).mean())

    found: dict[str, float] = {}
    for margin, share in product((0.02, 0.05), (0.002, 0.02, 0.05, 0.1)):
        planned = PlannedEndpoint(name="any", margin=margin, discordance=share)
        half, key = [(share / 2, 0, 0, share / 2)], f"margin{margin:g}_differ{share:g}"
        for n in (100, 300, 1000):
            found[f"{key}_n{n}_planned"] = planned.power(n)
            found[f"{key}_n{n}_simulated"] = simulated(World((n,), half), margin)
        found[f"{key}_advised"] = rows = texts_for_power(planned) or 0
        found[f"{key}_power"] = simulated(World((rows,), half), margin)
    reached = []
    for _ in range(40):
        parts = [generator.choice([-1, -0.25, 0.25, 1, 0], n, p=[*ALIKE, 0.78]) for n in (100, 50)]
        values, unevenness = pooled([{str(k): v for k, v in enumerate(part)} for part in parts])
        pilot = planned_differences(
            *("any", values.values()), margin=0.05, texts=100, kind="changed", unevenness=unevenness
        )
        rows = texts_for_power(pilot.if_equal) or 0
        reached.append((rows, simulated(World((rows, rows // 2), [ALIKE] * 2), 0.05)))
    found["pilot_advised"], found["pilot_power"] = np.mean(reached, axis=0).tolist()
    return found


def holds(found: dict[str, Any], repetitions: int) -> bool:
    """Whether every figure is as it has to be, within three standard errors of its simulation."""
    kept = [key for key in found if "reach" not in key or "l_lower_n300" in key]
    ends = [(found[key], *rest) for key in kept for end, *rest in LIMITS if key.endswith(end)]
    pairs = [(key, key.replace("planned", "simulated")) for key in found if key.endswith("planned")]
    gaps = [np.subtract(found[key], wilson(found[other], repetitions, 3)) for key, other in pairs]
    return all(
        (wilson(rate, repetitions, 3)[place] - limit) * (2 * place - 1) >= 0
        for rate, place, limit in ends
    ) and all(high >= -0.05 and low <= 0.05 for high, low in gaps)


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where a figure does not hold."""
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=1000, help="of each world")
    parser.add_argument("--run", type=Path, help="a stored audit of seeds")
    arguments = parser.parse_args()
    generator, began = np.random.default_rng(0), time.monotonic()
    found: dict[str, Any] = {}
    if arguments.run:
        result = load_result(arguments.run)
        assert isinstance(result, AuditResult), f"{arguments.run} is no audit"
        found |= seed_against_seed(result, generator)
    else:
        for simulate in (errors, verdict_errors, slope_errors, powers):
            found |= simulate(generator, arguments.repetitions)
        found["holds"] = holds(found, arguments.repetitions)
    found["seconds"] = round(time.monotonic() - began, 1)
    show(found | surroundings("numpy", "scipy"), as_json=arguments.json)
    sys.exit(not found.get("holds", True))


if __name__ == "__main__":
    main()
