"""The SQLite table of everything that is kept: answers, searches, vectors and latents.

An entry is text, or numbers as bytes, under a key: a hash of its kind, its owner and its content.
The owner names all that decides the value beside the content, such as a model. Any number of
processes may read and write at once, and what was written survives a kill. A run has such a table
in its folder, and runs share one in SCoPE's cache folder.

The table that runs share in SCoPE's folder: its contents, its limit and its removal.

When the table exceeds its limit, the least recently used entries are removed first.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args
from uuid import uuid4

from scope.errors import DamagedError, RunError, SpecError
from scope.paths import CacheKind
from scope.records.result import OBJECT
from scope.store.files import damaged, guarded, reading, require_file

Value = TypeVar("Value")

Kind = Literal["answers", "searches", "vectors", "latents", "facts"]

_HERE = f" of the process {uuid4().hex}"
"""Added to the kind of what a run keeps of objects of Python that this process alone knows."""

VERSION = 9

# "SCoP" in ASCII: distinguishes SCoPE's databases from those of other programs.
APPLICATION = 0x53436F50

SECONDS_TO_WAIT = 5.0
SECONDS_IN_USE = 24 * 3600
"""Latents that were used so recently may still be read: they are not removed for their size."""

_NOT_IN_USE = "(kind != 'latents' OR used < ?)"

# Of blobs SQLite knows the length without reading them.
_SIZE = "CASE typeof(value) WHEN 'blob' THEN length(value) ELSE length(CAST(value AS BLOB)) END"

_BYTES_BESIDE_THE_VALUE = 64
"""About what a row and its place in the index take."""

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_KEYS_A_QUERY = 900

_SCHEMA = (
    """CREATE TABLE entries (
    key BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    used INTEGER NOT NULL
)""",
    "CREATE INDEX entries_by_use ON entries (used)",
)


class Held(NamedTuple):
    """How many perturbations were searched, and how many answers of models are kept.

    Examples
    --------
    >>> print(Held(searches=456, answers=1234))
    456 searches and 1,234 answers
    """

    searches: int
    answers: int

    def __str__(self) -> str:
        searches = f"{self.searches:,} search{'' if self.searches == 1 else 'es'}"
        return f"{searches} and {self.answers:,} answer{'' if self.answers == 1 else 's'}"


class Table:
    """Entries by kind, owner and content, for one thread.

    Parameters
    ----------
    path
        The database; made if there is none.
    cached
        Whether it is the table that runs share, which may be deleted if it is damaged. The table
        of a run is written by this process alone, and checked as a whole when it is opened.

    Raises
    ------
    RunError
        When the file is damaged, of another release or program, or cannot be read or written.

    Examples
    --------
    >>> with Table(Path(":memory:")) as table:
    ...     table.put("answers", "model", {"good": "0.75"})
    ...     table.get("answers", "model", ["good", "bad"], float)
    {'good': 0.75}
    """

    def __init__(
        self, path: Path, *, cached: bool = False, seconds_to_wait: float | None = None
    ) -> None:
        self.path, self._cached = path, cached
        self._seconds = SECONDS_TO_WAIT if seconds_to_wait is None else seconds_to_wait
        self._now = int(time.time())
        self._read: set[bytes] = set()
        with self.guarded(), ExitStack() as unless_prepared:
            for ending in ("", "-journal", "-wal", "-shm"):
                require_file(path.with_name(path.name + ending))
            if cached:
                path.parent.mkdir(parents=True, exist_ok=True)
                unless_prepared.enter_context(self._only_one_creates())
            self._connection = sqlite3.connect(path, timeout=self._seconds)
            # Damaged text is shown; it does not fail.
            self._connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            closing = unless_prepared.enter_context(ExitStack())
            closing.callback(self._connection.close)
            self._prepare()
            closing.pop_all()

    def _only_one_creates(self) -> AbstractContextManager[object]:
        """SQLite does not wait where two processes at once turn a new file to its write log."""
        from filelock import FileLock

        return FileLock(self.path.with_suffix(".lock"), timeout=self._seconds)

    def _prepare(self) -> None:
        application, version = self._pragma("application_id"), self._pragma("user_version")
        rows = self._connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        made = {sql for (sql,) in rows}
        new = (application, version) == (0, 0) and not made
        if not new and (application, version) != (APPLICATION, VERSION):
            if self._cached:
                raise damaged(self.path, f"its format is {version}, {VERSION} is known")
            raise _foreign(self.path, application, version)
        if new:
            # So that space is given back when entries go; it must stand before any table.
            self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # What a commit has handed to the operating system survives the death of this process.
        # Only a power cut may lose the last commits under NORMAL, and then the database is
        # whole all the same and the run asks for what is missing again.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(f"PRAGMA cache_size = {-32 * 1024}")  # negative: in KiB
        if new:
            self._connection.executescript(
                f"BEGIN IMMEDIATE; {'; '.join(_SCHEMA)}; PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
        elif made != set(_SCHEMA):
            raise damaged(self.path, "its tables differ from SCoPE's")
        # The shared table may have gigabytes, of which a run reads little.
        if not self._cached and (complaint := self._pragma("quick_check(1)")) != "ok":
            raise damaged(self.path, str(complaint))

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Note which entries of a cache were read, and close it; closing twice does nothing."""
        keys, self._read = self._read, set()
        try:
            if keys:
                with self.guarded(), self._connection:
                    self._connection.executemany(
                        "UPDATE entries SET used = ? WHERE key = ?",
                        [(self._now, key) for key in sorted(keys)],
                    )
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the table and write nothing: something is wrong with it."""
        with guarded(self.path):
            self._connection.close()

    def get(
        self, kind: Kind, owner: str, contents: Iterable[str], read: Callable[[Any], Value]
    ) -> dict[str, Value]:
        """The known values by content; ``read`` converts the stored text."""
        with self.guarded():
            values = dict(self.each(kind, owner, contents, read))
        if self._cached:
            self._read.update(_key(kind, owner, content) for content in values)
        return values

    def each(
        self, kind: Kind, owner: str, contents: Iterable[str], read: Callable[[Any], Value]
    ) -> Iterator[tuple[str, Value]]:
        """The same one by one, which does not count as use; to be read inside `guarded`."""
        by_key = {_key(kind, owner, content): content for content in contents}
        remaining = iter(by_key)
        while batch := tuple(islice(remaining, _KEYS_A_QUERY)):
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, value FROM entries WHERE key IN ({marks})"  # noqa: S608 - marks
            for key, value in self._connection.execute(query, batch):
                yield by_key[key], read(value)

    def put(self, kind: Kind, owner: str, values: Mapping[str, str | bytes]) -> None:
        """Store values by content; known values do not change.

        When this returns, they survive a kill; when it fails, none is stored.
        """
        # In the order of the tree, so that neighbours are written together.
        rows = sorted((_key(kind, owner, content), value) for content, value in values.items())
        named = f"{kind}{_HERE}" if OBJECT in owner and not self._cached else kind
        with self.guarded(), self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)",
                [(key, named, value, self._now) for key, value in rows],
            )

    def take_from(self, path: Path) -> None:
        """Add all entries of another table; known values do not change."""
        with guarded(path):
            if not path.is_file():
                raise damaged(path, "the file is missing")
        Table(path).close()  # refuses a foreign or damaged one
        with guarded(path):
            self._connection.execute("ATTACH DATABASE ? AS other", (str(path),))
            try:
                with self._connection:
                    self._connection.execute(
                        "INSERT OR IGNORE INTO entries SELECT * FROM other.entries"
                    )
            finally:
                self._connection.execute("DETACH DATABASE other")

    def held(self) -> Held:
        """How many searches, each a trial of an example, and answers there are."""
        query = (
            "SELECT coalesce(sum(CASE WHEN kind LIKE 'searches%' THEN json_array_length(value) "
            "END), 0), count(CASE WHEN kind LIKE 'answers%' THEN 1 END) FROM entries"
        )
        with self.guarded():
            return Held(*self._connection.execute(query).fetchone())

    def count(self, kind: Kind) -> tuple[int, int]:
        """How many entries of a kind there are, and their size in bytes."""
        with self.guarded():
            entries, letters = self._connection.execute(
                f"SELECT count(*), coalesce(sum({_SIZE}), 0) FROM entries WHERE kind = ?",  # noqa: S608 - own words
                (kind,),
            ).fetchone()
        return entries, letters + entries * _BYTES_BESIDE_THE_VALUE

    def contains_other(self, kind: Kind, prefix: str, value: str) -> bool:
        """Whether a kind has a value with this beginning that is not ``value``."""
        query = "SELECT 1 FROM entries WHERE kind = ? AND instr(value, ?) = 1 AND value != ?"
        with self.guarded():
            return self._connection.execute(query, (kind, prefix, value)).fetchone() is not None

    def remove_oldest(self, excess: int) -> None:
        """Remove the least recently used entries: at least this many bytes, or all there are."""
        in_use, last = self._now - SECONDS_IN_USE, -1
        with self.guarded():
            sizes = self._connection.execute(
                f"SELECT used, sum({_SIZE} + ?) FROM entries WHERE {_NOT_IN_USE} "  # noqa: S608 - own words
                "GROUP BY used ORDER BY used",
                (_BYTES_BESIDE_THE_VALUE, in_use),
            )
            for used, size in sizes:
                if excess <= 0:
                    break
                last, excess = used, excess - size
        self._remove(f"used <= ? AND {_NOT_IN_USE}", last, in_use)

    def forget_objects(self) -> None:
        """Remove what other processes kept of objects of Python that they alone knew."""
        self._remove("kind LIKE '% %' AND kind NOT LIKE ?", f"%{_HERE}")

    def clear(self, kind: Kind) -> None:
        """Remove all entries of a kind, and give back their space."""
        self._remove("kind = ?", kind)

    def _remove(self, where: str, *values: object) -> None:
        with self.guarded():
            with self._connection:
                self._connection.execute(f"DELETE FROM entries WHERE {where}", values)  # noqa: S608 - own names
            # As a script: executed alone, it gives back one page.
            self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint;")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turns every error of the table into one that gives a fix."""
        try:
            with reading(self.path):
                yield
        except RunError as error:
            if not self._cached:
                raise
            raise type(error)(
                error.found,
                expected="a file of answers that runs share",
                fix=f"delete `{self.path}`, which is then rebuilt, or set the "
                "environment variable SCOPE_CACHE to another folder",
            ) from error


def _foreign(path: Path, application: int, version: int) -> RunError:
    ours = application == APPLICATION
    program = f"is a database of another program (application {application:#x})"
    earlier = "continue with the release of SCoPE that started the run, or " if ours else ""
    return RunError(
        f"`{path}` {f'has version {version}' if ours else program}",
        expected=f"version {VERSION}" if ours else "a run that SCoPE started, or a new name",
        fix=f"{earlier}choose another name with --run",
    )


def _key(kind: Kind, owner: str, content: str) -> bytes:
    """Sixteen bytes: two of 10**12 entries share a key with a chance of one in 10**14."""
    return blake2b(json.dumps([kind, owner, content]).encode(), digest_size=16).digest()


def as_row(record: Any) -> str:
    """A record, or a list of them, as JSON, to the last bit of its numbers.

    A capability may give numbers of NumPy.
    """
    from dataclasses import asdict

    plain = list(map(asdict, record)) if isinstance(record, list) else asdict(record)
    return json.dumps(plain, ensure_ascii=False, default=lambda number: number.item())


def read_row(kind: Any, stored: str) -> Any:
    """The record of this type, or list of them, that was written.

    Examples
    --------
    >>> from scope.records import Answer
    >>> read_row(Answer, as_row(Answer(choice=1, probabilities=(0.25, 0.75)))).probabilities
    (0.25, 0.75)

    Raises
    ------
    ValueError
        When it is not a record of this kind.
    """
    return _reader(kind).validate_json(stored, strict=True)


@cache
def _reader(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


DEFAULT_LIMIT = "5 GB"

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class CacheSize(NamedTuple):
    """How many entries of a kind there are, and about how many bytes they take."""

    kind: CacheKind
    entries: int
    bytes: int


def answer_file(folder: Path) -> Path:
    """The file of all that runs share."""
    return folder / "shared-answers.sqlite"


def shared_table(folder: Path, seconds_to_wait: float | None = None) -> Table:
    """The table that runs share.

    Raises
    ------
    RunError
        When it is damaged, or cannot be read or written.
    """
    return Table(answer_file(folder), cached=True, seconds_to_wait=seconds_to_wait)


def size_limit() -> int:
    """The most bytes of the table: the variable SCOPE_CACHE_LIMIT, such as 500MB.

    Raises
    ------
    SpecError
        When the variable is not a size.
    """
    limit = os.environ.get("SCOPE_CACHE_LIMIT") or DEFAULT_LIMIT
    parts = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)B?", limit.strip(), re.IGNORECASE)
    if parts is None:
        raise SpecError(
            f"SCOPE_CACHE_LIMIT={limit}",
            expected="a number of bytes, or of KB, MB, GB or TB; 0 shares nothing across runs",
            fix="write for example SCOPE_CACHE_LIMIT=5GB, or unset it",
        )
    return int(float(parts[1]) * _UNITS[parts[2].upper()])


def bytes_of_cache(folder: Path) -> int:
    """The size of the table; 0 where there is none."""
    file = answer_file(folder)
    return file.stat().st_size if file.is_file() else 0


def sizes(folder: Path) -> list[CacheSize]:
    """What the table holds, by kind.

    Raises
    ------
    RunError
        When it cannot be read.
    """
    if not answer_file(folder).exists():
        return [CacheSize(kind, 0, 0) for kind in get_args(CacheKind)]
    with shared_table(folder) as table:
        return [CacheSize(kind, *table.count(kind)) for kind in get_args(CacheKind)]


def clear_cache(folder: Path, kind: CacheKind) -> None:
    """Remove all entries of a kind. No run should be using its latents.

    Raises
    ------
    RunError
        When something cannot be removed.
    """
    file = answer_file(folder)
    if not file.exists():
        return
    try:
        with shared_table(folder) as table:
            table.clear(kind)
    except DamagedError:
        # As a whole: nothing in it can be read, of any kind.
        with guarded(folder):
            for name in (f"{file.name}{ending}" for ending in ("", "-journal", "-wal", "-shm")):
                file.with_name(name).unlink(missing_ok=True)
            file.with_suffix(".lock").unlink(missing_ok=True)


def enforce_limit(folder: Path, limit: int) -> None:
    """Remove the least recently used entries until the table is within its limit.

    Raises
    ------
    RunError
        When something cannot be read or removed.
    """
    with guarded(folder):
        excess = bytes_of_cache(folder) - limit
    if excess <= 0:
        return
    with shared_table(folder) as table:
        table.remove_oldest(excess)
