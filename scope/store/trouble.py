"""Turns what the system and the database report about a run folder into errors a user can fix."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from scope.errors import RunError
from scope.paths import FORBIDDEN, FULL

_DATABASE_FORBIDDEN = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
)
_DATABASE_DAMAGED = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG}
)
_DATABASE_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})

# The database may fail to grow its shared memory just before it would call the disk full.
_HARDLY_ANY_BYTES = 1 << 20


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Raise a RunError about ``path`` for every failure of the disk or the database inside.

    Errors that can only be bugs, such as a wrong statement, pass unchanged.

    Examples
    --------
    >>> import errno
    >>> with guarded(Path("runs/x")):
    ...     raise OSError(errno.EROFS, "Read-only file system")
    Traceback (most recent call last):
    ...
    scope.errors.RunError: found:    `runs/x` cannot be written: Read-only file system
    expected: a writable folder
    fix:      choose another folder with --run, or change its permissions
    """
    try:
        yield
    except OSError as error:
        raise _from_system(path, error) from error
    except sqlite3.DatabaseError as error:
        trouble = _from_database(path, error)
        if trouble is None:
            raise
        raise trouble from error


def _from_system(path: Path, error: OSError) -> RunError:
    if error.errno in FULL:
        return _full(path)
    reason = error.strerror or str(error)
    if error.errno in FORBIDDEN:
        return _forbidden(path, reason)
    return _failing(path, reason)


def _from_database(path: Path, error: sqlite3.DatabaseError) -> RunError | None:
    # The low byte names the kind of failure, the others its particulars.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code == sqlite3.SQLITE_IOERR:
        return _full(path) if _free(path) < _HARDLY_ANY_BYTES else _failing(path, str(error))
    if code in _DATABASE_FORBIDDEN:
        return _forbidden(path, str(error))
    if code in _DATABASE_DAMAGED:
        return damaged(path, str(error))
    if code in _DATABASE_BUSY:
        return _busy(path)
    return None


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """The same while a database is opened: whatever it cannot make sense of is damage.

    The statements that open it are the same for every file, so that none of them can be wrong.
    """
    with guarded(path):
        try:
            yield
        except sqlite3.OperationalError as error:
            if _from_database(path, error):
                raise
            raise damaged(path, str(error)) from error
        except UnicodeDecodeError as error:
            # SQLite cites the damaged statement that made a table.
            raise damaged(path, "its tables have no names in UTF-8") from error


def require_file(path: Path) -> None:
    """Refuse what has a file's name and would be read without end, such as a pipe.

    Raises
    ------
    RunError
        When it is a pipe, a device or a socket.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise damaged(path, "it is not a file")


def require_tables(connection: sqlite3.Connection, path: Path, schema: str) -> None:
    """Refuse a database whose tables are not those that the schema makes.

    Raises
    ------
    RunError
        When a table is missing, foreign, or has other columns.
    """
    found = tables_in(connection)
    wrong = sorted({name for name, _ in found ^ _tables_made_by(schema)})
    if wrong:
        raise damaged(path, f"its tables differ from SCoPE's: {', '.join(wrong[:4])}")


def tables_in(connection: sqlite3.Connection) -> frozenset[tuple[str, str | None]]:
    """The tables of a database, and what else it is made of: names, and how each was made."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema")
    return frozenset((str(name), sql) for name, sql in rows)


@cache
def _tables_made_by(schema: str) -> frozenset[tuple[str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema)
        return tables_in(connection)


def damaged(path: Path, reason: str) -> RunError:
    """The error of a file in a run that was not written, or was changed, by anything but SCoPE."""
    return RunError(
        f"`{path}` is damaged: {reason}",
        expected="an unchanged file",
        fix=f"restore it from a copy, or delete the folder `{path.parent}` to start again",
    )


def _full(path: Path) -> RunError:
    return RunError(
        f"the disk is full under `{path}`: {_free(path) / 1e6:.1f} MB are free",
        expected="space for the rest of the run",
        fix="free some space and run the same command again; finished work is kept",
    )


def _forbidden(path: Path, reason: str) -> RunError:
    return RunError(
        f"`{path}` cannot be written: {reason}",
        expected="a writable folder",
        fix="choose another folder with --run, or change its permissions",
    )


def _failing(path: Path, reason: str) -> RunError:
    return RunError(
        f"`{path}` cannot be read or written: {reason}",
        expected="a folder on a working disk",
        fix="choose another folder with --run, or fix this one",
    )


def _busy(path: Path) -> RunError:
    return RunError(
        f"another program has locked `{path}`",
        expected="a database that only this run writes",
        fix="close the program that has it open and run the same command again",
    )


def _free(path: Path) -> int:
    """Free bytes on the disk of the nearest folder that exists."""
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return shutil.disk_usage(nearest).free
