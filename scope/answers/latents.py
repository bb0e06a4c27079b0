"""The latents of texts: each text is read once by a model, and its vectors are cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.answers.asking import may_change, recognise_numbers
from scope.answers.cache import latent_folders
from scope.answers.latent_files import LatentFolder, LatentPlace, Shape
from scope.answers.table import cache_name
from scope.errors import DataError, ModelError
from scope.models.generations import releases
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Advance, LatentReader, Progress

TEXTS_A_PORTION = 64
"""Most texts whose latents are kept at once: what a kill can cost."""

TEXTS_TO_BEGIN_WITH = 32
"""The first portion of a folder, which shows how large the latents of a text are."""

BYTES_A_PORTION = 64 << 20
"""Most memory that their latents take."""

_NO_SHAPE = Shape(0, 0, "float32")


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentTable:
    """Latents of some texts, which are stored on disk until they are requested.

    Parameters
    ----------
    truncated
        How many of the texts, each counted once, are longer than the model reads.
    reproducible
        How equal latents are in any batch; empty where the reader does
        not state it.
    """

    truncated: int
    reproducible: str
    _shape: Shape
    _places: Mapping[str, LatentPlace]
    _folder: LatentFolder

    @property
    def layers(self) -> int:
        """Vectors a text has; 0 where there are no texts."""
        return self._shape.layers

    @property
    def width(self) -> int:
        """Numbers a vector has; 0 where there are no texts."""
        return self._shape.width

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The latents of texts of the table in the order given: (texts, layers, width).

        Raises
        ------
        ValueError
            When a text is not of the table.
        RunError
            When a file is missing or damaged.
        """
        unknown = [text for text in texts if text not in self._places]
        if unknown:
            raise ValueError(f"the table has no text {unknown[0][:80]!r}")
        found = np.empty((len(texts), self.layers, self.width), dtype=np.float32)
        wanted: dict[int, list[int]] = {}
        for number, text in enumerate(texts):
            wanted.setdefault(self._places[text].portion, []).append(number)
        for portion, numbers in wanted.items():
            rows = [self._places[texts[number]].row for number in numbers]
            found[numbers] = self._folder.rows(portion, rows, self._shape)
        return found


def stored_latents(
    texts: Sequence[str],
    reader: LatentReader,
    progress: Progress | None = None,
) -> LatentTable:
    """The latents of texts; those that are not kept yet are computed.

    They are kept in a folder for each reader's fingerprint and each release of torch and
    transformers, portion by portion: a killed process resumes, and of several at once
    each finds what the others have computed. Where all are kept the reader's model is not loaded.

    Parameters
    ----------
    texts
        Any number of texts, each read once however often it stands there.
    reader
        Its fingerprint says whether latents that are kept are its own.
    progress
        Where to show how many of the different texts are kept, and which process is waited for;
        nowhere by default.

    Raises
    ------
    DataError
        When a text is empty, or has no token for the model.
    ModelError
        When the model gives other than finite numbers of its shape.
    RunError
        When the files cannot be written, or are damaged.

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
    _require_words(texts)
    # Neighbours in length make full batches; a text's latents have no regard for its company.
    wanted = sorted(set(texts), key=lambda text: (len(text), text))
    folder = LatentFolder(latent_folder(reader.fingerprint))
    places = folder.places(wanted)
    if len(places) < len(wanted):
        progress = progress or Silent()
        with folder.writing(progress):
            # Another process may have come to some by now.
            places = folder.places(wanted)
            missing = [text for text in wanted if text not in places]
            shown = progress.task("latents", len(wanted), len(places))
            with shown as advance:
                # Before the work: of a process that is killed the statement remains.
                folder.reproducible = getattr(reader, "reproducible", "")
                _compute(missing, reader, folder, advance)
        places = folder.places(wanted)
    return _table_of(folder, places)


def _table_of(folder: LatentFolder, places: Mapping[str, LatentPlace]) -> LatentTable:
    return LatentTable(
        truncated=sum(place.truncated for place in places.values()),
        reproducible=folder.reproducible,
        _shape=(folder.shape if places else None) or _NO_SHAPE,
        _places=places,
        _folder=folder,
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
        When the files are damaged as a whole.
    """
    if not may_change(reader):
        return
    folder = LatentFolder(latent_folder(reader.fingerprint))
    places = folder.places(sorted(set(texts)))
    table = _table_of(folder, places)
    recognise_numbers(
        reader.spec,
        next((text for text in texts if text in places), None),
        table.rows,
        lambda again: read_latents(reader, again),
        progress=progress or Silent(),
        fix="give the model a `fingerprint` that changes with its weights, or delete "
        f"`{latent_folder(reader.fingerprint)}`",
    )


def latent_folder(fingerprint: str) -> Path:
    """Where the latents of a reader are kept by the libraries that are installed.

    A later release of the libraries makes a folder of its own: another's numbers may differ.
    """
    return latent_folders(cache_folder()) / f"{cache_name(fingerprint)}-{releases()}"


def _compute(
    texts: Sequence[str],
    reader: LatentReader,
    folder: LatentFolder,
    advance: Advance,
) -> None:
    # Of all at once: a text that cannot be read is found before hours of work, not after.
    cut = dict(zip(texts, reader.truncated(texts), strict=True))
    start = 0
    while start < len(texts):
        portion = texts[start : start + _step(folder.shape)]
        latents = read_latents(reader, portion)
        _check(latents, len(portion), folder.shape, reader)
        folder.add({text: cut[text] for text in portion}, latents, reader.precision)
        advance(len(portion))
        start += len(portion)


def read_latents(reader: LatentReader, texts: Sequence[str]) -> NDArray[np.float32]:
    """What a reader gives for texts, as numbers of four bytes."""
    return np.asarray(reader.latents(list(texts)), dtype=np.float32)


def _step(shape: Shape | None) -> int:
    """How many texts make a portion; few as long as nobody knows how large their latents are."""
    if shape is None:
        return min(TEXTS_TO_BEGIN_WITH, TEXTS_A_PORTION)
    bytes_a_text = shape.layers * shape.width * np.dtype(np.float32).itemsize
    return min(TEXTS_A_PORTION, max(1, BYTES_A_PORTION // bytes_a_text))


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


def _require_words(texts: Sequence[str]) -> None:
    empty = [number for number, text in enumerate(texts) if not text.strip()]
    if empty:
        raise DataError(
            f"{len(empty)} of {len(texts)} texts are empty, the first at place {empty[0]}",
            expected="texts with at least one word",
            fix="leave these texts out",
        )
