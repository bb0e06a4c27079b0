"""A table for the terminal whose columns shrink, but never below the values they must show."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table

_READABLE = 8
"""Columns shrink to this width, and no further."""


class FittingTable(Table):
    """A table that respects the least widths of its columns where it is too wide.

    Rich shrinks the widest columns without a look at their least widths, and then cuts off the
    table at the right.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # The padding of a cell and a line; a line more at the edge.
        around = (1 + self.padding[1] + self.padding[3]) * len(self.columns)
        room = options.max_width - around + (-1 if self.show_edge else 1)
        natural = [_natural(one, console, options) for one in self.columns]
        if sum(natural) > room:
            least = [
                max(column.min_width or 0, min(_READABLE, width))
                for column, width in zip(self.columns, natural, strict=True)
            ]
            for column, width in zip(self.columns, shrunk(natural, least, room), strict=True):
                column.width = width
        yield from super().__rich_console__(console, options)
        for column in self.columns:
            column.width = None


def _natural(column: Column, console: Console, options: ConsoleOptions) -> int:
    cells = (column.header, *column.cells)
    return max(Measurement.get(console, options, cell).maximum for cell in cells)


def shrunk(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit into the room: the widest columns give way, down to the least widths.

    Where even these need more room, they are returned.

    >>> shrunk([20, 16, 9], [8, 16, 8], 36)
    [11, 16, 9]
    >>> shrunk([20, 16], [8, 16], 10)
    [8, 16]
    """
    widths = [max(pair) for pair in zip(natural, least, strict=True)]
    while sum(widths) > room:
        width, column = max(
            (width if width > least[place] else 0, place) for place, width in enumerate(widths)
        )
        if not width:
            break
        widths[column] -= 1
    return widths
