"""What can be known of a run's folder before anything is loaded for the run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scope.errors import RunError
from scope.store.configuration import refuse_other_settings
from scope.store.files import free_bytes, full, guarded, nearest_folder, unusable
from scope.store.folder import RunFolder, refuse_other_files

LEAST_FREE = 200_000_000
"""Bytes that must be free where a run is kept: its texts, answers, result and page."""


def check_folder(folder: Path) -> None:
    """Refuse a folder in which no run can be kept.

    Raises
    ------
    RunError
        When it is a file, may not be written, or its disk is almost full.
    """
    with guarded(folder):
        existing = nearest_folder(folder)
        if not existing.is_dir():
            raise RunError(
                f"`{existing}` is a file",
                expected="a folder, or a name that is free",
                fix="choose another name with --run, or another folder with --runs",
            )
        if not os.access(existing, os.W_OK | os.X_OK):
            raise unusable(existing, "Permission denied")
        if free_bytes(existing) < LEAST_FREE:
            raise full(folder, f"{LEAST_FREE // 1_000_000} MB or more for a run")


def check_run(folder: Path, job: str | None, settings: Mapping[str, float]) -> None:
    """Refuse a folder that holds other files, another job's run or one of other settings.

    Parameters
    ----------
    job
        The name of the job in manifests; None where it is not known.
    settings
        Numbers of the configuration that are known before anything is loaded.

    Raises
    ------
    RunError
        When it does.
    """
    with guarded(folder):
        if not folder.is_dir():
            return
        refuse_other_files(RunFolder(folder))
    refuse_other_settings(RunFolder(folder).manifest_path, job, settings)
