"""What each step's measure consists of as named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from scope.fleet.saved_shapes import check_kept
from scope.probes.measures import AllCosines, Measure, RawLayer, SiameseNetwork
from scope.probes.raw_cosines import CosineLayer
from scope.probes.recipes import RECIPES, Step

_RAW = {"correlations": "f8 layers"}
_COSINES = {
    "mean": "f8 layers",
    "deviation": "+f8 layers",
    "weights": "f8 layers",
    "offset": "f8",
}
_NETWORK = {
    "centre": "f4 layers width",
    "encoders": "f4 layers width outputs",
    "offsets": "f4 layers 1 outputs",
    "weights": "f4 layers",
    "hidden": "f4 layers hidden",
    "hidden_offsets": "f4 hidden",
    "out": "f4 hidden",
    "out_offset": "f4",
}
"""Kinds and shapes, as `scope.fleet.saved_shapes` has them."""


def measure_arrays(measure: Measure) -> dict[str, NDArray[Any]]:
    """The arrays that a measure consists of, by name.

    Examples
    --------
    >>> import numpy as np
    >>> measure_arrays(RawLayer(np.array([0.25, 0.5])))
    {'correlations': array([0.25, 0.5 ])}
    """
    if isinstance(measure, RawLayer):
        return {"correlations": measure.correlations}
    if isinstance(measure, AllCosines):
        return measure.weighed._asdict()
    if isinstance(measure, SiameseNetwork):
        return {"centre": measure.centre, **measure.arrays}
    raise TypeError(f"a measure of the class {type(measure).__name__}")


def restored_measure(
    step: Step, numbers: Mapping[str, NDArray[Any]], layers: int, width: int
) -> Measure:
    """The measure that a step's arrays make.

    Raises
    ------
    ValueError
        When an array is missing, or not of the kind and shape that it must be.
    """
    kept = {"raw": _RAW, "mlp": _COSINES}.get(step, _NETWORK)
    check_kept(numbers, kept, {"layers": layers, "width": width})
    if step == "raw":
        return RawLayer(numbers["correlations"])
    if step == "mlp":
        return AllCosines(CosineLayer(**numbers))
    arrays = {name: array for name, array in numbers.items() if name != "centre"}
    return SiameseNetwork(numbers["centre"], arrays, RECIPES[step].nonlinear)
