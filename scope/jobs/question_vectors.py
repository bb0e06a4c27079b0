"""The vectors of questions: each is computed once by an encoder, and cached."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from scope.checksums import checksum
from scope.errors import ModelError, RunError
from scope.fleet.questions import require_texts
from scope.jobs.canaries import may_change, recognise_numbers
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Encoder, Progress
from scope.store.files import damaged, guarded, opening, require_file, require_tables, tables_in

ENCODED_AT_ONCE = 64
"""Texts between two signs of progress, after which they are kept: what a kill can cost."""

VERSION = 3
_SECONDS_TO_WAIT = 60.0
_TABLE = """
CREATE TABLE vectors (
    digest BLOB PRIMARY KEY,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""
# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_TEXTS_A_QUERY = 900


def question_vectors(
    texts: Sequence[str], encoder: Encoder, progress: Progress | None = None
) -> NDArray[np.float32]:
    """One row per text, as the encoder gives it.

    The vectors of each encoder are kept in a file of their own in the cache folder, portion by
    portion: a killed process resumes, and several at once share the work.

    Parameters
    ----------
    texts
        Any number of texts, each computed once however often it stands there.
    encoder
        Its fingerprint says whether vectors that are kept are its own.
    progress
        Progress display; none by default.

    Raises
    ------
    DataError
        When a text is empty.
    ModelError
        When the encoder gives other than one row of finite numbers per text.
    RunError
        When the file cannot be written, or is damaged as a whole: a damaged vector is computed
        again.
    """
    require_texts(texts)
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    # Neighbours in length make full batches; a vector has no regard for its company.
    wanted = sorted(set(texts), key=lambda text: (len(text), text))
    with closing(_Kept(vector_file(encoder.fingerprint))) as kept:
        known = kept.get(wanted)
        if known and may_change(encoder):
            recognise_numbers(
                encoder.spec,
                list(known),
                lambda texts: np.stack([known[text] for text in texts]),
                lambda texts: _rows(texts, encoder),
                kept_in=vector_file(encoder.fingerprint),
                progress=progress or Silent(),
            )
        missing = [text for text in wanted if text not in known]
        if missing:
            _encode(missing, known, encoder, kept, progress or Silent())
        return kept.rows(known, texts)


def vector_file(fingerprint: str) -> Path:
    """Where the vectors of an encoder are kept."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", fingerprint)
    if name != fingerprint or not name.strip("."):
        # Two fingerprints must not come to share a file.
        name = blake2b(fingerprint.encode(), digest_size=16).hexdigest()
    return cache_folder() / "question-vectors" / f"{name}.sqlite"


_Vectors = dict[str, NDArray[np.float32]]


def _encode(
    texts: Sequence[str], known: _Vectors, encoder: Encoder, kept: _Kept, progress: Progress
) -> None:
    """Add what is missing to what is known, and keep it."""
    again = f" ({kept.damaged} of them damaged, recomputed)" if kept.damaged else ""
    shown = progress.task(f"question vectors{again}", len(texts) + len(known), len(known))
    with shown as advance:
        for start in range(0, len(texts), ENCODED_AT_ONCE):
            portion = texts[start : start + ENCODED_AT_ONCE]
            # Another process may have come to these by now.
            found = kept.get(portion)
            rest = [text for text in portion if text not in found]
            if rest:
                computed = dict(zip(rest, _rows(rest, encoder), strict=True))
                kept.put(computed)
                found.update(computed)
            known.update(found)
            advance(len(portion))


def _rows(texts: Sequence[str], encoder: Encoder) -> NDArray[np.float32]:
    rows = np.asarray(encoder.encode(texts), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        finite = "" if np.isfinite(rows).all() else ", not all of them finite"
        raise ModelError(
            f"numbers of shape {rows.shape}{finite}, by the encoder `{encoder.spec}` of "
            f"{len(texts)} texts",
            expected="one row of finite numbers per text",
            fix="choose another encoder",
        )
    return rows


class _Kept:
    """Vectors by text in an SQLite file, which several processes may read and write at once.

    One that does not match its checksum is unknown, and counted in ``damaged``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._damaged: set[bytes] = set()
        with _mendable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            require_file(path)
            self._connection = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT)
            try:
                # SQLite does not wait where two at once turn a new file to its log of writes.
                with FileLock(path.with_suffix(".lock")), opening(path):
                    self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if version not in (0, VERSION):
            raise damaged(self._path, f"its format is {version}, where {VERSION} is known")
        if version == 0 and not tables_in(self._connection):
            self._connection.executescript(
                "PRAGMA journal_mode = WAL;"
                f"BEGIN IMMEDIATE; {_TABLE} PRAGMA user_version = {VERSION}; COMMIT;"
            )
        require_tables(self._connection, self._path, _TABLE)
        self._connection.execute("PRAGMA synchronous = NORMAL")

    @property
    def damaged(self) -> int:
        """Texts whose vector is kept, and is not what was written."""
        return len(self._damaged)

    def close(self) -> None:
        """Close the file."""
        with _mendable(self._path):
            self._connection.close()

    def get(self, texts: Sequence[str]) -> _Vectors:
        """The vectors that are known, by text."""
        found: _Vectors = {}
        with _mendable(self._path):
            for start in range(0, len(texts), _TEXTS_A_QUERY):
                by_digest = {_digest(text): text for text in texts[start : start + _TEXTS_A_QUERY]}
                marks = ",".join("?" * len(by_digest))
                query = f"SELECT * FROM vectors WHERE digest IN ({marks})"  # noqa: S608 - marks only
                for digest, vector, known in self._connection.execute(query, tuple(by_digest)):
                    if checksum(digest, vector) == known:
                        row = np.frombuffer(vector, dtype="<f4").astype(np.float32)
                        found[by_digest[digest]] = row
                    else:
                        self._damaged.add(digest)
        return found

    def put(self, vectors: _Vectors) -> None:
        """Keep vectors; when this returns they survive a kill."""
        rows = [(_digest(text), row.astype("<f4").tobytes()) for text, row in vectors.items()]
        with _mendable(self._path), self._connection:
            # What is there already is damaged, or another process's, and then the same.
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(*row, checksum(*row)) for row in rows],
            )

    def rows(self, known: _Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """What is known of the texts, as a table."""
        rows = [known[text] for text in texts]
        if len({len(row) for row in rows}) > 1:
            with _mendable(self._path):
                raise damaged(self._path, "its vectors differ in length")
        return np.stack(rows)


@contextmanager
def _mendable(path: Path) -> Iterator[None]:
    """Turns every error of the file into one that gives a fix."""
    try:
        with guarded(path):
            yield
    except RunError as error:
        raise RunError(
            error.found,
            expected="a file for question vectors",
            fix=f"delete `{path}`, which is then rebuilt, or set the "
            "environment variable SCOPE_CACHE to another folder",
        ) from error


def _digest(text: str) -> bytes:
    """A hash of sixteen bytes in place of the text, which may be long."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
