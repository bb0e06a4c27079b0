"""Multiple tests: p-values that control the family-wise error rate."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values, in the order given.

    Rejecting all those below 0.05 has a family-wise error rate of at most 0.05, for any dependence
    of the tests.

    Raises
    ------
    ValueError
        If one is outside 0..1.

    Examples
    --------
    The smallest of three counts three times, the next twice, and none falls below one before it:

    >>> holm([0.25, 0.0625, 0.125])
    (0.25, 0.1875, 0.25)
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"a p-value is between 0 and 1: {list(p_values)}")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    by_size = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank, index in enumerate(by_size):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return tuple(adjusted)
