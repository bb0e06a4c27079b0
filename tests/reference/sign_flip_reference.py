"""The exact two-sided sign-flip test: every one of the 2^n ways to exchange whole examples."""

from collections.abc import Sequence
from itertools import product


def exact_p_value(first: Sequence[float], second: Sequence[float], ids: Sequence[str]) -> float:
    sums: dict[str, float] = {}
    for one, other, example in zip(first, second, ids, strict=True):
        sums[example] = sums.get(example, 0.0) + one - other
    observed = abs(sum(sums.values()))
    ways = list(product((1, -1), repeat=len(sums)))
    as_far = 0
    for signs in ways:
        flipped = sum(sign * value for sign, value in zip(signs, sums.values(), strict=True))
        if abs(flipped) >= observed - 1e-9:
            as_far += 1
    return as_far / len(ways)
