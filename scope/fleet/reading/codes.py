"""The distinct values of a column, each turned into what it means once, however often it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.reading.values import UnreadableError

Codes = NDArray[np.int32]
"""For each row the place of its value among the distinct ones; -1 where it has none."""

Read = Callable[..., Any]
"""Turns what the cells of a row hold into a value, or raises an `UnreadableError`."""


class WantedColumn(NamedTuple):
    """A column to be read, and what makes its values; several columns make one value together."""

    columns: tuple[str, ...]
    read: Read
    required: bool = False


class Coded(NamedTuple):
    """A column that was read: its distinct values, and which of them each row has."""

    values: list[Any]
    codes: Codes


class Coder:
    """The distinct values of a column, as they come."""

    def __init__(self, wanted: WantedColumn) -> None:
        self.values: list[Any] = []
        self.portions: list[Codes] = []
        self._wanted = wanted
        self._known: dict[Any, int] = {}
        # Of pyarrow's values all that were met, and their codes.
        self._met: Any = None
        self._codes_met = np.zeros(0, dtype=np.int32)

    def take(self, values: Any, rows: NDArray[np.intp], place: Callable[[int], str]) -> None:
        """Take some rows over, each with the place of its value among ``values``, or -1."""
        codes = (
            self._codes_of_rows(values, place)
            if isinstance(values, list)
            else self._codes_of_array(values)
        )
        # The last one stands for the place -1.
        found = np.append(codes, np.int32(-1))[rows]
        if self._wanted.required and (found < 0).any():
            row = place(int(np.flatnonzero(found < 0)[0]))
            raise _unreadable(row, self._wanted, "nothing", "a value in every row")
        self.portions.append(found)

    def _codes_of_rows(self, values: Sequence[Any], place: Callable[[int], str]) -> Codes:
        """The codes of one value a row, with the row of one that cannot be read."""
        several = len(self._wanted.columns) > 1
        codes = np.empty(len(values), dtype=np.int32)
        for number, value in enumerate(values):
            try:
                codes[number] = self._code(*value) if several else self._code(value)
            except UnreadableError as error:
                raise _unreadable(
                    place(number), self._wanted, error.found, error.expected
                ) from error
        return codes

    def _codes_of_array(self, values: Any) -> Codes:
        """The codes of an array's values, of which only the new ones go through Python."""
        import pyarrow
        from pyarrow import compute

        met = values[:0] if self._met is None else self._met
        at = compute.index_in(values, value_set=met)
        new = values.filter(at.is_null())
        fresh = np.array([self._code(value) for value in new.to_pylist()], dtype=np.int32)
        self._met = pyarrow.concat_arrays([met, new])
        self._codes_met = np.append(self._codes_met, fresh)
        codes = np.empty(len(values), dtype=np.int32)
        known = at.is_valid().to_numpy(zero_copy_only=False)
        codes[known] = self._codes_met[at.drop_null().to_numpy()]
        codes[~known] = fresh
        return codes

    def _code(self, *raw: object) -> int:
        value = self._wanted.read(*raw)
        if value is None:
            return -1
        code = self._known.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def coded(self) -> Coded:
        """All that was taken."""
        return Coded(self.values, np.concatenate([np.zeros(0, np.int32), *self.portions]))


def _unreadable(row: str, wanted: WantedColumn, found: str, expected: str) -> DataError:
    return DataError(
        f"{row}: {found} in column {' or '.join(f'`{column}`' for column in wanted.columns)}",
        expected=expected,
        fix="fix the row, or name another column: --column ROLE=NAME",
    )
