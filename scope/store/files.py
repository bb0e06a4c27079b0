"""Whole files of a run, replaced in one step, its lock, and errors that a user can fix.

A kill leaves the old file or the new one. One process at a time may write a run. What the system
and the database report about a run folder becomes an error with a fix.

The configuration of a run: a run never mixes two configurations.

The manifest stores it under the key ``question``. A later session may add models, and nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from scope.errors import DamagedError, RunError
from scope.paths import FULL
from scope.printing import first_line

_UNUSABLE = (
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL),
)
"""Errors of SQLite that are not the file's; all others are damage."""

# The database may fail to grow its shared memory just before it would call the disk full.
_HARDLY_ANY_BYTES = 1 << 20


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Raise a RunError about ``path`` for every failure of the disk or the database inside.

    Examples
    --------
    >>> import errno
    >>> with guarded(Path("runs/x")):
    ...     raise OSError(errno.EROFS, "Read-only file system")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    `runs/x` cannot be read or written: Read-only file system
    expected: a folder that only this run writes, on a working disk
    fix:      choose another folder with --run, change its permissions, or close the program that \
has it open
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise (full(path) if error.errno in FULL else unusable(path, reason)) from error
    except sqlite3.DatabaseError as error:
        raise _from_database(path, error) from error


def _from_database(path: Path, error: sqlite3.DatabaseError) -> RunError:
    # The low byte names the kind of failure, the others its particulars.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    no_room = code == sqlite3.SQLITE_IOERR and free_bytes(path) < _HARDLY_ANY_BYTES
    if code == sqlite3.SQLITE_FULL or no_room:
        return full(path)
    return unusable(path, str(error)) if code in _UNUSABLE else damaged(path, str(error))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """The same while stored values are read: one that does not fit its record is damage."""
    with guarded(path):
        try:
            yield
        except (ValueError, TypeError, KeyError) as error:
            raise damaged(path, first_line(error)) from error


def require_file(path: Path) -> None:
    """Refuse a path that is neither file nor folder, such as a pipe, which has no end.

    Raises
    ------
    RunError
        When it is a pipe, a device or a socket.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise damaged(path, "it is not a file")


def damaged(path: Path, reason: str) -> DamagedError:
    """The error of a file in a run that was not written, or was changed, by anything but SCoPE."""
    return DamagedError(
        f"`{path}` is damaged: {reason}",
        expected="an unchanged file",
        fix=f"restore it from a copy, or delete the folder `{path.parent}` to start again",
    )


def full(path: Path, expected: str = "space for the rest of the run") -> RunError:
    """The error of a disk with too little room."""
    return RunError(
        f"the disk is full under `{path}`: {free_bytes(path) / 1e6:.1f} MB are free",
        expected=expected,
        fix="free some space and run the same command again; finished work is kept",
    )


def unusable(path: Path, reason: str) -> RunError:
    """The error of a file or folder that the system, or another program, keeps from this one."""
    return RunError(
        f"`{path}` cannot be read or written: {reason}",
        expected="a folder that only this run writes, on a working disk",
        fix="choose another folder with --run, change its permissions, or close the program that "
        "has it open",
    )


def free_bytes(path: Path) -> int:
    """Free bytes on the disk of the nearest folder that exists."""
    return shutil.disk_usage(nearest_folder(path)).free


def nearest_folder(path: Path) -> Path:
    """The path itself, or the first above it that exists."""
    return next(above for above in (path.absolute(), *path.absolute().parents) if above.exists())


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that every reader sees either the old content or all of the new.

    Raises
    ------
    RunError
        When the disk is full or may not be written; the old content stays.
    """
    with open_atomically(path) as file:
        file.buffer.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def open_atomically(path: Path) -> Iterator[TextIO]:
    """A text file to write to bit by bit; readers see it only when all is written.

    Raises
    ------
    RunError
        As for `write_atomically`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with guarded(path):
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the half-written files of processes that were killed."""
    with guarded(folder):
        for path in filter(is_leftover, folder.iterdir()):
            path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file of this name was being written when its process was killed."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def read_text(path: Path) -> str | None:
    """Content of a text file, or None where there is no such file.

    Raises
    ------
    RunError
        When it cannot be read, or is not text.
    """
    with guarded(path):
        require_file(path)
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise damaged(path, "it is not UTF-8 text") from error


LOCK = "run.lock"
HOLDER = "lock.txt"


class RunLock:
    """The right to write a run folder, held from construction until `release`.

    The operating system keeps the lock and drops it when the process dies, however it dies. The
    file beside it only says who holds the lock and is believed by nobody who could take it.

    Raises
    ------
    RunError
        When another process, or another part of this one, holds the run.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        self._holder = folder / HOLDER
        # A lock bound to its thread could not be released by another one at exit.
        self._lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
        with guarded(folder):
            try:
                self._lock.acquire()
            except Timeout as error:
                raise _held(folder) from error
        try:
            write_atomically(self._holder, _this_process())
        except RunError:
            self._lock.release()
            raise

    def release(self) -> None:
        """Let others write; releasing twice does nothing."""
        if not self._lock.is_locked:
            return
        try:
            with guarded(self._holder):
                self._holder.unlink(missing_ok=True)
        finally:
            self._lock.release()


def _this_process() -> str:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return f"process {os.getpid()} on {platform.node()} since {since}"


def _held(folder: Path) -> RunError:
    # The holder's file is missing for a moment.
    holder = read_text(folder / HOLDER) or "another process"
    return RunError(
        f"run `{folder.name}` is being written by {holder}",
        expected="a run that no other process writes",
        fix="wait until it has finished, or choose another name with --run",
    )


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
    stored = read_configuration(path)
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
    write_atomically(path, _json(manifest) + "\n")


def _adds_models(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether a configuration is the stored one with further models in its lists.

    Examples
    --------
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["a", "c", "b"]})
    True
    >>> _adds_models({"seed": 0, "targets": ["a", "b"]}, {"seed": 0, "targets": ["b", "a"]})
    False
    """
    if stored.keys() != requested.keys():
        return False
    return all(
        _is_within(stored[name], requested[name])
        if name in GROWING
        else stored[name] == requested[name]
        for name in stored
    )


def _is_within(some: Any, more: Any) -> bool:
    """Whether the entries of a list are in another one, in their order."""
    if not isinstance(some, list) or not isinstance(more, list):
        return bool(some == more)
    remaining = iter(more)
    return all(entry in remaining for entry in some)


def refuse_other_settings(path: Path, job: str | None, settings: Mapping[str, float]) -> None:
    """Refuse a run of another job, or with another number among its settings.

    Raises
    ------
    RunError
        When the run at this manifest is one.
    """
    stored = read_configuration(path) or {}
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
        raise _other_configuration(path.parent, {key: before[key] for key in requested}, requested)


def _form(configuration: Mapping[str, Any]) -> object:
    """How language models choose: see `scope.models.options.Asking`."""
    return configuration.get("settings", {}).get("ask", "words")


def read_configuration(path: Path) -> dict[str, Any] | None:
    """The configuration of a run, or None before the run was started.

    Raises
    ------
    RunError
        When the manifest is damaged or of another format.
    """
    manifest = _read(path)
    return None if manifest is None else manifest["question"]


def read_notes(path: Path) -> dict[str, Any]:
    """The facts stored with the configuration by the first session; empty without any.

    Raises
    ------
    RunError
        When the manifest is damaged or of another format.
    """
    notes = (_read(path) or {}).get("notes")
    return notes if isinstance(notes, dict) else {}


def _read(path: Path) -> dict[str, Any] | None:
    text = read_text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("question"), dict):
        raise damaged(path, "it contains no configuration")
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
