"""Forms batches of texts that have exactly the same number of tokens.

With no padding there is nothing to mask and nothing to waste, and what a model answers to a text
cannot depend on the texts beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence


def batches_of_equal_length(lengths: Sequence[int], token_budget: int) -> Iterator[list[int]]:
    """Indices of the texts in each batch, longest first so that memory peaks at once.

    Parameters
    ----------
    lengths
        Number of tokens of each text.
    token_budget
        Most tokens in a batch; a single text may exceed it.

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
        members = groups[length]
        for start in range(0, len(members), rows):
            yield members[start : start + rows]
