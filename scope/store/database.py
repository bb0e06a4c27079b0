"""The answers and searches of a run in one SQLite file; stored rows survive a kill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from scope.errors import RunError
from scope.protocols import Role
from scope.records import Answer, Perturbation, Prediction, Question
from scope.store.files import damaged, guarded, reading, require_file, require_tables, tables_in
from scope.store.keyed import connect, key_of, look_up

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 8

# "SCoP" in ASCII: tells our databases from those of other programs.
APPLICATION = 0x53436F50

Answered = TypeVar("Answered", Answer, Prediction)
Stored = TypeVar("Stored", Answer, Prediction, Perturbation)

# Without rowid the key is the table's own tree, so that a text costs one entry and no index.
# Texts are kept as hashes: a run asks millions of them, and only looks them up.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE models (
    fingerprint TEXT PRIMARY KEY,
    computed TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE answers (
    key BLOB PRIMARY KEY,
    answer TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE perturbations (
    capability TEXT NOT NULL,
    example_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    found TEXT NOT NULL,
    PRIMARY KEY (capability, example_id, trial)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""

_NOTE_MODEL = (
    "ON CONFLICT (fingerprint) DO UPDATE SET computed = '' WHERE computed != excluded.computed"
)

_TAKE = (
    f"INSERT INTO models SELECT * FROM other.models WHERE true {_NOTE_MODEL}",  # noqa: S608 - own names
    "INSERT INTO perturbations SELECT * FROM other.perturbations WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO answers SELECT * FROM other.answers WHERE true ON CONFLICT DO NOTHING",
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


class Database:
    """The growing part of a run, for one process and one thread.

    Raises
    ------
    RunError
        When the file is damaged, of another release, or of another program.

    Examples
    --------
    >>> database = Database(Path(":memory:"))
    >>> database.put("model", {"good": Prediction(probabilities=(0.25, 0.75))})
    >>> database.get("model", ["good", "bad"], Prediction)
    {'good': Prediction(probabilities=(0.25, 0.75), truncated=False, tokens=())}
    >>> database.close()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with guarded(path):
            for ending in ("", "-journal", "-wal", "-shm"):
                require_file(path.with_name(path.name + ending))
            self._connection = connect(path)
            with ExitStack() as unless_prepared:
                unless_prepared.callback(self._connection.close)
                self._prepare()
                unless_prepared.pop_all()

    def _prepare(self) -> None:
        application = self._pragma("application_id")
        version = self._pragma("user_version")
        new = (application, version) == (0, 0) and not tables_in(self._connection)
        if not new and (application, version) != (APPLICATION, VERSION):
            raise _foreign(self._path, application, version)
        # What a commit has handed to the operating system survives the death of this process.
        # Only a power cut may lose the last commits under NORMAL, and then the database is
        # whole all the same and the run asks for what is missing again.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(f"PRAGMA cache_size = {-32 * 1024}")  # negative: in KiB
        if new:
            self._connection.executescript(_SCHEMA)
        require_tables(self._connection, self._path, _SCHEMA)
        if (complaint := self._pragma("quick_check(1)")) != "ok":
            raise damaged(self._path, str(complaint))

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        with guarded(self._path):
            self._connection.close()

    def count(self) -> Held:
        """How many rows there are."""
        with guarded(self._path):
            searches, answers = self._connection.execute(
                "SELECT (SELECT count(*) FROM perturbations), (SELECT count(*) FROM answers)"
            ).fetchone()
        return Held(searches, answers)

    def get(self, model: str, contents: Iterable[str], kind: type[Answered]) -> dict[str, Answered]:
        """The answers of one model that are known, by what it was asked (see `content_of`)."""
        by_key = {_key(model, content): content for content in contents}
        with reading(self._path):
            query = "SELECT key, answer FROM answers WHERE key IN"
            rows = look_up(self._connection, query, by_key)
            return {by_key[key]: read_record(kind, answer) for key, answer in rows}

    def put(
        self, model: str, answers: Mapping[str, Answer | Prediction], computed: str = ""
    ) -> None:
        """Keep answers by what was asked; what is already known stays as it is.

        When this returns they survive a kill; when it fails none of them is kept.

        Parameters
        ----------
        computed
            What decides them beside what is asked; unknown by default.
        """
        with guarded(self._path), self._connection:
            self._connection.execute(
                f"INSERT INTO models VALUES (?, ?) {_NOTE_MODEL}",  # noqa: S608 - own names
                (model, _hash(computed)),
            )
            # In the order of the tree, so that neighbours are written together.
            self._connection.executemany(
                "INSERT INTO answers VALUES (?, ?) ON CONFLICT DO NOTHING",
                sorted((_key(model, asked), as_row(answer)) for asked, answer in answers.items()),
            )

    def take_from(self, path: Path) -> None:
        """Add all rows of another database; what is already known stays as it is."""
        with guarded(path):
            if not path.is_file():
                raise damaged(path, "the file is missing")
        Database(path).close()  # refuses a foreign or damaged one
        with guarded(path):
            self._connection.execute("ATTACH DATABASE ? AS other", (str(path),))
            try:
                with self._connection:
                    for statement in _TAKE:
                        self._connection.execute(statement)
            finally:
                self._connection.execute("DETACH DATABASE other")

    def is_computed(self, model: str, computed: str) -> bool:
        """Whether this decides all answers of a model that are kept; true where none is."""
        with guarded(self._path):
            row = self._connection.execute(
                "SELECT computed FROM models WHERE fingerprint = ?", (model,)
            ).fetchone()
        return row is None or row[0] == _hash(computed)

    def perturbations(self, capability: str) -> dict[tuple[str, int], Perturbation]:
        """What the search of a capability has found so far, by example and trial."""
        with reading(self._path):
            rows = self._connection.execute(
                "SELECT found FROM perturbations WHERE capability = ? ORDER BY example_id, trial",
                (capability,),
            )
            found = [read_record(Perturbation, row) for (row,) in rows]
        return {(one.example_id, one.trial): one for one in found}

    def add_perturbations(self, capability: str, perturbations: Iterable[Perturbation]) -> None:
        """Keep what the search has found; what is already known stays as it is."""
        with guarded(self._path), self._connection:
            self._connection.executemany(
                "INSERT INTO perturbations VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ((capability, one.example_id, one.trial, as_row(one)) for one in perturbations),
            )


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


def content_of(role: Role, asked: str | Question) -> str:
    """What a model is asked in a role, which decides its answer: the id of a question does not."""
    said = [asked] if isinstance(asked, str) else [asked.text, asked.context, asked.options]
    return json.dumps([role, *said])


def _key(model: str, content: str) -> bytes:
    return key_of(f"{model}\n{content}")


def _hash(computed: str) -> str:
    return key_of(computed).hex() if computed else ""


def as_row(record: Answer | Prediction | Perturbation) -> str:
    """A record as JSON, to the last bit of its numbers; a capability may give those of NumPy."""
    return json.dumps(asdict(record), ensure_ascii=False, default=lambda number: number.item())


def read_record(kind: type[Stored], stored: str) -> Stored:
    """The record that was written.

    Examples
    --------
    >>> read_record(Answer, as_row(Answer(choice=1, probabilities=(0.25, 0.75)))).probabilities
    (0.25, 0.75)

    Raises
    ------
    ValueError
        When it is not such a record.
    """
    read: Stored = _reader(cast(Any, kind)).validate_json(stored, strict=True)
    return read


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
