"""The folder to save a probe in, checked before any work."""

from __future__ import annotations

import json
from pathlib import Path

from scope.errors import RunError
from scope.probes import LatentSource
from scope.probes.saving import DESCRIPTION
from scope.store.files import guarded, read_text


def prepare_folder(folder: Path, source: LatentSource) -> None:
    """Create the folder, or check that it contains a probe of the same model.

    Parameters
    ----------
    source
        Source of the latents of the new probe.

    Raises
    ------
    RunError
        If it contains other files or a probe of another model, is a file, or cannot be created.
    """
    if folder.exists() and not folder.is_dir():
        raise RunError(
            f"`{folder}` is a file",
            expected="a folder for the probe, or a path that does not exist",
            fix="choose another path with --save",
        )
    try:
        with guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
            names = sorted(path.name for path in folder.iterdir())
            # Checks write permission by creating a file.
            trial = folder / f".{DESCRIPTION}.tmp"
            trial.touch()
            trial.unlink()
    except RunError as error:
        raise RunError(
            error.found, expected=error.expected, fix="choose another folder with --save"
        ) from error
    others = [name for name in names if not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise RunError(
            f"`{folder}` contains no probe, but `{others[0]}`",
            expected="a new folder, an empty one, or one with a saved probe",
            fix="choose another folder with --save",
        )
    _require_same_model(folder, source)


def _require_same_model(folder: Path, source: LatentSource) -> None:
    """Check that no other model's probe is replaced; an unreadable one may be replaced."""
    text = read_text(folder / DESCRIPTION)
    try:
        kept = None if text is None else json.loads(text)["source"]
        spec, fingerprint = (None, None) if kept is None else (kept["spec"], kept["fingerprint"])
    except (ValueError, TypeError, KeyError):
        return
    if fingerprint not in (None, source.fingerprint):
        raise RunError(
            f"`{folder}` contains a probe of `{spec}` with the fingerprint `{fingerprint}`",
            expected=f"a folder without a probe, or with one of `{source.spec}` with the same "
            f"readout and the fingerprint `{source.fingerprint}`",
            fix="choose another folder with --save, or delete the existing probe",
        )
