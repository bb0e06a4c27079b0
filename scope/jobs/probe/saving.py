"""A fitted probe on disk: its arrays as safetensors, the rest as JSON; no pickle.

A probe is valid only for latents of the same source, which is therefore saved with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.jobs.probe.estimator import Calibration, SimilarityProbe, check_parameters
from scope.jobs.probe.measures import AllCosines, Measure, RawLayer, SiameseNetwork
from scope.jobs.probe.network import RECIPES, Step
from scope.models.latents.reader import ReadoutKind
from scope.models.options import DType
from scope.store.saved_parts import SavedParts, Scalar, plain_parameters

OWN: Final = "its own"
"""The readout of a model that defines its own, such as a Python model."""


@dataclass(frozen=True, kw_only=True)
class LatentSource:
    """The model that latents were read from, and how.

    ``spec`` loads the model again; two specs may name one model. ``fingerprint`` changes whenever
    its latents could. ``readout`` is the position in the text, ``prompt`` the words around the
    text, ``dtype`` the precision.
    """

    spec: str
    fingerprint: str
    readout: ReadoutKind | Literal["its own"]
    prompt: str | None
    dtype: DType

    def require(self, other: LatentSource) -> None:
        """Raise a ModelError with the differences if latents of another source differ from these.

        Examples
        --------
        >>> source = LatentSource(
        ...     spec="hf:a", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
        ... )
        >>> source.require(source)
        >>> source.require(LatentSource(**{**vars(source), "spec": "hf:b", "fingerprint": "34cd"}))
        Traceback (most recent call last):
        ...
        scope.errors.ModelError: found:    latents of `hf:b` with fingerprint `34cd`
        expected: latents of `hf:a` with fingerprint `12ab`, which the probe was fitted on
        fix:      read the latents from `hf:a` as it was, or fit a probe on those of `hf:b`
        """
        names = [field.name for field in fields(self) if field.name != "spec"]
        differing = [name for name in names if getattr(self, name) != getattr(other, name)]
        if differing:
            here, there = (
                f"`{source.spec}` with "
                + " and ".join(f"{name} `{getattr(source, name)}`" for name in differing)
                for source in (self, other)
            )
            raise ModelError(
                f"latents of {there}",
                expected=f"latents of {here}, which the probe was fitted on",
                fix=f"read the latents from `{self.spec}` as it was, or fit a probe on those of "
                f"`{other.spec}`",
            )


NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope probe --save`",
    first="fit a probe first",
    again="fit the probe again",
)


def measure_arrays(measure: Measure) -> dict[str, NDArray[Any]]:
    """The arrays of a measure, by name.

    Examples
    --------
    >>> measure_arrays(RawLayer(np.array([0.25, 0.5])))
    {'correlations': array([0.25, 0.5 ])}
    """
    if not isinstance(measure, SiameseNetwork):
        return measure._asdict()
    trained = np.asarray(measure.trained, dtype=np.int64)
    return {"centre": measure.centre, **measure.arrays, "trained": trained}


def _restored_measure(step: Step, arrays: dict[str, NDArray[Any]]) -> Measure:
    if step in ("raw", "mlp"):
        return (RawLayer if step == "raw" else AllCosines)(**arrays)
    centre, trained = arrays.pop("centre"), int(arrays.pop("trained"))
    return SiameseNetwork(centre, arrays, RECIPES[step].nonlinear, trained)


FORMAT = 2
"""Incremented if older releases cannot read this format."""

_CANARIES = "canaries"
"""The name of the array of the canaries' latents."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedProbe:
    """A fitted probe with the source of the latents that it was fitted on.

    Before latents are scored, compare their source with it: ``saved.source.require(source)``.
    ``canaries`` are latents of some texts, each of shape (layers, width), by which a model whose
    bytes cannot be hashed is recognised.
    """

    probe: SimilarityProbe
    source: LatentSource
    canaries: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Description:
    """The content of the JSON file."""

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
    """Write a fitted probe into a folder, which is created if needed.

    Each of the two files is replaced in one step, and the JSON has the digest of the arrays, so
    that loading notices a kill between the two. Sentences without scores are not saved.

    Raises
    ------
    RunError
        If the folder cannot be written.
    """
    probe = saved.probe
    latents = {_CANARIES: np.stack(list(saved.canaries.values()))} if saved.canaries else {}
    description = _Description(
        format=2,
        parameters=plain_parameters(probe.get_params(deep=False)),
        layers=probe.layers_,
        width=probe.width_,
        calibration=probe.calibration_,
        source=saved.source,
        sha256=FILES.write(folder, measure_arrays(probe.measure_) | latents),
        canaries=tuple(saved.canaries),
    )
    FILES.describe(folder, description)


def load_probe(folder: Path) -> SavedProbe:
    """Read a probe of `save_probe`; its scores are the same to the byte.

    Raises
    ------
    RunError
        If there is no probe, or its files are damaged, changed, or of another format.
    """
    description = FILES.described(folder, _Description, FORMAT)
    arrays = FILES.read(folder, description.sha256)
    with FILES.restoring(folder):
        latents = arrays.pop(_CANARIES, ())
        canaries = dict(zip(description.canaries, latents, strict=True))
        parameters: dict[str, Any] = dict(description.parameters)
        probe = SimilarityProbe(**parameters)
        check_parameters(probe)
        probe.measure_ = _restored_measure(probe.step, arrays)
        probe.calibration_ = Calibration(*description.calibration)
        probe.layers_, probe.width_ = description.layers, description.width
        return SavedProbe(probe=probe, source=description.source, canaries=canaries)
