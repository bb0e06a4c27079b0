"""A saved probe opened with its model, and the similarity of texts by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.answers.asking import may_change, recognise_numbers
from scope.answers.vectors import BYTES_A_PORTION, LatentTable, recognise_reader, stored_latents
from scope.errors import DataError, ModelError
from scope.jobs.probe import saving
from scope.jobs.probe.estimator import SimilarityProbe
from scope.metrics import text_likeness_values
from scope.models.loading import load_latent_reader
from scope.models.options import ModelOptions, Readout
from scope.models.scheme import scheme_of
from scope.paths import expanded
from scope.progress import Silent
from scope.protocols import LatentReader, Progress
from scope.store.saved_parts import digest_of


def similarity(
    first: Sequence[str],
    second: Sequence[str],
    *,
    probe: str | Path,
    model: str | None = None,
    model_options: ModelOptions | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """The semantic similarity of each two texts, by a saved probe.

    Parameters
    ----------
    first, second
        Texts in parallel. Latents of the texts are cached.
    probe
        The folder in which `probe` saved it.
    model
        The current location of its model; by default the one at fitting.
    model_options
        How the model is run; its precision is the one of the probe.
    progress
        Progress display; none by default.

    Returns
    -------
    NDArray
        Shape (pairs,), in the range of the scores that the probe was fitted on: symmetric, and
        exactly the maximum for equal texts. An empty text and any other have the minimum.

    Raises
    ------
    ScopeError
        Whatever the user can fix: see `scope.errors`.
    """
    if isinstance(first, str) or isinstance(second, str) or len(first) != len(second):
        sides = (first, second)
        shown = [f"`{side[:40]}`" if isinstance(side, str) else len(side) for side in sides]
        raise DataError(
            f"{shown[0]} beside {shown[1]}",
            expected="two lists of texts of the same length",
            fix="give a list of first texts and a list of second texts, in the same order",
        )
    opened = open_probe(expanded(probe), model_options or ModelOptions(), model)
    shares = opened.read([*first, *second], progress).similarity(first, second)
    low, high = opened.probe.low, opened.probe.high
    return np.where(shares == 1.0, high, low + (high - low) * shares)


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedProbe:
    """A saved probe and a reader of its model, which is loaded on first use.

    ``digest`` is a hash of the probe, part of a run's configuration.
    """

    probe: SimilarityProbe
    source: saving.LatentSource
    reader: LatentReader
    digest: str

    def read(self, texts: Sequence[str], progress: Progress | None = None) -> ReadTexts:
        """Compute the model's latents of texts, or reuse cached ones; see `ReadTexts`.

        Raises
        ------
        ModelError
            If the model cannot be loaded, or its latents are not finite.
        RunError
            If latents cannot be cached, or cached ones are damaged.
        """
        wanted = sorted({text.strip() for text in texts} - {""}, key=lambda text: (len(text), text))
        recognise_reader(wanted, self.reader, progress)
        try:
            table = stored_latents(wanted, self.reader, progress)
        except DataError:
            # Some texts have no token, such as characters that the tokenizer removes.
            wanted = _readable(wanted, self.reader)
            table = stored_latents(wanted, self.reader, progress)
        return ReadTexts(self.probe, table, frozenset(wanted))


def _readable(texts: Sequence[str], reader: LatentReader) -> list[str]:
    """The texts that have a token for the model, found by bisection."""
    try:
        reader.truncated(texts)
    except DataError:
        if len(texts) == 1:
            return []
        half = len(texts) // 2
        return [*_readable(texts[:half], reader), *_readable(texts[half:], reader)]
    return list(texts)


class ReadTexts:
    """Texts with the latents of a probe's model; any two can be compared.

    ``truncated`` counts the texts that exceed the model's input length; only their beginning is
    compared. The latents are on disk, and only a batch is in memory at a time.
    """

    def __init__(
        self, probe: SimilarityProbe, table: LatentTable, readable: frozenset[str]
    ) -> None:
        self._probe, self._table, self._readable = probe, table, readable
        self.truncated = table.truncated

    def similarity(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """The semantic similarity of each pair of texts, from 0 to 1: the probe's scaled score.

        Equal texts have exactly 1, and the value is symmetric, to the bit. A text without a token
        for the model is treated as empty: two of them have 1, one of them and another text 0.
        """
        ones, others = (
            [text.strip() if text.strip() in self._readable else "" for text in side]
            for side in (first, second)
        )
        return text_likeness_values(ones, others, self._scored)

    def _scored(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Each distinct pair is scored once, in either order."""
        pairs = [(min(pair), max(pair)) for pair in zip(first, second, strict=True)]
        distinct = list(dict.fromkeys(pairs))
        bytes_a_text = self._table.layers * self._table.width * np.dtype(np.float32).itemsize
        step = max(1, BYTES_A_PORTION // bytes_a_text)
        low, high = self._probe.low, self._probe.high
        values: dict[tuple[str, str], float] = {}
        for start in range(0, len(distinct), step):
            portion = distinct[start : start + step]
            sides = (self._table.rows(side) for side in zip(*portion, strict=True))
            scores = (self._probe.predict(*sides) - low) / (high - low)
            values.update(zip(portion, map(float, scores), strict=True))
        return np.array([values[pair] for pair in pairs], dtype=np.float64)


def open_probe(
    folder: Path, options: ModelOptions, model: str | None = None, *, option: str = "--model SPEC"
) -> OpenedProbe:
    """Load a probe, and find the model that it was fitted on.

    A probe is untrusted. A model named by it is loaded without foreign code: no Python model, no
    pickle and no code of a checkpoint, whatever the options allow.

    Parameters
    ----------
    folder
        A folder of `scope.probes.save_probe`.
    options
        How the model is loaded; its precision is the probe's.
    model
        The model's current location, to which all options apply; by default that at fitting.
    option
        The option that gives this location, for messages.

    Raises
    ------
    RunError
        If there is no probe, or its files are damaged.
    ModelError
        If the model cannot be found or is another one, by its fingerprint or by the latents saved
        with the probe.
    """
    saved = saving.load_probe(folder)
    reader = (
        _named_reader(saved.source, folder, options, option)
        if model is None
        else _reader(model, saved.source, options)
    )
    source = saving.source_of(reader)
    try:
        saved.source.require(source)
    except ModelError as error:
        if model is None:
            # Pickles and code are part of a fingerprint only if they are allowed.
            error.fix += (
                f"; or give its current location: {option}, with --allow-pickle or "
                "--trust-remote-code if it was fitted so"
            )
        raise
    if may_change(reader):
        # A model without a hash is recognised by the latents saved with its probe.
        recognise_numbers(
            reader.spec,
            next(iter(saved.canaries), None),
            lambda texts: np.stack([saved.canaries[text] for text in texts]),
            lambda texts: np.asarray(reader.latents(texts), dtype=np.float32),
            progress=Silent(),
            fix=f"restore the former model, or fit the probe in `{folder}` again",
        )
    return OpenedProbe(probe=saved.probe, source=source, reader=reader, digest=_digest(saved))


def _named_reader(
    source: saving.LatentSource, folder: Path, options: ModelOptions, option: str
) -> LatentReader:
    """A reader of the model named by the probe, which may not run code."""
    if not scheme_of(source.spec).computed:
        raise ModelError(
            f"the probe in `{folder}` needs the model `{source.spec}`, and loading it may run code",
            expected="a model of the scheme hf or gguf, or one that you name, because a saved "
            "probe is not trusted",
            fix=f"if you trust the model, add {option}",
        )
    careful = replace(options, allow_pickle=False, trust_remote_code=False)
    try:
        return _reader(source.spec, source, careful)
    except ModelError as error:
        raise ModelError(
            f"of the probe in `{folder}`: {error.found}",
            expected=f"the model `{source.spec}` that it was fitted on, with the "
            f"fingerprint `{source.fingerprint}`",
            fix=f"give its current location: {option}",
        ) from error


def _reader(spec: str, source: saving.LatentSource, options: ModelOptions) -> LatentReader:
    """A reader of a model with the readout and the precision of the source."""
    readout = None
    if source.readout != saving.OWN:
        readout = Readout(kind=source.readout, template=source.prompt)
    return load_latent_reader(spec, replace(options, dtype=source.dtype), readout)


def _digest(saved: saving.SavedProbe) -> str:
    """Sixteen hexadecimal digits of a hash of the loaded probe."""
    probe = saved.probe
    known = (
        sorted(probe.get_params(deep=False).items()),
        (probe.layers_, probe.width_, tuple(probe.calibration_)),
        sorted((name, value) for name, value in asdict(saved.source).items() if name != "spec"),
    )
    return digest_of(known, saving.measure_arrays(probe.measure_))
