"""Opens a saved probe with the model that it was fitted on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np

from scope.errors import ModelError, SpecError
from scope.jobs.canaries import may_change, recognise_numbers
from scope.jobs.probe.readers import OWN, source_of
from scope.models import ModelOptions
from scope.models.latents import Readout
from scope.models.loading import load_latent_reader, split_spec
from scope.models.options import DType
from scope.probes import LatentSource, SavedProbe, SimilarityProbe, load_probe
from scope.probes.saved_measures import measure_arrays
from scope.probes.saved_numbers import DESCRIPTION
from scope.progress import Silent
from scope.protocols import LatentReader
from scope.store.trouble import damaged

SAFE = ("hf", "gguf")
"""The schemes whose models are numbers alone: a file that others wrote may name them."""


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

    A probe may come from anyone. What it names by itself is loaded without foreign code: neither a
    model of Python, nor with a pickle or the code of a checkpoint, whatever the options allow.

    Parameters
    ----------
    options
        How the model is loaded; its precision is the probe's.
    model
        Where the model is now, for which all options hold; by default where it was when the probe
        was fitted.

    Raises
    ------
    RunError
        When there is no probe, or its files are damaged.
    ModelError
        When the model cannot be found, or is another one: the message shows both fingerprints, or
        says that latents kept with the probe are others.
    """
    saved = load_probe(folder)
    reader = (
        _own_reader(saved.source, folder, options)
        if model is None
        else _reader(model, saved.source, folder, options)
    )
    found = source_of(reader)
    _require_same(saved.source, found, named=model is not None)
    _recognise(saved, reader, folder)
    return OpenedProbe(probe=saved.probe, source=found, reader=reader, digest=_digest(saved))


def _own_reader(source: LatentSource, folder: Path, options: ModelOptions) -> LatentReader:
    """A reader of the model that the probe names by itself."""
    _require_safe(source, folder)
    careful = replace(options, allow_pickle=False, trust_remote_code=False)
    try:
        return _reader(source.spec, source, folder, careful)
    except ModelError as error:
        raise ModelError(
            f"of the probe in `{folder}`: {error.found}",
            expected=f"the model `{source.spec}` that it was fitted on, with the "
            f"fingerprint `{source.fingerprint}`",
            fix="say where it is now: --model SPEC",
        ) from error


def _require_safe(source: LatentSource, folder: Path) -> None:
    if not source.spec.strip():
        raise damaged(folder / DESCRIPTION, "it names no model")
    scheme, _ = split_spec(source.spec)
    if scheme not in SAFE:
        raise ModelError(
            f"the probe in `{folder}` names the model `{source.spec}`, and to load it may run code",
            expected=f"a model of the scheme {' or '.join(SAFE)}, or one that you name yourself: "
            "a saved probe may come from anyone",
            fix="name it yourself: --model SPEC",
        )


def _reader(spec: str, source: LatentSource, folder: Path, options: ModelOptions) -> LatentReader:
    """A reader of a model, who reads as the source says."""
    readout = _readout(source, folder)
    dtype = next((one for one in get_args(DType) if one == source.dtype), None)
    if dtype is None:
        raise damaged(folder / DESCRIPTION, f"no dtype is called `{source.dtype}`")
    return load_latent_reader(spec, replace(options, dtype=dtype), readout)


def _require_same(wanted: LatentSource, found: LatentSource, *, named: bool) -> None:
    try:
        wanted.require(found)
    except ModelError as error:
        if named:
            raise
        # Pickles and code count in a fingerprint only where they are allowed.
        raise ModelError(
            error.found,
            expected=error.expected,
            fix=f"{error.fix}; if it was fitted with --allow-pickle or --trust-remote-code, "
            "name the model yourself beside them: --model SPEC",
        ) from error


def _recognise(saved: SavedProbe, reader: LatentReader, folder: Path) -> None:
    """See that a model whose bytes cannot be hashed still has the latents kept with its probe."""
    if not may_change(reader):
        return
    recognise_numbers(
        reader.spec,
        list(saved.canaries),
        lambda texts: np.stack([saved.canaries[text] for text in texts]),
        lambda texts: np.asarray(reader.latents(texts), dtype=np.float32),
        kept_in=folder,
        progress=Silent(),
        fix=f"bring the former model back, or fit the probe in `{folder}` again",
    )


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
