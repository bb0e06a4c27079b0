"""What kind and shape each saved number must have, checked before any of them is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_kept(
    numbers: Mapping[str, NDArray[Any]], kept: Mapping[str, str], sizes: Mapping[str, int]
) -> None:
    """See that saved numbers are of the kinds and shapes that their class says.

    Parameters
    ----------
    numbers
        As read from a file.
    kept
        Of each name the kind, then the size of each axis, by spaces. Kinds: ``f4`` and ``f8``
        are floats, which must be finite, and above 0 with a ``+`` before; ``i8`` integers; ``b1``
        a truth; ``answers`` floats of 0, 1 and NaN; ``=name`` one integer, the size of that name.
        A size is a number, a name, or a sum of such; a name has the same size throughout.
    sizes
        Sizes by name, as far as they are known beforehand; others follow from the numbers.

    Raises
    ------
    ValueError
        When names are missing or too many, or a number is not as said.

    Examples
    --------
    >>> check_kept({"a": np.zeros((2, 3)), "b": np.zeros(2)}, {"a": "f8 2 n+1", "b": "f8 n"}, {})
    >>> check_kept({"a": np.zeros(3)}, {"a": "f8 n"}, {"n": 2})
    Traceback (most recent call last):
        ...
    ValueError: `a` of shape (3,), not (n)
    """
    if numbers.keys() != kept.keys():
        raise ValueError(f"the numbers {sorted(numbers.keys() ^ kept.keys())}")
    known = dict(sizes)
    for name, spec in kept.items():
        kind, *axes = spec.split()
        array = numbers[name]
        if kind.startswith("="):
            _require_count(name, array, known[kind[1:]])
            continue
        if array.ndim != len(axes) or not all(map(_fits, array.shape, axes, [known] * len(axes))):
            raise ValueError(f"`{name}` of shape {array.shape}, not ({', '.join(axes)})")
        _require_kind(name, array, kind)


def _fits(size: int, spec: str, known: dict[str, int]) -> bool:
    """Whether a size is the sum in ``spec``; one unknown part is set from it."""
    parts = spec.split("+")
    unknown = [part for part in parts if not part.isdigit() and part not in known]
    rest = size - sum(int(part) if part.isdigit() else known.get(part, 0) for part in parts)
    if not unknown:
        return rest == 0
    known[unknown[0]] = rest
    return rest >= 0


def _require_count(name: str, array: NDArray[Any], size: int) -> None:
    if array.ndim or array.dtype != np.int64 or int(array) != size:
        raise ValueError(f"`{name}` is not {size}")


def _require_kind(name: str, array: NDArray[Any], kind: str) -> None:
    expected = np.dtype("f4" if kind == "answers" else kind.removeprefix("+"))
    if array.dtype != expected:
        raise ValueError(f"`{name}` of {array.dtype} in place of {expected}")
    if kind == "answers":
        if not (np.isnan(array) | (array == 0) | (array == 1)).all():
            raise ValueError(f"`{name}` holds values other than 0, 1 and NaN")
    elif not np.isfinite(array).all():
        raise ValueError(f"`{name}` holds a number that is not finite")
    elif kind.startswith("+") and not (array > 0).all():
        raise ValueError(f"`{name}` holds a number that is not above 0")
