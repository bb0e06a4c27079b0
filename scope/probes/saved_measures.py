"""What each step's measure consists of as named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.probes.cosine_layer import CosineLayer
from scope.probes.measures import AllCosines, Measure, RawLayer, SiameseNetwork
from scope.probes.recipes import RECIPES, Step
from scope.probes.scales import Scales
from scope.store.saved_shapes import check_kept

_RAW = {"correlations": "f8 layers"}
_COSINES = {
    "latent_mean": "f4 layers width",
    "latent_deviation": "+f4 layers width",
    "mean": "f8 layers",
    "deviation": "+f8 layers",
    "weights": "f8 layers",
    "offset": "f8",
    "near": "+f8",
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
    "trained": "i8",
}
"""Kinds and shapes, as `scope.store.saved_shapes` has them."""


def measure_arrays(measure: Measure) -> dict[str, NDArray[Any]]:
    """The arrays that a measure consists of, by name.

    Examples
    --------
    >>> measure_arrays(RawLayer(np.array([0.25, 0.5])))
    {'correlations': array([0.25, 0.5 ])}
    """
    if isinstance(measure, RawLayer):
        return {"correlations": measure.correlations}
    if isinstance(measure, AllCosines):
        centre, deviation = measure.scales
        scales = {"latent_mean": centre, "latent_deviation": deviation}
        return scales | measure.weighed._asdict()
    if isinstance(measure, SiameseNetwork):
        trained = np.asarray(measure.trained, dtype=np.int64)
        return {"centre": measure.centre, **measure.arrays, "trained": trained}
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
        scales = Scales(numbers["latent_mean"], numbers["latent_deviation"])
        return AllCosines(scales, CosineLayer(*(numbers[name] for name in CosineLayer._fields)))
    trained = int(numbers["trained"])
    if trained < 1:
        raise ValueError(f"{trained} trained numbers")
    arrays = {name: numbers[name] for name in numbers.keys() - {"centre", "trained"}}
    return SiameseNetwork(numbers["centre"], arrays, RECIPES[step].nonlinear, trained)
