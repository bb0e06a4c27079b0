"""The folder that a probe is to be saved in, made sure of before any work."""

from __future__ import annotations

import json
from pathlib import Path

from scope.errors import RunError
from scope.probes import LatentSource
from scope.probes.saved_numbers import DESCRIPTION
from scope.store.files import read_text
from scope.store.trouble import guarded


def prepare_folder(folder: Path, source: LatentSource) -> None:
    """Make the folder that a probe is to be saved in, or see that it is one of the same model.

    Parameters
    ----------
    source
        Of the latents that the new probe is to be fitted on.

    Raises
    ------
    RunError
        When it holds other files or a probe of another model, is a file itself, or cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise RunError(
            f"`{folder}` is a file",
            expected="a folder in which the probe can be saved, or a name that is not taken",
            fix="name another one with --save",
        )
    try:
        with guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
            names = sorted(path.name for path in folder.iterdir())
            # Whether files can be made in it shows when one is.
            trial = folder / f".{DESCRIPTION}.tmp"
            trial.touch()
            trial.unlink()
    except RunError as error:
        raise RunError(
            error.found, expected=error.expected, fix="name another folder with --save"
        ) from error
    others = [name for name in names if not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise RunError(
            f"`{folder}` holds no probe, but `{others[0]}`",
            expected="a new folder, an empty one, or one in which a probe was saved",
            fix="name another one with --save",
        )
    _require_same_model(folder, source)


def _require_same_model(folder: Path, source: LatentSource) -> None:
    """See that no other model's probe is replaced; of one that cannot be read nothing is lost."""
    text = read_text(folder / DESCRIPTION)
    try:
        kept = None if text is None else json.loads(text)["source"]
        spec, fingerprint = (None, None) if kept is None else (kept["spec"], kept["fingerprint"])
    except (ValueError, TypeError, KeyError):
        return
    if fingerprint not in (None, source.fingerprint):
        raise RunError(
            f"`{folder}` holds a probe of `{spec}` with the fingerprint `{fingerprint}`",
            expected=f"a folder without a probe, or with one of `{source.spec}`, read in the same "
            f"way: with the fingerprint `{source.fingerprint}`",
            fix="name another one with --save, or delete the probe that is there",
        )
