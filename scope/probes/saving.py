"""A fitted probe as a folder: its numbers as safetensors, all else as JSON; no pickle.

A probe is valid only for latents of the same source, which is therefore saved with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.probes.bases import Scales
from scope.probes.fitting import Calibration
from scope.probes.measures import AllCosines, CosineLayer, Measure, RawLayer, SiameseNetwork
from scope.probes.probe import SimilarityProbe, check_parameters
from scope.probes.recipes import RECIPES, Step
from scope.store.saved_parts import SavedParts, Scalar, plain_parameters


@dataclass(frozen=True, kw_only=True)
class LatentSource:
    """The model that latents were read from, and how.

    ``spec`` loads the model again, and may be spelled differently for the same one;
    ``fingerprint`` changes whenever its latents could. ``readout`` says where in the text they
    are taken, ``prompt`` what stands around it, ``dtype`` how exact they are.
    """

    spec: str
    fingerprint: str
    readout: str
    prompt: str | None
    dtype: str

    def require(self, found: LatentSource) -> None:
        """Check that latents of another source are as good as from this one.

        Raises
        ------
        ModelError
            When they are not; the message shows what differs, on both sides.

        Examples
        --------
        >>> one = LatentSource(
        ...     spec="hf:a", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
        ... )
        >>> one.require(one)
        >>> one.require(LatentSource(**{**vars(one), "spec": "hf:b", "fingerprint": "34cd"}))
        Traceback (most recent call last):
        ...
        scope.errors.ModelError: found:    latents of `hf:b` with fingerprint `34cd`
        expected: latents of `hf:a` with fingerprint `12ab`, which the probe was fitted on
        fix:      read the latents from `hf:a` as it was, or fit a probe on those of `hf:b`
        """
        differing = [
            field.name
            for field in fields(self)
            if field.name != "spec" and getattr(self, field.name) != getattr(found, field.name)
        ]
        if differing:
            raise ModelError(
                f"latents of {found._told(differing)}",
                expected=f"latents of {self._told(differing)}, which the probe was fitted on",
                fix=f"read the latents from `{self.spec}` as it was, or fit a probe on those of "
                f"`{found.spec}`",
            )

    def _told(self, names: list[str]) -> str:
        said = " and ".join(f"{name} `{getattr(self, name)}`" for name in names)
        return f"`{self.spec}` with {said}"


NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope probe --save`",
    first="fit a probe first",
    again="fit the probe again",
)


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
    trained = np.asarray(measure.trained, dtype=np.int64)
    return {"centre": measure.centre, **measure.arrays, "trained": trained}


def restored_measure(step: Step, numbers: Mapping[str, NDArray[Any]]) -> Measure:
    """The measure that a step's arrays make."""
    if step == "raw":
        return RawLayer(numbers["correlations"])
    if step == "mlp":
        scales = Scales(numbers["latent_mean"], numbers["latent_deviation"])
        return AllCosines(scales, CosineLayer(*(numbers[name] for name in CosineLayer._fields)))
    arrays = {name: numbers[name] for name in numbers.keys() - {"centre", "trained"}}
    trained = int(numbers["trained"])
    return SiameseNetwork(numbers["centre"], arrays, RECIPES[step].nonlinear, trained)


FORMAT = 2
"""Changes whenever an older release could no longer read what this one writes."""

_CANARIES = "canaries"
"""The name of the array of their latents."""


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
    latents = {_CANARIES: np.stack(list(saved.canaries.values()))} if saved.canaries else {}
    description = _Description(
        format=2,
        parameters=plain_parameters(probe.get_params(deep=False)),
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
    with FILES.restoring(folder):
        return _restored(description, numbers)


def _restored(description: _Description, numbers: dict[str, NDArray[Any]]) -> SavedProbe:
    """The probe, once all of it is found to go together."""
    latents = numbers.pop(_CANARIES, ())
    canaries = dict(zip(description.canaries, latents, strict=True))
    given: dict[str, Any] = dict(description.parameters)
    probe = SimilarityProbe(**given)
    check_parameters(probe)
    probe.measure_ = restored_measure(probe.step, numbers)
    probe.calibration_ = Calibration(*description.calibration)
    probe.layers_, probe.width_ = description.layers, description.width
    return SavedProbe(probe=probe, source=description.source, canaries=canaries)
