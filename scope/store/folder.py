"""The folder of a run: its files that are read and replaced whole, whether it can be used, and the
list of runs.

The summary of a run, its time and headline, is a small file that is written anew while the run goes
on. Nothing depends on it: without the file the time begins at 0 and there is no headline.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from scope.errors import RunError
from scope.paths import expanded
from scope.records import Result
from scope.serialization import from_json
from scope.store import files
from scope.store.files import read_configuration, read_notes, refuse_other_settings
from scope.store.long_lists import StoredList, list_files

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def run_folder(run: str | Path, root: Path) -> Path:
    """The folder of a run: a name is a folder under ``root``; a path, or a text with a slash in
    it, is the folder itself.

    Raises
    ------
    RunError
        When a name is not plain.

    Examples
    --------
    >>> run_folder("sst2", Path("runs")).as_posix()
    'runs/sst2'
    >>> run_folder("../elsewhere", Path("runs")).as_posix()
    '../elsewhere'
    """
    if isinstance(run, Path) or "/" in run:
        return expanded(run)
    if not _PLAIN_NAME.fullmatch(run):
        raise RunError(
            f"`{run}` is not a valid run name",
            expected="1 to 100 letters, digits, `.`, `-` and `_`, first a letter, digit or `_`",
            fix="choose another name, such as --run sst2-synonym",
        )
    return expanded(root) / run


class RunFolder:
    """The files of a run that are read and replaced whole, which needs no lock.

    The manifest says what was asked, the database holds the answers and searches so far, and the
    report is the result as a page.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest_path = path / "manifest.json"
        self.database_path = path / "run.sqlite"
        self.result_path = path / "result.json"
        self.report_path = path / "report.html"

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.absolute().name

    def read_configuration(self) -> Mapping[str, object] | None:
        """The configuration, or None before the run was started."""
        return read_configuration(self.manifest_path)

    def read_notes(self) -> Mapping[str, object]:
        """The facts stored with the configuration by the first session; empty without any."""
        return read_notes(self.manifest_path)

    def read_result(self) -> Result | None:
        """The result, or None where the run has not finished.

        Raises
        ------
        RunError
            When the file is damaged or of another format.
        """
        text = files.read_text(self.result_path)
        if text is None:
            return None
        result = from_json(text, source=f"`{self.result_path}`", lists=self._read_lists)
        return replace(result, folder=self.path)

    def _read_lists(self, names: Mapping[str, str]) -> Callable[[str, Any, int, int], StoredList]:
        file = list_files(self.path, names)
        return lambda name, entry, start, stop: StoredList(file(name, entry), start, stop)

    def write_report(self, html: str) -> None:
        """Keep the page; the former one stays until the new one is whole."""
        files.write_atomically(self.report_path, html)


def refuse_other_files(folder: RunFolder) -> None:
    """Only an empty folder, or the remains of a killed start, may become a run.

    Raises
    ------
    RunError
        When it holds other files.
    """
    names = {path.name for path in folder.path.iterdir() if not files.is_leftover(path)}
    others = sorted(names - {files.LOCK, files.HOLDER})
    if others and folder.manifest_path.name not in names:
        raise RunError(
            f"`{folder.path}` is not a run: it has no manifest.json, but contains `{others[0]}`",
            expected="a new or empty folder, or a run that SCoPE started",
            fix="choose another name with --run",
        )


LEAST_FREE = 200_000_000
"""Bytes that must be free where a run is kept: its texts, answers, result and page."""


def check_folder(folder: Path) -> None:
    """Refuse a folder in which no run can be kept.

    Raises
    ------
    RunError
        When it is a file, may not be written, or its disk is almost full.
    """
    with files.guarded(folder):
        existing = files.nearest_folder(folder)
        if not existing.is_dir():
            raise RunError(
                f"`{existing}` is a file",
                expected="a folder, or a name that is free",
                fix="choose another name with --run, or another folder with --runs",
            )
        if not os.access(existing, os.W_OK | os.X_OK):
            raise files.unusable(existing, "Permission denied")
        if files.free_bytes(existing) < LEAST_FREE:
            raise files.full(folder, f"{LEAST_FREE // 1_000_000} MB or more for a run")


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
    with files.guarded(folder):
        if not folder.is_dir():
            return
        refuse_other_files(RunFolder(folder))
    refuse_other_settings(RunFolder(folder).manifest_path, job, settings)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEntry:
    """One run: its job, models and data, its outcome, and its size in bytes.

    A job between equals has ``models`` instead of a reference and targets.

    ``changed`` is the local time of the last change to its files, to the minute; ``headline`` the
    first finding of its report, and ``report`` the path of the page, both empty without any.

    ``broken`` gives the reason that a folder is not a readable run; job and models are then empty.
    """

    name: str
    job: str = ""
    reference: str = ""
    targets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    changed: str = ""
    headline: str = ""
    report: str = ""
    finished: bool = False
    size: int = 0
    broken: str | None = None


def list_runs(root: Path) -> tuple[RunEntry, ...]:
    """Every folder under ``root``, the last changed first; an unreadable run is listed as broken.

    Raises
    ------
    RunError
        When ``root`` itself cannot be read; a root that does not exist holds no runs.

    Examples
    --------
    >>> list_runs(Path("no/such/folder"))
    ()
    """
    with files.guarded(root):
        if not root.exists():
            return ()
        folders = sorted(path for path in root.iterdir() if path.is_dir())
    entries = map(_entry, folders)
    return tuple(sorted(entries, key=lambda entry: entry.changed, reverse=True))


def _entry(path: Path) -> RunEntry:
    folder = RunFolder(path)
    try:
        with files.guarded(path):
            stats = [file.stat() for file in path.iterdir() if file.is_file()]
            latest = max((file.st_mtime for file in stats), default=path.stat().st_mtime)
            changed = datetime.fromtimestamp(latest).isoformat(sep=" ", timespec="minutes")
            finished = folder.result_path.exists()
        configuration = folder.read_configuration()
    except RunError as error:
        return RunEntry(name=path.name, broken=error.found)
    size = sum(file.st_size for file in stats)
    if configuration is None:
        return RunEntry(
            name=path.name, size=size, changed=changed, broken="it has no manifest.json"
        )
    notes = folder.read_notes()
    return RunEntry(
        name=path.name,
        job=_model(configuration.get("job")),
        reference=_model(configuration.get("reference")),
        targets=_models(configuration.get("targets")),
        models=_models(configuration.get("models")),
        data=_specs(notes.get("data")),
        changed=changed,
        headline=read_summary(path).headline if finished else "",
        report=str(folder.report_path) if folder.report_path.exists() else "",
        finished=finished,
        size=size,
    )


def _specs(cards: object) -> tuple[str, ...]:
    """The specs of the data, as the first session noted them."""
    listed = cards if isinstance(cards, list) else []
    return tuple(str(card.get("spec") or "") for card in listed if isinstance(card, Mapping))


def _models(value: object) -> tuple[str, ...]:
    return tuple(map(_model, value)) if isinstance(value, list) else ()


def _model(value: object) -> str:
    """The model's name in a configuration: a text, or a mapping with a name or a spec."""
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("spec")
    return value if isinstance(value, str) else ""


SUMMARY = "summary.json"
SECONDS_BETWEEN_WRITES = 10.0
"""The most time of a session that a kill loses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """The seconds that all sessions of a run took, and the first finding of its report."""

    seconds: float = 0.0
    headline: str = ""


def read_summary(folder: Path) -> Summary:
    """The summary of a run; an empty one if it cannot be read."""
    try:
        summary = json.loads(files.read_text(folder / SUMMARY) or "{}")
        return Summary(seconds=float(summary["seconds"]), headline=str(summary["headline"]))
    except (RunError, ValueError, TypeError, KeyError):
        return Summary()


class Stopwatch:
    """Adds the time of this session to that of earlier ones, and writes it regularly."""

    def __init__(self, folder: Path, began: float) -> None:
        self._folder = folder
        self._began = began
        self._before = read_summary(folder).seconds
        self._written = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds of all sessions until now."""
        return round(self._before + time.monotonic() - self._began, 3)

    def tick(self) -> None:
        """Write the time if that was some seconds ago."""
        if time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self, headline: str | None = None) -> None:
        """Write the time, and the headline of a run that has finished; without one, it stays."""
        self._written = time.monotonic()
        headline = read_summary(self._folder).headline if headline is None else headline
        text = json.dumps(asdict(Summary(seconds=self.seconds, headline=headline)))
        # A disk that is full stops the run where it matters.
        with suppress(RunError):
            files.write_atomically(self._folder / SUMMARY, text + "\n")
