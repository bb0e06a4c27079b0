"""What a run finds as it comes, in one SQLite file; what was put survives a kill."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from scope.errors import RunError
from scope.protocols import Role
from scope.records import Answer, Perturbation, Prediction, Question
from scope.store.answers import SCHEMA as ANSWERS_SCHEMA
from scope.store.answers import read_answers, write_answers
from scope.store.trouble import guarded

VERSION = 2

# "SCoP" in ASCII: tells our databases from those of other programs.
APPLICATION = 0x53436F50

_FIELDS = ("example_id", "trial", "text", "score", "queries", "failure")

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_TEXTS_A_QUERY = 900

# Without rowid the key is the table's own tree, so that a text costs one entry and no index.
# Texts are kept as hashes: a run asks millions of them, and only looks them up.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE models (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE predictions (
    model INTEGER NOT NULL REFERENCES models (id),
    text BLOB NOT NULL,
    probabilities BLOB NOT NULL,
    truncated INTEGER NOT NULL,
    tokens TEXT,
    PRIMARY KEY (model, text)
) WITHOUT ROWID;
CREATE TABLE perturbations (
    capability TEXT NOT NULL,
    example_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    text TEXT,
    score REAL,
    queries INTEGER NOT NULL,
    failure TEXT,
    PRIMARY KEY (capability, example_id, trial)
) WITHOUT ROWID;
{ANSWERS_SCHEMA}
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""


class Database:
    """The growing part of a run, for one process and one thread.

    Raises
    ------
    RunError
        When the file is damaged, newer than this release, or of another program.

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
        with guarded(path):
            self._connection = sqlite3.connect(path)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        application = self._pragma("application_id")
        version = self._pragma("user_version")
        tables = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        new = (application, version, tables) == (0, 0, 0)
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

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        with guarded(self._path):
            self._connection.close()

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions of one model that are known, by text."""
        with guarded(self._path):
            row = self._connection.execute(
                "SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
            if row is None:
                return {}
            return {
                text: prediction
                for batch in _batches(texts)
                for text, prediction in self._look_up(row[0], batch)
            }

    def _look_up(self, model: int, texts: Sequence[str]) -> Iterator[tuple[str, Prediction]]:
        by_key = {_key(text): text for text in texts}
        marks = ",".join("?" * len(by_key))
        query = (
            "SELECT text, probabilities, truncated, tokens FROM predictions "  # noqa: S608 - marks only
            f"WHERE model = ? AND text IN ({marks})"
        )
        rows = self._connection.execute(query, (model, *by_key))
        return ((by_key[key], _unpack(*stored)) for key, *stored in rows)

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep predictions; what is already known stays as it is.

        When this returns they survive a kill; when it fails none of them is kept.
        """
        with guarded(self._path), self._connection:
            self._connection.execute(
                "INSERT INTO models (fingerprint) VALUES (?) ON CONFLICT DO NOTHING", (fingerprint,)
            )
            (model,) = self._connection.execute(
                "SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
            # In the order of the tree, so that neighbours are written together.
            keyed = sorted((_key(text), prediction) for text, prediction in predictions.items())
            self._connection.executemany(
                "INSERT INTO predictions VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ((model, key, *_pack(prediction)) for key, prediction in keyed),
            )

    def get_answers(
        self, model: str, role: Role, questions: Sequence[Question]
    ) -> dict[int, Answer]:
        """The answers of one model that are known, by the question's place in the sequence."""
        with guarded(self._path):
            return read_answers(self._connection, model, role, questions)

    def put_answers(
        self, model: str, role: Role, answers: Sequence[tuple[Question, Answer]]
    ) -> None:
        """Keep answers; what is already known stays as it is."""
        with guarded(self._path), self._connection:
            write_answers(self._connection, model, role, answers)

    def perturbations(self, capability: str) -> dict[tuple[str, int], Perturbation]:
        """What the search of a capability has found so far, by example and trial."""
        with guarded(self._path):
            rows = self._connection.execute(
                f"SELECT {', '.join(_FIELDS)} FROM perturbations "  # noqa: S608 - own names
                "WHERE capability = ? ORDER BY example_id, trial",
                (capability,),
            )
            found = (Perturbation(**dict(zip(_FIELDS, row, strict=True))) for row in rows)
            return {(item.example_id, item.trial): item for item in found}

    def add_perturbations(self, capability: str, perturbations: Iterable[Perturbation]) -> None:
        """Keep what the search has found; what is already known stays as it is."""
        with guarded(self._path), self._connection:
            self._connection.executemany(
                "INSERT INTO perturbations VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    (capability, p.example_id, p.trial, p.text, p.score, p.queries, p.failure)
                    for p in perturbations
                ),
            )


def _foreign(path: Path, application: int, version: int) -> RunError:
    if application == APPLICATION:
        return RunError(
            f"`{path}` has version {version}",
            expected=f"version {VERSION}",
            mend="go on with the release of SCoPE that began the run, or choose another --run name",
        )
    return RunError(
        f"`{path}` is a database of another program (application {application:#x})",
        expected="a run that SCoPE began, or a new name",
        mend="choose another name with --run",
    )


def _key(text: str) -> bytes:
    """Sixteen bytes: two of 10**12 texts share a key with a chance of one in 10**14."""
    return blake2b(text.encode(), digest_size=16).digest()


def _pack(prediction: Prediction) -> tuple[bytes, bool, str | None]:
    probabilities = prediction.probabilities
    packed = struct.pack(f"<{len(probabilities)}d", *probabilities)
    tokens = json.dumps(prediction.tokens) if prediction.tokens else None
    return packed, prediction.truncated, tokens


def _unpack(packed: bytes, truncated: int, tokens: str | None) -> Prediction:
    return Prediction(
        probabilities=struct.unpack(f"<{len(packed) // 8}d", packed),
        truncated=bool(truncated),
        tokens=tuple(json.loads(tokens)) if tokens else (),
    )


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, _TEXTS_A_QUERY)):
        yield batch
