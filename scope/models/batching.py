"""Forms batches of texts that have exactly the same number of tokens.

With no padding there is nothing to mask and nothing to waste, and what a model answers to a text
cannot depend on the texts beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

ANSWERS_A_BATCH = 48
"""Most questions on their way at once: with the answers that wait to be kept at most 64, which is
what a kill can cost."""


def batches_of_equal_length(
    lengths: Sequence[int], token_budget: int, most: int | None = None
) -> Iterator[list[int]]:
    """Indices of the texts in each batch, longest first so that memory peaks at once.

    Parameters
    ----------
    lengths
        Number of tokens of each text.
    token_budget
        Most tokens in a batch; a single text may exceed it.
    most
        Most texts in a batch, whatever their length; by default any number.

    Examples
    --------
    >>> list(batches_of_equal_length([3, 5, 3, 3], token_budget=6))
    [[1], [0, 2], [3]]
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        groups[length].append(index)
    for length in sorted(groups, reverse=True):
        rows = max(1, token_budget // max(1, length))
        rows = rows if most is None else min(rows, most)
        members = groups[length]
        for start in range(0, len(members), rows):
            yield members[start : start + rows]


def portions_by_length(lengths: Sequence[int], most: int = ANSWERS_A_BATCH) -> Iterator[list[int]]:
    """Indices of questions that are answered together, neighbours in length, longest first.

    For models that read a question in several parts, so that none waits for those of all others.

    Examples
    --------
    >>> list(portions_by_length([3, 5, 3, 4], most=2))
    [[1, 3], [0, 2]]
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), most):
        yield order[start : start + most]
