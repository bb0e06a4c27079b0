"""The SQLite table of everything that is kept: answers, searches, vectors, places of latents.

An entry is text under a key: a hash of its kind, its owner and its content. The owner names all
that decides the value beside the content, such as a model. Any number of processes may read and
write at once, and what was written survives a kill. A run has such a table in its folder, runs
share one in SCoPE's cache folder, and each model's latents have one as their index.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from scope.errors import RunError
from scope.store.files import damaged, guarded, reading, require_file, require_tables, tables_in

Value = TypeVar("Value")

Kind = Literal["answers", "searches", "vectors", "latents", "facts"]

VERSION = 9

# "SCoP" in ASCII: distinguishes SCoPE's databases from those of other programs.
APPLICATION = 0x53436F50

SECONDS_TO_WAIT = 5.0
_BYTES_BESIDE_THE_VALUE = 64
"""About what a row and its place in the index take."""

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_KEYS_A_QUERY = 900

_SCHEMA = """
CREATE TABLE entries (
    key BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    used INTEGER NOT NULL
);
CREATE INDEX entries_by_use ON entries (used);
"""


class Portion(NamedTuple):
    """Entries that were last used at one time, in seconds since 1970, and their size in bytes."""

    used: int
    bytes: int


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
    rebuilt
        What may be deleted if the table is damaged: a file or folder of the cache, which is then
        rebuilt. None for the table of a run, which only this process writes.

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
        self, path: Path, rebuilt: Path | None = None, seconds_to_wait: float | None = None
    ) -> None:
        self._path, self._rebuilt = path, rebuilt
        self._seconds = SECONDS_TO_WAIT if seconds_to_wait is None else seconds_to_wait
        self._now = int(time.time())
        self._read: set[bytes] = set()
        with self._guarded(), ExitStack() as unless_prepared:
            for ending in ("", "-journal", "-wal", "-shm"):
                require_file(path.with_name(path.name + ending))
            if rebuilt:
                path.parent.mkdir(parents=True, exist_ok=True)
                unless_prepared.enter_context(self._only_one_creates())
            self._connection = sqlite3.connect(path, timeout=self._seconds)
            # Damaged text is shown in place of failing on it.
            self._connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            closing = unless_prepared.enter_context(ExitStack())
            closing.callback(self._connection.close)
            self._prepare()
            closing.pop_all()

    def _only_one_creates(self) -> AbstractContextManager[object]:
        """SQLite does not wait where two processes at once turn a new file to its write log."""
        from filelock import FileLock

        return FileLock(self._path.with_suffix(".lock"), timeout=self._seconds)

    def _prepare(self) -> None:
        application, version = self._pragma("application_id"), self._pragma("user_version")
        new = (application, version) == (0, 0) and not tables_in(self._connection)
        if not new and (application, version) != (APPLICATION, VERSION):
            if self._rebuilt:
                raise damaged(self._path, f"its format is {version}, {VERSION} is known")
            raise _foreign(self._path, application, version)
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
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
        require_tables(self._connection, self._path, _SCHEMA)
        # The shared table may have gigabytes, of which a run reads little.
        if not self._rebuilt and (complaint := self._pragma("quick_check(1)")) != "ok":
            raise damaged(self._path, str(complaint))

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
            if keys and self._rebuilt:
                with self._guarded(), self._connection:
                    self._connection.executemany(
                        "UPDATE entries SET used = ? WHERE key = ?",
                        [(self._now, key) for key in sorted(keys)],
                    )
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the table and write nothing: something is wrong with it."""
        with guarded(self._path):
            self._connection.close()

    def get(
        self, kind: Kind, owner: str, contents: Iterable[str], read: Callable[[str], Value]
    ) -> dict[str, Value]:
        """The values that are known, by content, as ``read`` makes them of their text."""
        by_key = {_key(kind, owner, content): content for content in contents}
        remaining = iter(by_key)
        found = {}
        with self._guarded():
            while batch := tuple(islice(remaining, _KEYS_A_QUERY)):
                marks = ",".join("?" * len(batch))
                for key, value in self._connection.execute(
                    f"SELECT key, value FROM entries WHERE key IN ({marks})",  # noqa: S608 - marks
                    batch,
                ):
                    found[by_key[key]] = read(value)
                    self._read.add(key)
        return found

    def put(
        self, kind: Kind, owner: str, values: Mapping[str, str], *, replace: bool = False
    ) -> None:
        """Keep values by content; what is known stays as it is, unless it is to be replaced.

        When this returns they survive a kill; when it fails none of them is kept.
        """
        # In the order of the tree, so that neighbours are written together.
        rows = sorted((_key(kind, owner, content), value) for content, value in values.items())
        conflict = "REPLACE" if replace else "IGNORE"
        with self._guarded(), self._connection:
            self._connection.executemany(
                f"INSERT OR {conflict} INTO entries VALUES (?, ?, ?, ?)",  # noqa: S608 - own words
                [(key, kind, value, self._now) for key, value in rows],
            )

    def take_from(self, path: Path) -> None:
        """Add all entries of another table; what is already known stays as it is."""
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
            "SELECT coalesce(sum(CASE kind WHEN 'searches' THEN json_array_length(value) END), 0), "
            "count(CASE kind WHEN 'answers' THEN 1 END) FROM entries"
        )
        with self._guarded():
            return Held(*self._connection.execute(query).fetchone())

    def count(self, kind: Kind) -> tuple[int, int]:
        """How many entries of a kind there are, and their size in bytes."""
        with self._guarded():
            entries, letters = self._connection.execute(
                "SELECT count(*), coalesce(sum(length(CAST(value AS BLOB))), 0) "
                "FROM entries WHERE kind = ?",
                (kind,),
            ).fetchone()
        return entries, letters + entries * _BYTES_BESIDE_THE_VALUE

    def contains_other(self, kind: Kind, prefix: str, value: str) -> bool:
        """Whether a kind has a value with this beginning that is not ``value``."""
        query = "SELECT 1 FROM entries WHERE kind = ? AND instr(value, ?) = 1 AND value != ?"
        with self._guarded():
            return self._connection.execute(query, (kind, prefix, value)).fetchone() is not None

    def portions(self) -> list[Portion]:
        """The entries by the time of their last use, the oldest first."""
        with self._guarded():
            rows = self._connection.execute(
                "SELECT used, sum(length(CAST(value AS BLOB)) + ?) FROM entries "
                "GROUP BY used ORDER BY used",
                (_BYTES_BESIDE_THE_VALUE,),
            )
            return [Portion(*row) for row in rows]

    def remove_unused_since(self, used: int) -> None:
        """Remove the entries that were last used then or before, and give back their space."""
        self._remove("used <= ?", used)

    def clear(self, kind: Kind) -> None:
        """Remove all entries of a kind, and give back their space."""
        self._remove("kind = ?", kind)

    def _remove(self, where: str, value: object) -> None:
        with self._guarded():
            with self._connection:
                self._connection.execute(f"DELETE FROM entries WHERE {where}", (value,))  # noqa: S608 - own names
            # As a script: executed alone, it gives back one page.
            self._connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint;")

    def _guarded(self) -> AbstractContextManager[None]:
        return in_cache(self._rebuilt) if self._rebuilt else reading(self._path)


@contextmanager
def in_cache(path: Path) -> Iterator[None]:
    """Turns every error of a file or folder in the cache into one that gives a fix."""
    try:
        with reading(path):
            yield
    except RunError as error:
        raise type(error)(
            error.found,
            expected="a file or folder of SCoPE's cache",
            fix=f"delete `{path}`, which is then rebuilt, or set the "
            "environment variable SCOPE_CACHE to another folder",
        ) from error


def _foreign(path: Path, application: int, version: int) -> RunError:
    if application == APPLICATION:
        return RunError(
            f"`{path}` has version {version}",
            expected=f"version {VERSION}",
            fix="continue with the release of SCoPE that started the run, or choose "
            "another --run name",
        )
    return RunError(
        f"`{path}` is a database of another program (application {application:#x})",
        expected="a run that SCoPE started, or a new name",
        fix="choose another name with --run",
    )


def _key(kind: Kind, owner: str, content: str) -> bytes:
    """Sixteen bytes: two of 10**12 entries share a key with a chance of one in 10**14."""
    return blake2b(json.dumps([kind, owner, content]).encode(), digest_size=16).digest()


def cache_name(fingerprint: str) -> str:
    """The name of a file or folder for what is kept under a fingerprint."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", fingerprint)
    if name != fingerprint or not name.strip("."):
        # Two fingerprints must not come to share a name.
        name = blake2b(fingerprint.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return name


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
        When it is not such a record.
    """
    return _reader(kind).validate_json(stored, strict=True)


@cache
def _reader(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
