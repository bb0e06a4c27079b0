"""The folder of a run: its files that are read and replaced whole, whether it can be used, and the
list of runs.

A run never mixes two configurations: the manifest stores it under the key ``question``, and a later
session may add models, and nothing else. The summary of a run, its time and headline, is a small
file that is written anew while the run goes on. Nothing depends on it: without the file the time
begins at 0 and there is no headline.
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
from scope.store.files import StoredList, list_files

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
        """The configuration, or None before the run was started.

        Raises
        ------
        RunError
            When the manifest is damaged or of another format.
        """
        manifest = _read(self.manifest_path)
        return None if manifest is None else manifest["question"]

    def read_notes(self) -> Mapping[str, object]:
        """The facts stored with the configuration by the first session; empty without any."""
        notes = (_read(self.manifest_path) or {}).get("notes")
        return notes if isinstance(notes, dict) else {}

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
    stored = RunFolder(folder).read_configuration() or {}
    kept = stored.get("settings")
    known = kept if isinstance(kept, dict) else {}
    wanted = {
        name: round(value, 6)
        for name, value in settings.items()
        if isinstance(known.get(name), int | float)
    }
    requested = {"settings": wanted} | ({} if job is None else {"job": job})
    before = {"settings": {name: known[name] for name in wanted}, "job": stored.get("job", job)}
    if any(before[name] != value for name, value in requested.items()):
        raise _other_configuration(folder, {key: before[key] for key in requested}, requested)


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
    cards = folder.read_notes().get("data")
    noted = [card for card in cards if isinstance(card, Mapping)] if isinstance(cards, list) else []
    return RunEntry(
        name=path.name,
        job=_model(configuration.get("job")),
        reference=_model(configuration.get("reference")),
        targets=_models(configuration.get("targets")),
        models=_models(configuration.get("models")),
        data=tuple(str(card.get("spec") or "") for card in noted),
        changed=changed,
        headline=read_summary(path).headline if finished else "",
        report=str(folder.report_path) if folder.report_path.exists() else "",
        finished=finished,
        size=size,
    )


def _models(value: object) -> tuple[str, ...]:
    return tuple(map(_model, value)) if isinstance(value, list) else ()


def _model(value: object) -> str:
    """The model's name in a configuration: a text, or a mapping with a name or a spec."""
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("spec")
    return value if isinstance(value, str) else ""


FORMAT = 1

GROWING = ("targets", "controls", "models")
"""The lists of models to which a later session may add."""

_SHOWN_DIFFERENCES = 8
_SHOWN_CHARACTERS = 80


def keep_configuration(
    path: Path, configuration: Mapping[str, object], notes: Mapping[str, object]
) -> bool:
    """Write the configuration of a new run, or check that an old run takes this one.

    Parameters
    ----------
    path
        The manifest of the run.
    configuration
        Everything that decides the result, as JSON would hold it.
    notes
        Further facts of the session, such as versions; never compared.

    Returns
    -------
    bool
        Whether the manifest has this configuration now. False where it adds models to the run:
        `write_configuration` is then called with the result, so that a session that fails leaves
        the run as it was.

    Raises
    ------
    RunError
        When the run has another configuration, or its manifest cannot be read.
    """
    requested = json.loads(_json(configuration))
    stored = RunFolder(path.parent).read_configuration()
    if stored is None:
        write_configuration(path, configuration, notes)
    elif stored != requested and not _adds_models(stored, requested):
        raise _other_configuration(path.parent, stored, requested)
    return stored is None or stored == requested


def write_configuration(
    path: Path, configuration: Mapping[str, object], notes: Mapping[str, object]
) -> None:
    """Write the manifest of a run; readers see the old one or all of the new."""
    manifest = {"format": FORMAT, "notes": notes, "question": configuration}
    files.write_atomically(path, _json(manifest) + "\n")


def _adds_models(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether a configuration is the stored one with further models in its lists.

    Examples
    --------
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["a", "c", "b"]})
    True
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["b", "a"]})
    False
    """
    return stored.keys() == requested.keys() and all(
        stored[name] == requested[name]
        or (name in GROWING and _is_within(stored[name], requested[name]))
        for name in stored
    )


def _is_within(some: Any, more: Any) -> bool:
    """Whether the entries of a list are in another one, in their order."""
    remaining = iter(more) if isinstance(more, list) else iter(())
    return isinstance(some, list) and all(entry in remaining for entry in some)


def _form(configuration: Mapping[str, Any]) -> object:
    """How language models choose: see `scope.models.options.Asking`."""
    return configuration.get("settings", {}).get("ask", "words")


def _read(path: Path) -> dict[str, Any] | None:
    text = files.read_text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise files.damaged(path, str(error)) from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("question"), dict):
        raise files.damaged(path, "it contains no configuration")
    if manifest.get("format") != FORMAT:
        raise RunError(
            f"`{path}` has format {manifest.get('format')!r}",
            expected=f"format {FORMAT}",
            fix="continue with the release of SCoPE that started the run, or choose "
            "another --run name",
        )
    return manifest


def _json(value: object) -> str:
    return json.dumps(
        value, allow_nan=False, default=dict, ensure_ascii=False, indent=1, sort_keys=True
    )


def said_differences(
    stored: object, requested: object, in_stored: str = "in the run", in_given: str = "here"
) -> str:
    """The first differences of two configurations by dotted key, and how many more there are.

    Examples
    --------
    >>> said_differences({"seed": 0, "data": {"n": 5}}, {"seed": 1, "data": {"n": 5, "k": None}})
    'data.k is absent in the run, null here; seed is 0 in the run, 1 here'
    """
    old, new = _entries(stored), _entries(requested)
    differences = [
        f"{key.removeprefix('settings.')} is {_shown(old, key)} {in_stored}, "
        f"{_shown(new, key)} {in_given}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    shown = "; ".join(differences[:_SHOWN_DIFFERENCES])
    rest = len(differences) - _SHOWN_DIFFERENCES
    return f"{shown}; and {rest} more" if rest > 0 else shown


def _shown(entries: Mapping[str, str], key: str) -> str:
    text = entries.get(key, "absent")
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _entries(value: object, key: str = "") -> dict[str, str]:
    """The values of nested dicts and lists, as JSON by dotted key, such as ``targets[0].spec``."""
    inner: dict[str, Any] = {}
    if isinstance(value, dict):
        inner = {f"{key}.{name}" if key else name: entry for name, entry in value.items()}
    elif isinstance(value, list):
        inner = {f"{key}[{place}]": entry for place, entry in enumerate(value)}
    if not inner:
        return {key: json.dumps(value, ensure_ascii=False)}
    return {name: text for at, entry in inner.items() for name, text in _entries(entry, at).items()}


def _other_configuration(
    folder: Path, stored: Mapping[str, Any], requested: Mapping[str, Any]
) -> RunError:
    differences = said_differences(stored, requested)
    if {_form(stored), _form(requested)} == {"letters", "words"}:
        return RunError(
            f"run `{folder.name}` asks its models for {_form(stored)}; with these models all would "
            f"be asked for {_form(requested)} ({differences})",
            expected="models that can be asked as those of the run: endpoints answer with letters "
            "alone, and models of one verdict are asked alike",
            fix="choose another name with --run: all models are then asked anew",
        )
    return RunError(
        f"run `{folder.name}` was started with different arguments: {differences}",
        expected="the arguments with which the run was started, or the same with further "
        f"{', '.join(GROWING[:-1])} or {GROWING[-1]}",
        fix=f"choose another name with --run, or delete the folder `{folder}`",
    )


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
