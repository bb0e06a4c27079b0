"""The list of runs under a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from scope.errors import RunError
from scope.store.files import guarded
from scope.store.folder import RunFolder
from scope.store.summary import read_summary


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
    return tuple(sorted(entries, key=lambda one: one.changed, reverse=True))


def _entry(path: Path) -> RunEntry:
    folder = RunFolder(path)
    try:
        with guarded(path):
            files = [file.stat() for file in path.iterdir() if file.is_file()]
            latest = max((one.st_mtime for one in files), default=path.stat().st_mtime)
            changed = datetime.fromtimestamp(latest).isoformat(sep=" ", timespec="minutes")
            finished = folder.result_path.exists()
        configuration = folder.read_configuration()
    except RunError as error:
        return RunEntry(name=path.name, broken=error.found)
    size = sum(one.st_size for one in files)
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
