"""Blocks of questions with a column for every relevant option, so that sums over options are short.

A question may have hundreds of options of which only a few were chosen, for example free texts.
Options that no model chose and that are not right have equal counts, so they share one column.
Questions with the same number of columns share a block, so that there is little padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import NOT_GIVEN, AnswerMatrix
from scope.evidence.arrays import Indices, Values

_QUESTIONS_OF_A_BLOCK = 1000
"""Enough for numpy to be fast, few enough for a block's arrays to stay in the cache."""

_CELLS_OF_A_BLOCK = 1_000_000
"""Models × questions × columns, where many models give many different answers."""


class OptionBlock(NamedTuple):
    """Some questions: ``n`` of them with at most ``c`` columns, ``models`` models.

    Attributes
    ----------
    items
        Which questions; shape (n,).
    columns
        The column of each model's answer, ``NOT_GIVEN`` if missing; shape (models, n).
    chosen
        The same as zeros and ones; shape (models, n, c).
    options
        The number of options of a column: 1, or all that are left, or 0 for padding;
        shape (n, c).
    right
        1 in the column of the right option; shape (n, c).
    share
        One option's share of all of its question's options, 1 / K; shape (n,).
    """

    items: Indices
    columns: Indices
    chosen: Values
    options: Values
    right: Values
    share: Values


def option_blocks(answers: AnswerMatrix) -> list[OptionBlock]:
    """All questions, sorted by their number of columns.

    Examples
    --------
    No model chose options 1 and 3 of four; the right one, 1, still has its own column:

    >>> one = np.array([0])
    >>> matrix = AnswerMatrix(
    ...     answers=np.array([[2], [0], [2]]), options=one + 4, gold=one + 1, units=one
    ... )
    >>> (block,) = option_blocks(matrix)
    >>> block.columns.ravel().tolist(), block.options.tolist(), block.right.tolist()
    ([2, 0, 2], [[1.0, 1.0, 1.0, 1.0]], [[0.0, 1.0, 0.0, 0.0]])
    """
    columns, used = _columns(np.vstack([answers.answers, answers.expected_right()]))
    left = answers.options - used
    widths = used + (left > 0)
    order = np.argsort(widths, kind="stable")
    return [
        _block(items, columns[:, items], used[items], left[items], answers.options[items])
        for items in _cut(order, widths[order], len(columns))
    ]


def _columns(values: NDArray[np.int64]) -> tuple[Indices, Indices]:
    """Number the distinct values of every column of an array in their order, and count them."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    new = ranked != NOT_GIVEN
    new[1:] &= ranked[1:] != ranked[:-1]
    numbers = np.empty(values.shape, dtype=np.intp)
    np.put_along_axis(numbers, order, np.cumsum(new, axis=0) - 1, axis=0)
    return numbers, new.sum(axis=0)


def _cut(order: Indices, widths: Indices, rows: int) -> Iterator[Indices]:
    """Cut sorted questions into blocks; the last of a block is its widest."""
    start = 0
    while start < len(order):
        end = min(start + _QUESTIONS_OF_A_BLOCK, len(order))
        while end - start > 1 and rows * (end - start) * widths[end - 1] > _CELLS_OF_A_BLOCK:
            end = start + (end - start) // 2
        yield order[start:end]
        start = end


def _block(
    items: Indices,
    columns: Indices,
    used: Indices,
    left: NDArray[np.int64],
    options: NDArray[np.int64],
) -> OptionBlock:
    places = np.arange(int((used + (left > 0)).max()))
    stands_for = (places < used[:, None]) + np.where(places == used[:, None], left[:, None], 0)
    one_hot = (columns[:, :, None] == places).astype(np.float64, order="C")
    return OptionBlock(
        items=items,
        columns=columns[:-1],
        chosen=one_hot[:-1],
        options=stands_for.astype(np.float64),
        right=one_hot[-1],
        share=1 / options,
    )
