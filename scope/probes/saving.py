"""A fitted probe as a folder: its numbers as safetensors, all else as JSON; no pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from scope.errors import ScopeError
from scope.probes.calibration import Calibration
from scope.probes.parameters import check_parameters
from scope.probes.probe import SimilarityProbe
from scope.probes.saved_measures import measure_arrays, restored_measure
from scope.probes.saved_numbers import DESCRIPTION, FILES
from scope.probes.source import LatentSource
from scope.store.trouble import guarded

FORMAT = 2
"""Changes whenever an older release could no longer read what this one writes."""

_CANARIES = "canaries"
"""The name of the array of their latents."""

_WIDEST = 1_000_000
"""More layers or numbers a layer than any model has; a form of more is not believed."""

Scalar = bool | int | float | str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedProbe:
    """A fitted probe with the source of the latents that it was fitted on.

    Before latents are scored, hold their source against it: ``saved.source.require(found)``.
    ``canaries`` are the latents of some texts, each of shape (layers, width), by which a model is
    recognised whose bytes cannot be hashed.
    """

    probe: SimilarityProbe
    source: LatentSource
    canaries: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Description:
    """What stands in the JSON file."""

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "allow_inf_nan": False}
    format: Literal[1, 2]
    parameters: dict[str, Scalar]
    layers: int
    width: int
    calibration: tuple[float, float, float]
    source: LatentSource
    sha256: str
    canaries: tuple[str, ...] = ()


def save_probe(saved: SavedProbe, folder: Path) -> None:
    """Write a fitted probe into a folder, which is made where there is none.

    Each of the two files is replaced in one step, and the JSON holds the other's digest: a kill
    between the two is noticed on loading. Sentences without scores are not needed any more, and
    what was learned from them is kept as far as scores depend on it.

    Raises
    ------
    RunError
        When the folder cannot be written.
    """
    probe = saved.probe
    scale, power, unit = probe.calibration_
    with guarded(folder):
        folder.mkdir(parents=True, exist_ok=True)
    latents = {_CANARIES: np.stack(list(saved.canaries.values()))} if saved.canaries else {}
    description = _Description(
        format=2,
        parameters={name: _plain(value) for name, value in probe.get_params(deep=False).items()},
        layers=probe.layers_,
        width=probe.width_,
        calibration=(scale, power, unit),
        source=saved.source,
        sha256=FILES.write(folder, measure_arrays(probe.measure_) | latents),
        canaries=tuple(saved.canaries),
    )
    FILES.describe(folder, description)


def load_probe(folder: Path) -> SavedProbe:
    """Read what `save_probe` wrote; its scores are the same to the byte.

    Raises
    ------
    RunError
        When there is no probe, or its files are damaged, changed, or of another format.
    """
    description = FILES.described(folder, _Description, FORMAT)
    numbers = FILES.read(folder, description.sha256)
    try:
        return _restored(description, numbers)
    except (TypeError, ValueError, OverflowError, ScopeError) as error:
        raise FILES.damaged(
            folder / DESCRIPTION, f"its parts do not go together ({error})"
        ) from error


def _restored(description: _Description, numbers: dict[str, NDArray[Any]]) -> SavedProbe:
    """The probe, once all of it is found to go together."""
    layers, width = description.layers, description.width
    if not (0 < layers <= _WIDEST and 0 < width <= _WIDEST):
        raise ValueError(f"{layers} layers of width {width}")
    canaries = _canaries(description, numbers)
    given: dict[str, Any] = dict(description.parameters)
    probe = SimilarityProbe(**given)
    check_parameters(probe)
    if not all(number > 0 for number in description.calibration):
        raise ValueError(f"the calibration {description.calibration}")
    probe.measure_ = restored_measure(probe.step, numbers, layers, width)
    probe.calibration_ = Calibration(*description.calibration)
    probe.layers_, probe.width_ = layers, width
    _try_out(probe)
    return SavedProbe(probe=probe, source=description.source, canaries=canaries)


def _canaries(
    description: _Description, numbers: dict[str, NDArray[Any]]
) -> dict[str, NDArray[np.float32]]:
    """Take the canaries' latents out of the numbers, which then are those of the measure alone."""
    if not description.canaries:
        return {}
    latents = numbers.pop(_CANARIES, None)
    wanted = (len(description.canaries), description.layers, description.width)
    if latents is None or latents.dtype != np.float32 or latents.shape != wanted:
        raise ValueError(f"canaries of another shape than {wanted}")
    return dict(zip(description.canaries, latents, strict=True))


def _try_out(probe: SimilarityProbe) -> None:
    """Check that a pair can be scored: numbers may be finite and yet absurd.

    From distances, not from latents: the width of these is bounded by no array in the file for
    the step ``raw``, and might ask for more memory than there is.
    """
    for distance in (0.0, 1.0):
        with np.errstate(over="ignore", invalid="ignore"):
            score = float(probe.scores_from(np.full((1, probe.layers_), distance))[0])
        if not probe.low <= score <= probe.high:
            raise ValueError(f"a score of {score}")


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; a search over parameters gives NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value
