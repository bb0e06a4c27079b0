"""One row of latents on disk: its packed numbers and a checksum."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.checksums import checksum
from scope.protocols import Precision


class Shape(NamedTuple):
    """What all latents of a folder have in common."""

    layers: int
    width: int
    precision: Precision


def unpacked(rows: NDArray[np.generic], precision: Precision) -> NDArray[np.float32]:
    """Numbers as they were kept, as float32 in memory.

    Examples
    --------
    >>> unpacked(np.array([0x3F80, 0xC040], dtype=np.uint16), "bfloat16").tolist()
    [1.0, -3.0]
    """
    if precision == "bfloat16":
        return (rows.astype(np.uint32) << 16).view(np.float32)
    return np.asarray(rows, dtype=np.float32)


def packed(latents: NDArray[np.float32], precision: Precision) -> NDArray[np.generic]:
    """Of bfloat16 the upper half of each number, which is all of it."""
    if precision == "bfloat16":
        bits = np.ascontiguousarray(latents, dtype=np.float32).view(np.uint32)
        return (bits >> 16).astype(stored_type(precision))
    return latents.astype(stored_type(precision))


def stored_type(precision: Precision) -> np.dtype[np.generic]:
    """How numbers of a precision are kept."""
    return np.dtype("<u2" if precision == "bfloat16" else "<f4")


def is_whole(
    rows: NDArray[np.generic] | None, key: bytes, place: list[int], shape: Shape, known: object
) -> bool:
    """Whether a text's latents are where the index says, and as they were written."""
    portion, row, truncated = place
    if rows is None or not isinstance(row, int) or not 0 <= row < len(rows):
        return False
    return row_checksum(key, portion, row, truncated, shape, rows) == known


def row_checksum(
    key: bytes, portion: int, row: int, truncated: int, shape: Shape, rows: NDArray[np.generic]
) -> int:
    """A checksum over a text's key, the place of its latents, their shape and their numbers."""
    numbers = zlib.crc32(np.ascontiguousarray(rows[row]).data)
    return checksum(key, portion, row, truncated, *shape, numbers)
