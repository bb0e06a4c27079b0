"""The vectors of questions: each is computed once by an encoder, and cached."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.jobs.fleet.questions import require_texts
from scope.jobs.canaries import may_change, recognise_numbers
from scope.models.generations import releases
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Encoder, Progress
from scope.store.caches import answer_file
from scope.store.entries import EntryFile

Vector = NDArray[np.float32]

_SECONDS_TO_WAIT = 60.0

ENCODED_AT_ONCE = 64
"""Texts between two signs of progress, after which they are kept: what a kill can cost."""


class _Vectors(NamedTuple):
    """The cached vectors of one encoder, by text."""

    file: EntryFile
    owner: str

    def get(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are known."""
        return self.file.get("vectors", self.owner, texts, _read)

    def put(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Keep the vectors of texts; when this returns they survive a kill."""
        values = (b64encode(row.astype("<f4").tobytes()).decode() for row in rows)
        self.file.put("vectors", self.owner, dict(zip(texts, values, strict=True)))


def _read(value: str) -> Vector:
    return np.frombuffer(b64decode(value, validate=True), "<f4")


@contextmanager
def _cached(encoder: Encoder) -> Iterator[_Vectors]:
    with EntryFile(answer_file(cache_folder()), _SECONDS_TO_WAIT) as file:
        # A later release of the libraries may give other numbers.
        yield _Vectors(file, f"{encoder.fingerprint}-{releases()}")


def question_vectors(
    texts: Sequence[str], encoder: Encoder, progress: Progress | None = None
) -> NDArray[np.float32]:
    """One row per text, as the encoder gives it.

    The vectors are kept in the cache that runs share, portion by portion: a killed process
    resumes, and several at once share the work.

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
        When the cache cannot be written, or is damaged.
    """
    require_texts(texts)
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    # Neighbours in length make full batches; a vector has no regard for its company.
    wanted = sorted(set(texts), key=lambda text: (len(text), text))
    with _cached(encoder) as kept:
        known = kept.get(wanted)
        if known and may_change(encoder):
            recognise_numbers(
                encoder.spec,
                next(text for text in wanted if text in known),
                lambda texts: np.stack([known[text] for text in texts]),
                lambda texts: vectors_of(encoder, texts),
                progress=progress or Silent(),
                fix="give the encoder a `fingerprint` that changes with its weights, or run "
                "`scope cache clear vectors`",
            )
        missing = [text for text in wanted if text not in known]
        if missing:
            _encode(missing, known, encoder, kept, progress or Silent())
        return np.stack([known[text] for text in texts])


def _encode(
    texts: Sequence[str],
    known: dict[str, Vector],
    encoder: Encoder,
    kept: _Vectors,
    progress: Progress,
) -> None:
    """Add what is missing to what is known, and keep it."""
    with progress.task("question vectors", len(texts) + len(known), len(known)) as advance:
        for start in range(0, len(texts), ENCODED_AT_ONCE):
            portion = texts[start : start + ENCODED_AT_ONCE]
            # Another process may have come to these by now.
            found = kept.get(portion)
            rest = [text for text in portion if text not in found]
            if rest:
                rows = vectors_of(encoder, rest)
                kept.put(rest, rows)
                found.update(zip(rest, rows, strict=True))
            known.update(found)
            advance(len(portion))


def vectors_of(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of texts, checked: one row per text.

    Raises
    ------
    ModelError
        When the encoder gives something else.
    """
    rows = np.asarray(encoder.encode(list(texts)), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        finite = "" if np.isfinite(rows).all() else ", not all of them finite"
        raise ModelError(
            f"numbers of shape {rows.shape}{finite}, by the encoder `{encoder.spec}` of "
            f"{len(texts)} texts",
            expected="one row of finite numbers per text",
            fix="choose another encoder",
        )
    return rows
