"""How often is strength of reaction wrongly judged? On made-up moves with heavy tails.

A text has four random candidates and a scale of its own. The reference's moves are Student's t in
that scale, with a drift that the text's candidates share. The target's are a mixture of these and
of others like them, times a strength that may vary between texts, and 0 where it does not move.
The limit is the strength itself, on 400,000 texts; so an error is that of a model at the limit.
"""

from __future__ import annotations

import numpy as np

from scope.metrics import Reach, reach
from scope.records import ERROR, Estimate
from scope.statistics import student_estimate
from scope.verdicts import judge_slope, pooled

SIZES = ((20,), (50,), (100,), (300,), (300, 45))
LIMITS = {"lower": 0.7, "upper": 1 / 0.7, "lower_of_parts": 0.49, "upper_of_parts": 1 / 0.49}


MOVES: dict[str, dict[str, float]] = {
    "usual": {},
    "heavy": {"freedom": 2.5, "scales": 1.2},
    "loose": {"scales": 1.6, "alike": 0.5},
    "varied": {"scales": 1.2, "still": 0.25, "strengths": 0.5},
}


def reach_of(
    generator: np.random.Generator,
    texts: int,
    strength: float,
    *,
    freedom: float = 4.0,
    scales: float = 0.8,
    alike: float = 0.9,
    still: float = 0.0,
    strengths: float = 0.0,
) -> Reach:
    """The slope of a target on random moves.

    ``freedom`` is that of their Student's t, ``scales`` and ``strengths`` the spread of logarithms,
    and ``still`` the share without a move.
    """
    shape, column = (texts, 4), (texts, 1)
    scale = np.exp(generator.normal(0, scales, column)) / 2
    led = (generator.standard_t(freedom, shape) + generator.normal(0, 0.3, column)) * scale
    noise = generator.standard_t(freedom, shape) * scale
    spread = np.exp(generator.normal(0, strengths, column) - strengths**2 / 2)
    followed = strength * (spread * alike * led + np.sqrt(1 - alike**2) * noise)
    followed[generator.random(shape) < still] = 0
    slope = reach(led.ravel(), followed.ravel(), [str(n // 4) for n in range(led.size)])
    assert slope is not None
    return slope


def slope_errors(
    generator: np.random.Generator, repetitions: int, *, texts_for_truth: int = 400_000
) -> dict[str, float]:
    """Both rates of error, and the coverage, of each kind of moves, limit and number of texts."""
    found: dict[str, float] = {}
    for name, moves in MOVES.items():
        for limit, strength in LIMITS.items():
            factor = strength / reach_of(generator, 20_000, 1.0, **moves).slope
            truth = reach_of(generator, texts_for_truth, factor, **moves).slope
            least, most = (truth, 100.0) if strength < 1 else (-100.0, truth)
            for texts in SIZES:
                shown = np.zeros(3)
                for _ in range(repetitions):
                    slopes = [reach_of(generator, n, factor, **moves) for n in texts]
                    parts = [dict(zip(s.example_ids, s.values, strict=True)) for s in slopes]
                    values = pooled(parts, missing=None).values.values()
                    estimate = student_estimate([*values])
                    assert isinstance(estimate, Estimate)
                    end = judge_slope("reach", estimate, least=least, most=most)
                    covered = estimate.low <= truth <= estimate.high
                    shown += [end.p_within < ERROR, end.p_beyond < ERROR, covered]
                key = f"reach_{name}_{limit}_n{'+'.join(map(str, texts))}"
                kinds = (f"{key}_{kind}" for kind in ("may_replace", "may_not", "coverage"))
                found |= dict(zip(kinds, (shown / repetitions).tolist(), strict=True))
    return found
