"""Chance-corrected agreement straight from the formulas, one item and one option at a time.

Independent of `scope.metrics.agreement` on purpose: without numpy, and without influences.
"""

from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def corrected(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected)


def capa(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], right: Sequence[int]
) -> float:
    """Rows have one probability per option, and need not be as long as each other."""
    observed = []
    for one, other in zip(first, second, strict=True):
        observed.append(sum(p * q for p, q in zip(one, other, strict=True)))
    a = mean([row[index] for row, index in zip(first, right, strict=True)])
    b = mean([row[index] for row, index in zip(second, right, strict=True)])
    alike = mean([1 / (len(row) - 1) for row in first])
    return corrected(mean(observed), a * b + alike * (1 - a) * (1 - b))


def one_hot(choice: int, options: int) -> list[float]:
    return [1.0 if option == choice else 0.0 for option in range(options)]


def error_consistency(first: Sequence[int], second: Sequence[int], right: Sequence[int]) -> float:
    first_right = [one == gold for one, gold in zip(first, right, strict=True)]
    second_right = [one == gold for one, gold in zip(second, right, strict=True)]
    both = [one == other for one, other in zip(first_right, second_right, strict=True)]
    a, b = mean(first_right), mean(second_right)
    return corrected(mean(both), a * b + (1 - a) * (1 - b))


def cohen_kappa(first: Sequence[int], second: Sequence[int]) -> float:
    expected = 0.0
    for option in set(first) | set(second):
        expected += list(first).count(option) / len(first) * list(second).count(option) / len(first)
    alike = [one == other for one, other in zip(first, second, strict=True)]
    return corrected(mean(alike), expected)
