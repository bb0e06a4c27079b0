"""The vectors of texts: each is computed once by an encoder, and cached."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.answers.asking import may_change, recognise_numbers
from scope.answers.cache import shared_table
from scope.answers.table import Table
from scope.errors import ModelError
from scope.fleet.questions import require_texts
from scope.models.generations import releases
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Encoder, Progress

Vector = NDArray[np.float32]

_SECONDS_TO_WAIT = 60.0

ENCODED_AT_ONCE = 64
"""Texts between two signs of progress, after which they are kept: what a kill can cost."""


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
    # A later release of the libraries may give other numbers.
    owner = f"{encoder.fingerprint}-{releases()}"
    with shared_table(cache_folder(), _SECONDS_TO_WAIT) as table:
        known = table.get("vectors", owner, wanted, _read)
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
            shown = (progress or Silent()).task("question vectors", len(wanted), len(known))
            with shown as advance:
                for start in range(0, len(missing), ENCODED_AT_ONCE):
                    portion = missing[start : start + ENCODED_AT_ONCE]
                    known |= _encoded(portion, encoder, table, owner)
                    advance(len(portion))
        return np.stack([known[text] for text in texts])


def _encoded(texts: Sequence[str], encoder: Encoder, table: Table, owner: str) -> dict[str, Vector]:
    """The vectors of a portion of texts, which are kept."""
    # Another process may have come to some by now.
    found = table.get("vectors", owner, texts, _read)
    rest = [text for text in texts if text not in found]
    if rest:
        rows = dict(zip(rest, vectors_of(encoder, rest), strict=True))
        table.put("vectors", owner, {text: _row(vector) for text, vector in rows.items()})
        found |= rows
    return found


def _row(vector: Vector) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _read(value: str) -> Vector:
    return np.frombuffer(b64decode(value, validate=True), "<f4")


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
