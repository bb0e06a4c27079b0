"""The vectors of texts, an encoder's or a model's latents: each text is read once, and cached.

They are kept in the table that runs share, portion by portion: a killed process resumes, and
several at once reuse what the others have kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from scope.answers.asking import may_change, recognise_numbers
from scope.answers.table import Kind, Table, shared_table
from scope.errors import DataError, ModelError
from scope.models.torch_setup import releases
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Encoder, LatentReader, Precision, Progress
from scope.store.files import damaged

TEXTS_A_PORTION = 64
"""Texts that are computed and stored at once: at most these are lost by a kill."""

TEXTS_TO_BEGIN_WITH = 32
"""The first portion of latents, which shows how large those of a text are."""

BYTES_A_PORTION = 64 << 20
"""Most memory that the latents of a portion take."""

_SECONDS_TO_WAIT = 60.0

Vector = NDArray[np.float32]
Read = TypeVar("Read")

_as_vector: Callable[[Any], Any] = partial(np.frombuffer, dtype="<f4")


class Shape(NamedTuple):
    """What all latents of a model have in common."""

    layers: int
    width: int
    precision: Precision


class _Head(NamedTuple):
    """The header before the numbers of a text."""

    shape: Shape
    truncated: bool
    reproducible: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentTable:
    """Latents of some texts, which are stored on disk until they are requested.

    Parameters
    ----------
    layers, width
        Vectors a text has, and numbers a vector has; 0 where there are no texts.
    truncated
        How many of the texts, each counted once, are longer than the model reads.
    reproducible
        How equal latents are in any batch; empty where the reader does not state it.
    """

    layers: int = 0
    width: int = 0
    truncated: int = 0
    reproducible: str = ""
    _owner: str
    _texts: frozenset[str]

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The latents of texts of the table in the order given: (texts, layers, width).

        Raises
        ------
        ValueError
            When a text is not of the table.
        RunError
            When latents are missing or damaged.
        """
        unknown = [text for text in texts if text not in self._texts]
        if unknown:
            raise ValueError(f"the table has no text {unknown[0][:80]!r}")
        rows = np.empty((len(texts), self.layers, self.width), dtype=np.float32)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(text, []).append(place)
        with shared_table(cache_folder(), _SECONDS_TO_WAIT) as table, table.guarded():
            for text, latents in table.each("latents", self._owner, places, _unpacked):
                if latents.shape != rows.shape[1:]:
                    raise ValueError(f"it has latents of shape {latents.shape}")
                rows[places.pop(text)] = latents
            if places:
                raise damaged(table.path, f"it lacks the latents of {len(places)} texts")
        return rows


def stored_latents(
    texts: Sequence[str], reader: LatentReader, progress: Progress | None = None
) -> LatentTable:
    """The latents of texts; those that are not kept yet are computed.

    They are kept for each reader's fingerprint and each release of torch and transformers. Where
    all are kept the reader's model is not loaded.

    Parameters
    ----------
    texts
        Any number of texts; each distinct text is read once.
    reader
        Its fingerprint says whether latents that are kept are its own.
    progress
        Where to show how many of the different texts are kept; nowhere by default.

    Raises
    ------
    DataError
        When a text is empty, or has no token for the model.
    ModelError
        When the model gives other than finite numbers of its shape.
    RunError
        When the cache cannot be written, or is damaged.

    Examples
    --------
    A reader of two layers, each of one number: a text's length, and half of it. What is kept here
    is kept in a folder for this example alone.

    >>> import os, tempfile, unittest.mock
    >>> class Lengths:
    ...     spec, fingerprint, precision = "python:example:Lengths", "lengths-1", "float32"
    ...     def latents(self, texts):
    ...         return np.array([[[len(text)], [len(text) / 2]] for text in texts])
    ...     def truncated(self, texts):
    ...         return [False] * len(texts)
    >>> with (
    ...     tempfile.TemporaryDirectory() as cache,
    ...     unittest.mock.patch.dict(os.environ, SCOPE_CACHE=cache),
    ... ):
    ...     table = stored_latents(["a dog", "dogs", "a dog"], Lengths())
    ...     table.rows(["dogs", "a dog"]).tolist()
    [[[4.0], [2.0]], [[5.0], [2.5]]]
    >>> table.layers, table.width, table.truncated
    (2, 1, 0)
    """
    empty = [number for number, text in enumerate(texts) if not text.strip()]
    if empty:
        raise DataError(
            f"{len(empty)} of {len(texts)} texts are empty, the first at place {empty[0]}",
            expected="texts with at least one word",
            fix="leave these texts out",
        )
    owner = owner_of(reader)
    cut: dict[str, bool] = {}

    def latents_of(texts: Sequence[str], heads: Mapping[str, _Head]) -> dict[str, bytes]:
        latents = np.asarray(reader.latents(list(texts)), dtype=np.float32)
        _check(latents, len(texts), _shape(heads), reader)
        shape = Shape(latents.shape[1], latents.shape[2], reader.precision)
        statement = getattr(reader, "reproducible", "")
        headers = (_Head(shape, bool(cut[text]), statement) for text in texts)
        return dict(zip(texts, map(_packed, headers, latents), strict=True))

    def step(missing: Sequence[str], heads: Mapping[str, _Head]) -> int:
        if not cut:
            # Of all at once: a text that cannot be read is found before hours of work, not after.
            cut.update(zip(missing, reader.truncated(missing), strict=True))
        shape = _shape(heads)
        if shape is None:
            return min(TEXTS_TO_BEGIN_WITH, TEXTS_A_PORTION)
        bytes_a_text = shape.layers * shape.width * np.dtype(np.float32).itemsize
        return min(TEXTS_A_PORTION, max(1, BYTES_A_PORTION // bytes_a_text))

    with shared_table(cache_folder(), _SECONDS_TO_WAIT) as table:
        heads = _completed(table, "latents", owner, texts, _head, latents_of, progress, step)
    first = next(iter(heads.values()), _Head(Shape(0, 0, "float32"), False, ""))
    return LatentTable(
        layers=first.shape.layers,
        width=first.shape.width,
        truncated=sum(head.truncated for head in heads.values()),
        reproducible=first.reproducible,
        _owner=owner,
        _texts=frozenset(heads),
    )


def recognise_reader(
    texts: Sequence[str], reader: LatentReader, progress: Progress | None = None
) -> None:
    """Check that a reader whose bytes cannot be hashed still computes the cached latents.

    It reads one of the texts again whose latents are kept.

    Raises
    ------
    ModelError
        When it is another one, or fails.
    RunError
        When the cache is damaged.
    """
    if not may_change(reader):
        return
    with shared_table(cache_folder(), _SECONDS_TO_WAIT) as table:
        known = table.get("latents", owner_of(reader), sorted(set(texts)), _unpacked)
    recognise_numbers(
        reader.spec,
        {text: known[text] for text in texts if text in known},
        lambda texts: np.asarray(reader.latents(texts), dtype=np.float32),
        progress=progress or Silent(),
        fix="give the model a `fingerprint` that changes with its weights, or run "
        "`scope cache clear latents`",
    )


def question_vectors(
    texts: Sequence[str], encoder: Encoder, progress: Progress | None = None
) -> NDArray[np.float32]:
    """One row per text, as the encoder gives it; vectors that are not kept yet are computed.

    Parameters
    ----------
    texts
        Any number of texts; each distinct text is computed once.
    encoder
        Its fingerprint says whether vectors that are kept are its own.
    progress
        Progress display; none by default.

    Raises
    ------
    ModelError
        When the encoder gives other than one row of finite numbers per text.
    RunError
        When the cache cannot be written, or is damaged.
    """
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    owner = owner_of(encoder)

    def compute(texts: Sequence[str], _: object) -> dict[str, bytes]:
        rows = vectors_of(encoder, texts)
        return {text: row.astype("<f4").tobytes() for text, row in zip(texts, rows, strict=True)}

    with shared_table(cache_folder(), _SECONDS_TO_WAIT) as table:
        known = table.get("vectors", owner, texts, _as_vector)
        if may_change(encoder):
            shortest = sorted(known, key=lambda text: (len(text), text))[:1]
            recognise_numbers(
                encoder.spec,
                {text: known[text] for text in shortest},
                partial(vectors_of, encoder),
                progress=progress or Silent(),
                fix="give the encoder a `fingerprint` that changes with its weights, or run "
                "`scope cache clear vectors`",
            )
        vectors = _completed(table, "vectors", owner, texts, _as_vector, compute, progress)
    return np.stack([vectors[text] for text in texts])


def owner_of(model: Encoder | LatentReader) -> str:
    """What decides the vectors of a text: a later release of the libraries may give others."""
    return f"{model.fingerprint}-{releases()}"


def _completed(
    table: Table,
    kind: Kind,
    owner: str,
    texts: Sequence[str],
    read: Callable[[bytes], Read],
    compute: Callable[[Sequence[str], Mapping[str, Read]], Mapping[str, bytes]],
    progress: Progress | None,
    step: Callable[[Sequence[str], Mapping[str, Read]], int] | None = None,
) -> dict[str, Read]:
    """The stored values of these texts; missing ones are first computed and stored in portions."""
    # Texts of similar length make full batches; a vector does not depend on its batch.
    wanted = sorted(set(texts), key=lambda text: (len(text), text))
    known = table.get(kind, owner, wanted, read)
    missing = [text for text in wanted if text not in known]
    if not missing:
        return known
    title = "latents" if kind == "latents" else "question vectors"
    with (progress or Silent()).task(title, len(wanted), len(known)) as advance:
        while missing:
            size = step(missing, known) if step else TEXTS_A_PORTION
            portion, missing = missing[:size], missing[size:]
            # Another process may have come to some by now.
            new = table.get(kind, owner, portion, read)
            rest = [text for text in portion if text not in new]
            if rest:
                rows = compute(rest, known | new)
                table.put(kind, owner, rows)
                new |= {text: read(row) for text, row in rows.items()}
            known |= new
            advance(len(portion))
    return known


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


def _check(
    latents: NDArray[np.float32], texts: int, known: Shape | None, reader: LatentReader
) -> None:
    sizes = latents.shape[1:] if known is None else known[:2]
    finite = bool(np.isfinite(latents).all())
    if not finite or len(sizes) != 2 or not all(sizes) or latents.shape != (texts, *sizes):
        wanted = "layers, width" if known is None else f"{known.layers}, {known.width}"
        raise ModelError(
            f"numbers of shape {latents.shape}{'' if finite else ', not all of them finite'}, "
            f"by the reader `{reader.spec}`",
            expected=f"finite numbers of shape ({texts}, {wanted}) for {texts} texts",
            fix="choose another model; a custom reader must return one "
            "shape, or change its fingerprint",
        )
    if reader.precision == "bfloat16" and (latents.view(np.uint32) & 0xFFFF).any():
        raise ModelError(
            f"numbers with more bits than bfloat16 has, by the reader `{reader.spec}`, whose "
            "precision is bfloat16",
            expected="numbers that bfloat16 represents exactly",
            fix="set its precision to float32, or round its latents",
        )


def _shape(heads: Mapping[str, _Head]) -> Shape | None:
    return next((head.shape for head in heads.values()), None)


def _packed(head: _Head, latents: Vector) -> bytes:
    """A line of JSON, and the numbers; of bfloat16 the upper half of each, which is all of it."""
    bits = np.ascontiguousarray(latents, dtype="<f4")
    if head.shape.precision == "bfloat16":
        bits = (bits.view("<u4") >> 16).astype("<u2")
    return f"{json.dumps(head)}\n".encode() + bits.tobytes()


def _head(stored: bytes) -> _Head:
    numbers, truncated, reproducible = json.loads(stored[: stored.index(b"\n")])
    shape = Shape(*numbers)
    if min(shape[:2]) < 1 or shape.precision not in get_args(Precision):
        raise ValueError(f"it is of {shape}")
    return _Head(shape, bool(truncated), str(reproducible))


def _unpacked(stored: bytes) -> Vector:
    """Numbers as they were kept, as float32 in memory.

    Examples
    --------
    >>> head = _Head(Shape(1, 2, "bfloat16"), False, "")
    >>> _unpacked(_packed(head, np.array([[1.0, -3.0]], dtype=np.float32))).tolist()
    [[1.0, -3.0]]
    """
    shape = _head(stored).shape
    numbers = stored[stored.index(b"\n") + 1 :]
    if shape.precision == "bfloat16":
        rows = (np.frombuffer(numbers, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        rows = np.frombuffer(numbers, "<f4")
    return rows.reshape(shape.layers, shape.width)
