"""The report of a stored run, written again without any model."""

from __future__ import annotations

from pathlib import Path

from scope.errors import RunError
from scope.records import Result
from scope.store import RunFolder, run_folder


def stored_result(run: str | Path, runs: Path = Path("runs")) -> Result:
    """The result of a run that has finished.

    Raises
    ------
    RunError
        When there is no such run, or it has not finished.
    """
    folder = _find(run, runs)
    result = folder.read_result()
    if result is None:
        raise RunError(
            f"`{folder.path}` has no result yet",
            expected="a run that has finished",
            fix="run its command again to resume it",
        )
    return result


def report(run: str | Path, runs: Path = Path("runs")) -> Path:
    """Write a run's report.html again from its stored result, and return its path.

    Parameters
    ----------
    run
        The run's name under ``runs``, or the Path of its folder.

    Raises
    ------
    RunError
        When there is no such run, or it has not finished.
    """
    result = stored_result(run, runs)
    folder = _find(run, runs)
    folder.write_report(result.html())
    return folder.report_path


def _find(run: str | Path, runs: Path) -> RunFolder:
    path = run_folder(run, runs)
    if not path.is_dir():
        here = sorted(one.name for one in runs.iterdir() if one.is_dir()) if runs.is_dir() else []
        raise RunError(
            f"no run `{run}`",
            expected=f"one of: {', '.join(here[:20])}" if here else f"a run under `{runs}`",
            fix="see `scope list runs`, or give the folder's path",
        )
    return RunFolder(path)
