"""The vectors of questions: each is computed once by an encoder, and cached."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.fleet.questions import require_texts
from scope.jobs.canaries import may_change, recognise_numbers
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Encoder, Progress
from scope.store.caches import folder_of
from scope.store.keyed import cache_name
from scope.store.vectors import VectorFile, Vectors

ENCODED_AT_ONCE = 64
"""Texts between two signs of progress, after which they are kept: what a kill can cost."""


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
    with closing(VectorFile(vector_file(encoder.fingerprint))) as kept:
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
    return folder_of("vectors", cache_folder()) / f"{cache_name(fingerprint)}.sqlite"


def _encode(
    texts: Sequence[str], known: Vectors, encoder: Encoder, kept: VectorFile, progress: Progress
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
