"""Opens a saved probe with the model that it was fitted on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np

from scope.answers.asking import may_change, recognise_numbers
from scope.errors import ModelError, SpecError
from scope.jobs.probe.readers import OWN, source_of
from scope.models import ModelOptions
from scope.models.latents import Readout
from scope.models.loading import load_latent_reader, split_spec
from scope.models.options import DType
from scope.probes import LatentSource, SavedProbe, SimilarityProbe, load_probe
from scope.probes.saving import DESCRIPTION, measure_arrays
from scope.progress import Silent
from scope.protocols import LatentReader
from scope.store.files import damaged
from scope.store.saved_parts import digest_of

SAFE = ("hf", "gguf")
"""The schemes whose models contain no code: an untrusted file may name them."""


@dataclass(frozen=True, kw_only=True)
class OpenedProbe:
    """A saved probe and a reader of its model, which is not yet loaded.

    ``digest`` is a hash of the probe, part of a run's configuration.
    """

    probe: SimilarityProbe
    source: LatentSource
    reader: LatentReader
    digest: str


def open_probe(folder: Path, options: ModelOptions, model: str | None = None) -> OpenedProbe:
    """Load a probe, and find the model that it was fitted on.

    A probe is untrusted. A model named by it is loaded without foreign code: no Python model, no
    pickle and no code of a checkpoint, whatever the options allow.

    Parameters
    ----------
    options
        How the model is loaded; its precision is the probe's.
    model
        The model's current location, to which all options apply; by default that at fitting.

    Raises
    ------
    RunError
        If there is no probe, or its files are damaged.
    ModelError
        If the model cannot be found or is another one, by its fingerprint or by the latents saved
        with the probe.
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
    """A reader of the model named by the probe."""
    _require_safe(source, folder)
    careful = replace(options, allow_pickle=False, trust_remote_code=False)
    try:
        return _reader(source.spec, source, folder, careful)
    except ModelError as error:
        raise ModelError(
            f"of the probe in `{folder}`: {error.found}",
            expected=f"the model `{source.spec}` that it was fitted on, with the "
            f"fingerprint `{source.fingerprint}`",
            fix="give its current location: --model SPEC",
        ) from error


def _require_safe(source: LatentSource, folder: Path) -> None:
    if not source.spec.strip():
        raise damaged(folder / DESCRIPTION, "it names no model")
    scheme, _ = split_spec(source.spec)
    if scheme not in SAFE:
        raise ModelError(
            f"the probe in `{folder}` needs the model `{source.spec}`, and loading it may run code",
            expected=f"a model of the scheme {' or '.join(SAFE)}, or one given with --model, "
            "because a saved probe is not trusted",
            fix="if you trust the model, add --model SPEC",
        )


def _reader(spec: str, source: LatentSource, folder: Path, options: ModelOptions) -> LatentReader:
    """A reader of a model with the readout of the source."""
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
        # Pickles and code are part of a fingerprint only if they are allowed.
        raise ModelError(
            error.found,
            expected=error.expected,
            fix=f"{error.fix}; if it was fitted with --allow-pickle or --trust-remote-code, "
            "add the option and --model SPEC",
        ) from error


def _recognise(saved: SavedProbe, reader: LatentReader, folder: Path) -> None:
    """Check that a model without a hash still has the latents saved with its probe."""
    if not may_change(reader):
        return
    recognise_numbers(
        reader.spec,
        next(iter(saved.canaries), None),
        lambda texts: np.stack([saved.canaries[text] for text in texts]),
        lambda texts: np.asarray(reader.latents(texts), dtype=np.float32),
        progress=Silent(),
        fix=f"restore the former model, or fit the probe in `{folder}` again",
    )


def _readout(source: LatentSource, folder: Path) -> Readout | None:
    if source.readout == OWN:
        return None
    try:
        return Readout(kind=source.readout, template=source.prompt)  # type: ignore[arg-type]
    except SpecError as error:
        raise damaged(folder / DESCRIPTION, error.found) from error


def _digest(saved: SavedProbe) -> str:
    """Sixteen hexadecimal digits of a hash of the loaded probe."""
    probe = saved.probe
    known = (
        sorted(probe.get_params(deep=False).items()),
        (probe.layers_, probe.width_, tuple(probe.calibration_)),
        sorted((name, value) for name, value in asdict(saved.source).items() if name != "spec"),
    )
    return digest_of(known, measure_arrays(probe.measure_))
