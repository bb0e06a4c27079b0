"""How often is a verdict on several benchmarks, or on a recovery, wrong at its limit?

    python benchmarks/verdict_error_rates_benchmarks.py [--repetitions 2000] [--json]

Two models, the reference right on .6, differ on a share of the questions of benchmarks of `SIZES`.
The loss of their mean is the margin of 2 points, or what a recovery of .97 allows: `even`, all on
the `first` benchmark, or `half`. Keys of --json: `LIMIT_SIZES_SHARE_LOSS_may_replace` and
`..._even_may_not` are rates of error; `..._equal_may_replace` is the power for a model as good.

`PRECISION_nN_BENCHMARKS_LIMIT_...`: of real copies of five models in fewer bits, on 200 times N
random questions of each benchmark of `quantization_flips` in --data, or once on all of them:
`may_replace`, `may_not`, and `each_within`, what *may replace* asked of benchmarks before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from stored_answers import lines_of
from surroundings import add_data, command, show, surroundings

from scope.records import ERROR
from scope.statistics.intervals import Tails, discordance, paired_tails
from scope.statistics.paired import recovery_tails
from scope.verdicts.plan import weights_of

LIMITS = {"points": 0.02, "recovery": 0.97}
LOSSES = {"points": 0.02, "recovery": 0.6 * 0.03}
SIZES = ((1000,), (300, 300), (1000, 1000), (100, 1000), (50, 200, 1000, 2000), (100,) * 5)
SETS = (("arc",), ("mmlu",), ("arc", "mmlu"))

Scores = NDArray[np.float64]
"""1 or 0, of target and reference, of each repetition, on each question."""


def drawn(generator: np.random.Generator, share: float, loss: float, *shape: int) -> Scores:
    """Scores of a target that is less accurate than the reference by ``loss``."""
    lost, gained = ((max(share, loss) + side * loss) / 2 for side in (1, -1))
    kind = np.searchsorted(np.cumsum([0.6 - lost, lost, gained]), generator.random(shape))
    return np.stack([(kind == 0) | (kind == 2), kind < 2]).astype(np.float64)


def tails_of(parts: Sequence[Scores], limit: str) -> Tails:
    """Both p-values of the mean over benchmarks, of each repetition."""
    weights, unevenness = weights_of([part.shape[-1] for part in parts])
    scores = np.concatenate([w * part for w, part in zip(weights, parts, strict=True)], axis=-1)
    seen = discordance(scores[0] - scores[1], unevenness=unevenness)
    if limit == "points":
        return paired_tails(seen, LIMITS[limit])
    kept = scores.min(axis=0).mean(axis=-1) * seen.n
    return recovery_tails(kept, seen.losses, seen.gains, LIMITS[limit])


def rates(parts: Sequence[Scores], limit: str) -> dict[str, float]:
    """How often each is decided."""
    mean, each = tails_of(parts, limit), [tails_of([part], limit) for part in parts]
    alone = np.min([tails.beyond for tails in each], axis=0)
    within = np.max([tails.within for tails in each], axis=0) < ERROR
    beyond = np.minimum(mean.beyond, alone) * (len(each) + (len(each) > 1)) < ERROR
    replaces = (mean.within < ERROR) & (alone >= ERROR)
    decided = {"may_replace": replaces, "may_not": beyond, "each_within": within}
    return {key: float(np.mean(of_all)) for key, of_all in decided.items()}


def errors(generator: np.random.Generator, repetitions: int) -> Iterator[tuple[str, float]]:
    """The rates of error, and the power, of every world."""
    for limit, sizes, share in product(LIMITS, SIZES, (0.02, 0.06, 0.15)):
        worlds = {"even": 1 / len(sizes), "equal": 0.0}
        for name, first in (worlds | {"first": 1.0, "half": 0.5} if sizes[1:] else worlds).items():
            others = (1 - first) / max(len(sizes) - 1, 1) * (name != "equal")
            losses = [LOSSES[limit] * len(sizes) * of for of in (first, *[others] * len(sizes[1:]))]
            pairs = zip(losses, sizes, strict=True)
            decided = rates([drawn(generator, share, x, repetitions, n) for x, n in pairs], limit)
            for kind in ("may_replace", "may_not")[: 2 if name == "even" else 1]:
                yield f"{limit}_{'+'.join(map(str, sizes))}_{share:g}_{name}_{kind}", decided[kind]


def copies(folder: Path, generator: np.random.Generator) -> Iterator[tuple[str, float]]:
    """The verdicts on real copies in fewer bits."""
    right = {}
    for name in ("arc", "mmlu"):
        gold = [json.loads(line)["answer"] for line in lines_of(folder / f"{name}_items.jsonl.gz")]
        for row in map(json.loads, lines_of(folder / f"{name}_answers.jsonl.gz")):
            right[row["model"], row["precision"], name] = np.array(row["preds"]) == gold
    for precision, n, names, limit in product(("int8", "int4"), (300, 500, 1000), SETS, LIMITS):
        decided = []
        for model in dict.fromkeys(key[0] for key in right):
            parts = []
            for name in names:
                pair = np.stack([right[model, of, name] for of in (precision, "fp16")]) * 1.0
                order = np.argsort(generator.random((200, pair.shape[-1])))[:, :n]
                parts.append(pair[:, order[: 200 if n < pair.shape[-1] else 1]])
            decided.append(rates(parts, limit))
        for kind in decided[0]:
            share = float(np.mean([of_model[kind] for of_model in decided]))
            yield f"{precision}_n{n}_{'+'.join(names)}_{limit}_{kind}", share


def main() -> None:
    """Simulate, judge the copies, and print the figures."""
    parser = command(__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, help="of each world")
    add_data(parser)
    arguments, generator = parser.parse_args(), np.random.default_rng(0)
    figures = dict(errors(generator, arguments.repetitions))
    figures |= dict(copies(arguments.data / "quantization_flips", generator))
    show(figures | surroundings("numpy", "scipy"), as_json=arguments.json)


if __name__ == "__main__":
    main()
