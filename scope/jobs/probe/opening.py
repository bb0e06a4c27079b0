"""Opens a saved probe with the model that it was fitted on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import get_args

from scope.errors import ModelError, SpecError
from scope.jobs.probe.readers import OWN, source_of
from scope.models import ModelOptions
from scope.models.latents import Readout
from scope.models.loading import load_latent_reader
from scope.models.options import DType
from scope.probes import LatentSource, SavedProbe, SimilarityProbe, load_probe
from scope.probes.saved_measures import measure_arrays
from scope.probes.saved_numbers import DESCRIPTION
from scope.protocols import LatentReader
from scope.store.trouble import damaged


@dataclass(frozen=True, kw_only=True)
class OpenedProbe:
    """A saved probe and a reader of its model, which is not loaded yet.

    ``digest`` changes with anything in the probe; it stands for it in the question of a run.
    """

    probe: SimilarityProbe
    source: LatentSource
    reader: LatentReader
    digest: str


def open_probe(folder: Path, options: ModelOptions, model: str | None = None) -> OpenedProbe:
    """Load a probe, and find the model that it was fitted on.

    Parameters
    ----------
    options
        How the model is loaded; its precision is the probe's.
    model
        Where the model is now; by default where it was when the probe was fitted.

    Raises
    ------
    RunError
        When there is no probe, or its files are damaged.
    ModelError
        When the model cannot be found, or is another one: the message shows both fingerprints.
    """
    saved = load_probe(folder)
    reader = _reader(saved, folder, options, model)
    found = source_of(reader)
    saved.source.require(found)
    return OpenedProbe(probe=saved.probe, source=found, reader=reader, digest=_digest(saved))


def _reader(
    saved: SavedProbe, folder: Path, options: ModelOptions, model: str | None
) -> LatentReader:
    readout = _readout(saved.source, folder)
    dtype = next((one for one in get_args(DType) if one == saved.source.dtype), None)
    if dtype is None:
        raise damaged(folder / DESCRIPTION, f"no dtype is called `{saved.source.dtype}`")
    try:
        return load_latent_reader(
            model or saved.source.spec, replace(options, dtype=dtype), readout
        )
    except ModelError as error:
        if model is not None:
            raise
        raise ModelError(
            f"of the probe in `{folder}`: {error.found}",
            expected=f"the model `{saved.source.spec}` that it was fitted on, with the "
            f"fingerprint `{saved.source.fingerprint}`",
            mend="say where it is now: --model SPEC",
        ) from error


def _readout(source: LatentSource, folder: Path) -> Readout | None:
    if source.readout == OWN:
        return None
    try:
        return Readout(kind=source.readout, template=source.prompt)  # type: ignore[arg-type]
    except SpecError as error:
        raise damaged(folder / DESCRIPTION, error.found) from error


def _digest(saved: SavedProbe) -> str:
    """Sixteen digits of the probe as it was loaded: its files may hold another one by then."""
    probe = saved.probe
    known = (
        sorted(probe.get_params(deep=False).items()),
        (probe.layers_, probe.width_, tuple(probe.calibration_)),
        sorted((name, value) for name, value in asdict(saved.source).items() if name != "spec"),
    )
    digest = hashlib.sha256(repr(known).encode())
    for name, array in sorted(measure_arrays(probe.measure_).items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
