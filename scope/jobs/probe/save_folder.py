"""The folder that a probe is to be saved in, made sure of before any work."""

from __future__ import annotations

from pathlib import Path

from scope.errors import RunError
from scope.probes.saved_numbers import DESCRIPTION
from scope.store.trouble import guarded


def prepare_folder(folder: Path) -> None:
    """Make the folder that a probe is to be saved in, or see that it is one of a probe.

    Raises
    ------
    RunError
        When it holds other files, is a file itself, or cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise RunError(
            f"`{folder}` is a file",
            expected="a folder in which the probe can be saved, or a name that is not taken",
            mend="name another one with --save",
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
            error.found, expected=error.expected, mend="name another folder with --save"
        ) from error
    others = [name for name in names if not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise RunError(
            f"`{folder}` holds no probe, but `{others[0]}`",
            expected="a new folder, an empty one, or one in which a probe was saved",
            mend="name another one with --save",
        )
