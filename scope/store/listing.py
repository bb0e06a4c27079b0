"""The list of runs under a folder, and the summary of each that the list shows.

The summary, a run's time and headline, is a small file that is written anew while the run goes on.
Nothing depends on it: without the file the time begins at 0 and there is no headline.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from scope.errors import RunError
from scope.store.files import guarded, read_text, write_atomically
from scope.store.folder import RunFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEntry:
    """One run: its job, models and data, what came of it, and its size in bytes.

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
    with guarded(root):
        if not root.exists():
            return ()
        folders = sorted(path for path in root.iterdir() if path.is_dir())
    entries = map(_entry, folders)
    return tuple(sorted(entries, key=lambda entry: entry.changed, reverse=True))


def _entry(path: Path) -> RunEntry:
    folder = RunFolder(path)
    try:
        with guarded(path):
            files = [file.stat() for file in path.iterdir() if file.is_file()]
            latest = max((file.st_mtime for file in files), default=path.stat().st_mtime)
            changed = datetime.fromtimestamp(latest).isoformat(sep=" ", timespec="minutes")
            finished = folder.result_path.exists()
        configuration = folder.read_configuration()
    except RunError as error:
        return RunEntry(name=path.name, broken=error.found)
    size = sum(file.st_size for file in files)
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
    """The summary of a run; an empty one where there is none that can be read."""
    try:
        summary = json.loads(read_text(folder / SUMMARY) or "{}")
        return Summary(seconds=float(summary["seconds"]), headline=str(summary["headline"]))
    except (RunError, ValueError, TypeError, KeyError):
        return Summary()


class Stopwatch:
    """Adds the time of this session to that of earlier ones, and writes it now and then."""

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
            write_atomically(self._folder / SUMMARY, text + "\n")
