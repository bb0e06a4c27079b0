"""The answers and searches of a run in one SQLite file; stored rows survive a kill."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from scope.checksums import checksum
from scope.errors import RunError
from scope.protocols import Role
from scope.records import Answer, Perturbation, Prediction, Question
from scope.store.files import damaged, guarded, opening, require_file, require_tables, tables_in
from scope.store.keyed import as_kept, connect, key_of, look_up, whole_rows

VERSION = 7

# "SCoP" in ASCII: tells our databases from those of other programs.
APPLICATION = 0x53436F50

Stored = TypeVar("Stored", Answer, Prediction)

# Plain types, as they are read back: a capability may give numbers of NumPy.
_FIELDS = {
    "example_id": str, "trial": int, "text": str, "score": float, "queries": int, "spared": int,
    "failure": str, "similarity": float, "compared": int, "applicable": int,
}  # fmt: skip

_MODEL = "SELECT id FROM models WHERE fingerprint = ?"

# Without rowid the key is the table's own tree, so that a text costs one entry and no index.
# Texts are kept as hashes: a run asks millions of them, and only looks them up.
# Each row has a checksum over its key and all else in it; a model's number is none of it, but its
# fingerprint is.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    computed TEXT NOT NULL
);
CREATE TABLE predictions (
    model INTEGER NOT NULL REFERENCES models (id),
    text BLOB NOT NULL,
    probabilities BLOB NOT NULL,
    truncated INTEGER NOT NULL,
    tokens TEXT,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, text)
) WITHOUT ROWID;
CREATE TABLE perturbations (
    capability TEXT NOT NULL,
    example_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    text TEXT,
    score REAL,
    queries INTEGER NOT NULL,
    spared INTEGER NOT NULL,
    failure TEXT,
    similarity REAL,
    compared INTEGER NOT NULL,
    applicable INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (capability, example_id, trial)
) WITHOUT ROWID;
CREATE TABLE answers (
    model TEXT NOT NULL,
    question BLOB NOT NULL,
    answer TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, question)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""


_TAKE = (
    "INSERT INTO models (fingerprint, computed) SELECT fingerprint, computed FROM other.models "
    "WHERE true ON CONFLICT (fingerprint) DO UPDATE SET computed = '' "
    "WHERE computed != excluded.computed",
    "INSERT INTO predictions SELECT models.id, theirs.text, theirs.probabilities, "
    "theirs.truncated, theirs.tokens, theirs.checksum FROM other.predictions AS theirs "
    "JOIN other.models AS named ON theirs.model = named.id "
    "JOIN main.models AS models ON models.fingerprint = named.fingerprint "
    "WHERE true ON CONFLICT DO NOTHING",
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

    A row that does not match its checksum is removed when it is read, and counted in ``damaged``:
    what it held is unknown then, and is found again.

    Raises
    ------
    RunError
        When the file is damaged as a whole, of another release, or of another program.

    Examples
    --------
    >>> database = Database(Path(":memory:"))
    >>> database.put("model", {"good": Prediction(probabilities=(0.25, 0.75))})
    >>> database.get("model", ["good", "bad"])
    {'good': Prediction(probabilities=(0.25, 0.75), truncated=False, tokens=())}
    >>> database.close()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damaged = 0
        with opening(path):
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

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        with guarded(self._path):
            self._connection.close()

    def count(self) -> Held:
        """How many rows there are."""
        with guarded(self._path):
            searches, predictions, answers = self._connection.execute(
                "SELECT (SELECT count(*) FROM perturbations), "
                "(SELECT count(*) FROM predictions), (SELECT count(*) FROM answers)"
            ).fetchone()
        return Held(searches, predictions + answers)

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions of one model that are known, by text."""
        with guarded(self._path):
            row = self._connection.execute(_MODEL, (fingerprint,)).fetchone()
            if row is None:
                return {}
            by_key = {_key(text): text for text in texts}
            query = (
                "SELECT text, probabilities, truncated, tokens, checksum FROM predictions "
                "WHERE model = ? AND text IN"
            )
            rows = whole_rows(look_up(self._connection, query, row, by_key), fingerprint)
            self._remove(
                "predictions WHERE model = ? AND text = ?", [(*row, key) for key in rows.damaged]
            )
            return {by_key[key]: _unpack(*stored) for key, stored in rows.whole.items()}

    def _remove(self, where: str, keys: Sequence[tuple[Any, ...]]) -> None:
        """Remove and count damaged rows, so that what they held can be kept anew."""
        if keys:
            with self._connection:
                places = [tuple(map(as_kept, key)) for key in keys]
                self._connection.executemany(f"DELETE FROM {where}", places)  # noqa: S608 - own names
            self.damaged += len(keys)

    def put(
        self, fingerprint: str, predictions: Mapping[str, Prediction], computed: str = ""
    ) -> None:
        """Keep predictions; what is already known stays as it is.

        When this returns they survive a kill; when it fails none of them is kept.

        Parameters
        ----------
        computed
            What decides them beside what is asked; unknown by default.
        """
        with guarded(self._path), self._connection:
            self._connection.execute(
                "INSERT INTO models (fingerprint, computed) VALUES (?, ?) ON CONFLICT (fingerprint)"
                " DO UPDATE SET computed = '' WHERE computed != excluded.computed",
                (fingerprint, _key(computed).hex() if computed else ""),
            )
            row = self._connection.execute(_MODEL, (fingerprint,)).fetchone()
            if row is None:
                raise damaged(self._path, "its table of models and their index disagree")
            # In the order of the tree, so that neighbours are written together.
            keyed = sorted((_key(text), text) for text in predictions)
            packed = ((key, *_pack(predictions[text])) for key, text in keyed)
            self._connection.executemany(
                "INSERT INTO predictions VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ((row[0], *values, checksum(fingerprint, *values)) for values in packed),
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

    def is_computed(self, fingerprint: str, computed: str) -> bool:
        """Whether this decides all predictions of a model that are kept; true where none is."""
        with guarded(self._path):
            row = self._connection.execute(
                "SELECT computed FROM models WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        return row is None or row[0] == _key(computed).hex()

    def get_answers(
        self, model: str, role: Role, questions: Sequence[Question]
    ) -> dict[int, Answer]:
        """The answers of one model that are known, by the question's place in the sequence.

        Questions are known by what they say, not by their id: the same words have one answer.
        """
        with guarded(self._path):
            keys = [_question_key(role, one) for one in questions]
            query = "SELECT question, answer, checksum FROM answers WHERE model = ? AND question IN"
            distinct = dict.fromkeys(keys)
            rows = whole_rows(look_up(self._connection, query, (model,), distinct), model)
            self._remove(
                "answers WHERE model = ? AND question = ?", [(model, key) for key in rows.damaged]
            )
            return {
                place: read_record(Answer, *rows.whole[key])
                for place, key in enumerate(keys)
                if key in rows.whole
            }

    def put_answers(
        self, model: str, role: Role, answers: Sequence[tuple[Question, Answer]]
    ) -> None:
        """Keep answers; what is already known stays as it is."""
        with guarded(self._path), self._connection:
            rows = [
                (model, _question_key(role, question), as_row(answer))
                for question, answer in answers
            ]
            self._connection.executemany(
                "INSERT INTO answers VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(*row, checksum(*row)) for row in rows],
            )

    def perturbations(self, capability: str) -> dict[tuple[str, int], Perturbation]:
        """What the search of a capability has found so far, by example and trial."""
        with guarded(self._path):
            rows = self._connection.execute(
                f"SELECT {', '.join(_FIELDS)}, checksum FROM perturbations "  # noqa: S608 - own names
                "WHERE capability = ? ORDER BY example_id, trial",
                (capability,),
            )
            found, wrong = {}, []
            for *values, known in rows:
                if checksum(capability, *values) == known:
                    *most, applicable = values
                    one = Perturbation(
                        **dict(zip(_FIELDS, most, strict=False)), applicable=bool(applicable)
                    )
                    found[one.example_id, one.trial] = one
                else:
                    wrong.append((capability, *values[:2]))
            self._remove(
                "perturbations WHERE capability = ? AND example_id = CAST(? AS TEXT) AND trial = ?",
                wrong,
            )
            return found

    def add_perturbations(self, capability: str, perturbations: Iterable[Perturbation]) -> None:
        """Keep what the search has found; what is already known stays as it is."""
        with guarded(self._path), self._connection:
            rows = map(_row, perturbations)
            self._connection.executemany(
                "INSERT INTO perturbations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                ((capability, *row, checksum(capability, *row)) for row in rows),
            )


def _row(one: Perturbation) -> tuple[str | int | float | None, ...]:
    given = {name: getattr(one, name) for name in _FIELDS}
    return tuple(
        None if given[name] is None else kind(given[name]) for name, kind in _FIELDS.items()
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


def _key(text: str) -> bytes:
    return key_of(text.encode())


def content_of(role: Role, asked: str | Question) -> str:
    """What a model is asked in a role, which decides its answer: the id of a question does not."""
    said = [asked] if isinstance(asked, str) else [asked.text, asked.context, asked.options]
    return json.dumps([role, *said])


def _question_key(role: Role, question: Question) -> bytes:
    return key_of(content_of(role, question).encode())


def _pack(prediction: Prediction) -> tuple[bytes, int, str | None]:
    probabilities = prediction.probabilities
    packed = struct.pack(f"<{len(probabilities)}d", *probabilities)
    tokens = json.dumps(prediction.tokens) if prediction.tokens else None
    return packed, int(prediction.truncated), tokens


def _unpack(packed: bytes, truncated: int, tokens: str | None) -> Prediction:
    return Prediction(
        probabilities=struct.unpack(f"<{len(packed) // 8}d", packed),
        truncated=bool(truncated),
        tokens=tuple(json.loads(tokens)) if tokens else (),
    )


def as_row(record: Answer | Prediction) -> str:
    """A record as JSON, to the last bit of its numbers."""
    return json.dumps(asdict(record), ensure_ascii=False)


def read_record(kind: type[Stored], stored: str) -> Stored:
    """The record that was written.

    Examples
    --------
    >>> read_record(Answer, as_row(Answer(choice=1, probabilities=(0.25, 0.75)))).probabilities
    (0.25, 0.75)
    """
    fields: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one
        for name, one in json.loads(stored).items()
    }
    return kind(**fields)
