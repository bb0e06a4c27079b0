"""Readers of the probed models, which are not yet loaded, and fitted probes on disk.

A saved probe is its arrays as safetensors and the rest as JSON; no pickle. A probe is valid only
for latents of the same source, which is therefore saved with it.

A saved probe opened with its model, and the similarity of texts by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scope.answers.asking import may_change, recognise_numbers
from scope.answers.vectors import BYTES_A_PORTION, LatentTable, recognise_reader, stored_latents
from scope.errors import DataError, ModelError, RunError
from scope.jobs.answering_models import refuse_same_models
from scope.jobs.probe.estimator import Calibration, SimilarityProbe, check_parameters
from scope.jobs.probe.measures import AllCosines, Measure, RawLayer, SiameseNetwork
from scope.jobs.probe.network import RECIPES
from scope.metrics.agreement import text_likeness_values
from scope.models.options import ONE_WORD, SLOT, DType, ModelOptions, Readout, ReadoutKind
from scope.models.prompts import read_prompt
from scope.models.scheme import load_latent_reader, scheme_of
from scope.models.torch_setup import natural_dtype
from scope.paths import expanded
from scope.progress import Silent
from scope.protocols import Advance, LatentReader, Progress
from scope.records import ProbedModel
from scope.store.files import SavedParts, Scalar, digest_of, guarded, plain_parameters
from scope.store.folder import check_folder

OWN: Final = "its own"
"""The readout of a model that defines its own, such as a Python model."""


@dataclass(frozen=True, kw_only=True)
class LatentSource:
    """The model that latents were read from, and how.

    ``spec`` loads the model again; two specs may name one model. ``fingerprint`` changes whenever
    its latents could. ``readout`` is the position in the text, ``prompt`` the words around the
    text, ``dtype`` the precision.
    """

    spec: str
    fingerprint: str
    readout: ReadoutKind | Literal["its own"]
    prompt: str | None
    dtype: DType

    def require(self, other: LatentSource) -> None:
        """Raise a ModelError with the differences if latents of another source differ from these.

        Examples
        --------
        >>> source = LatentSource(
        ...     spec="hf:a", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
        ... )
        >>> source.require(source)
        >>> source.require(LatentSource(**{**vars(source), "spec": "hf:b", "fingerprint": "34cd"}))
        Traceback (most recent call last):
        ...
        scope.errors.ModelError: found:    latents of `hf:b` with fingerprint `34cd`
        expected: latents of `hf:a` with fingerprint `12ab`, which the probe was fitted on
        fix:      read the latents from `hf:a` as it was, or fit a probe on those of `hf:b`
        """
        names = [field.name for field in fields(self) if field.name != "spec"]
        differing = [name for name in names if getattr(self, name) != getattr(other, name)]
        if differing:
            here, there = (
                f"`{source.spec}` with "
                + " and ".join(f"{name} `{getattr(source, name)}`" for name in differing)
                for source in (self, other)
            )
            raise ModelError(
                f"latents of {there}",
                expected=f"latents of {here}, which the probe was fitted on",
                fix=f"read the latents from `{self.spec}` as it was, or fit a probe on those of "
                f"`{other.spec}`",
            )


NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope probe --save`",
    first="fit a probe first",
    again="fit the probe again",
)


def measure_arrays(measure: Measure) -> dict[str, NDArray[Any]]:
    """The arrays of a measure, by name.

    Examples
    --------
    >>> measure_arrays(RawLayer(np.array([0.25, 0.5])))
    {'correlations': array([0.25, 0.5 ])}
    """
    if not isinstance(measure, SiameseNetwork):
        return measure._asdict()
    trained = np.asarray(measure.trained, dtype=np.int64)
    return {"centre": measure.centre, **measure.arrays, "trained": trained}


FORMAT = 2
"""Incremented if older releases cannot read this format."""

_CANARIES = "canaries"
"""The name of the array of the canaries' latents."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedProbe:
    """A fitted probe with the source of the latents that it was fitted on.

    Before latents are scored, compare their source with it: ``saved.source.require(source)``.
    ``canaries`` are latents of some texts, each of shape (layers, width), by which a model whose
    bytes cannot be hashed is recognised.
    """

    probe: SimilarityProbe
    source: LatentSource
    canaries: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Description:
    """The content of the JSON file."""

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "allow_inf_nan": False}
    format: Literal[1, 2]
    parameters: dict[str, Scalar]
    layers: int
    width: int
    calibration: tuple[float, float, float]
    source: LatentSource
    sha256: str
    canaries: tuple[str, ...] = ()


def save_probe(saved: SavedProbe, folder: Path) -> None:
    """Write a fitted probe into a folder, which is created if needed.

    Each of the two files is replaced in one step, and the JSON has the digest of the arrays, so
    that loading notices a kill between the two. Sentences without scores are not saved.

    Raises
    ------
    RunError
        If the folder cannot be written.
    """
    probe = saved.probe
    latents = {_CANARIES: np.stack(list(saved.canaries.values()))} if saved.canaries else {}
    description = _Description(
        format=2,
        parameters=plain_parameters(probe.get_params(deep=False)),
        layers=probe.layers_,
        width=probe.width_,
        calibration=probe.calibration_,
        source=saved.source,
        sha256=FILES.write(folder, measure_arrays(probe.measure_) | latents),
        canaries=tuple(saved.canaries),
    )
    FILES.describe(folder, description)


def load_probe(folder: Path) -> SavedProbe:
    """Read a probe of `save_probe`; its scores are the same to the byte.

    Raises
    ------
    RunError
        If there is no probe, or its files are damaged, changed, or of another format.
    """
    description = FILES.described(folder, _Description, FORMAT)
    arrays = FILES.read(folder, description.sha256)
    with FILES.restoring(folder):
        latents = arrays.pop(_CANARIES, ())
        canaries = dict(zip(description.canaries, latents, strict=True))
        parameters: dict[str, Any] = dict(description.parameters)
        probe = SimilarityProbe(**parameters)
        check_parameters(probe)
        if probe.step in ("raw", "mlp"):
            probe.measure_ = (RawLayer if probe.step == "raw" else AllCosines)(**arrays)
        else:
            centre, trained = arrays.pop("centre"), int(arrays.pop("trained"))
            nonlinear = RECIPES[probe.step].nonlinear
            probe.measure_ = SiameseNetwork(centre, arrays, nonlinear, trained)
        probe.calibration_ = Calibration(*description.calibration)
        probe.layers_, probe.width_ = description.layers, description.width
        return SavedProbe(probe=probe, source=description.source, canaries=canaries)


AutoDType = DType | Literal["auto"]


class ReadModel(NamedTuple):
    """A model with its latents of all texts, on disk."""

    name: str
    source: LatentSource
    table: LatentTable

    def record(self) -> ProbedModel:
        """The model in the result."""
        return ProbedModel(
            name=self.name,
            layers=self.table.layers,
            width=self.table.width,
            readout=self.source.readout,
            prompt=self.source.prompt,
            dtype=self.source.dtype,
        )


def with_dtype(options: ModelOptions, dtype: AutoDType) -> ModelOptions:
    """The options with a precision; ``auto`` depends on the device."""
    return replace(options, dtype=natural_dtype(options.device) if dtype == "auto" else dtype)


def readout_of(kind: str | None, prompt: str | Path | None) -> Readout | None:
    """The readout; None: the default of each model's kind.

    Raises
    ------
    SpecError
        If the readout is unknown, the prompt does not have one slot, or its file cannot be read.

    Examples
    --------
    >>> readout_of(None, "{text} In short:")
    Readout(kind='prompt', template='{text} In short:')
    """
    if kind is None and prompt is None:
        return None
    if isinstance(prompt, Path):
        expected = f"a UTF-8 text file with one {SLOT} for the sentence"
        fix = f"check the path; an example of a prompt is {ONE_WORD}"
        prompt = read_prompt(prompt, expected, fix).strip("\n")
    return Readout(kind=cast(ReadoutKind, kind or "prompt"), template=prompt)


def load_readers(
    models: Sequence[str | Any], options: ModelOptions, readout: Readout | None
) -> list[LatentReader]:
    """A reader of each model.

    Raises
    ------
    SpecError
        If the readout does not apply to a model's scheme.
    ModelError
        If a model cannot be found, has no hidden states, or two are the same.
    """
    readers = [load_latent_reader(model, options, readout) for model in models]
    refuse_same_models(readers)
    return readers


def source_of(reader: LatentReader) -> LatentSource:
    """The source of a reader's latents; a Python reader may define its own readout."""
    return LatentSource(
        spec=reader.spec,
        fingerprint=reader.fingerprint,
        readout=getattr(reader, "readout", OWN),
        prompt=getattr(reader, "prompt", None),
        dtype=getattr(reader, "dtype", reader.precision),
    )


@dataclass(frozen=True)
class NamedProgress:
    """Progress whose tasks begin with a name."""

    name: str
    shown: Progress

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of that name."""
        return self.shown.task(f"{self.name}: {description}", total, done)


def prepare_folder(folder: Path, source: LatentSource) -> None:
    """Create the folder, or check that it contains a probe of the same model.

    Parameters
    ----------
    source
        Source of the latents of the new probe.

    Raises
    ------
    RunError
        If it contains other files or a probe of another model, is a file, or cannot be created.
    """
    try:
        check_folder(folder)
        with guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
            names = sorted(path.name for path in folder.iterdir())
    except RunError as error:
        error.fix = "choose another folder with --save"
        raise
    others = [name for name in names if not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise RunError(
            f"`{folder}` contains no probe, but `{others[0]}`",
            expected="a new folder, an empty one, or one with a saved probe",
            fix="choose another folder with --save",
        )
    try:
        kept = load_probe(folder).source
    except RunError:
        # There is none, or a damaged one, which may be replaced.
        return
    if kept.fingerprint != source.fingerprint:
        raise RunError(
            f"`{folder}` contains a probe of `{kept.spec}` with the fingerprint "
            f"`{kept.fingerprint}`",
            expected=f"a folder without a probe, or with one of `{source.spec}` with the same "
            f"readout and the fingerprint `{source.fingerprint}`",
            fix="choose another folder with --save, or delete the existing probe",
        )


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
    source: LatentSource
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
        A folder of `scope.save_probe`.
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
    saved = load_probe(folder)
    reader = (
        _named_reader(saved.source, folder, options, option)
        if model is None
        else _reader(model, saved.source, options)
    )
    source = source_of(reader)
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
            saved.canaries,
            lambda texts: np.asarray(reader.latents(texts), dtype=np.float32),
            progress=Silent(),
            fix=f"restore the former model, or fit the probe in `{folder}` again",
        )
    return OpenedProbe(probe=saved.probe, source=source, reader=reader, digest=_digest(saved))


def _named_reader(
    source: LatentSource, folder: Path, options: ModelOptions, option: str
) -> LatentReader:
    """A reader of the model named by the probe, which may not run code."""
    if not scheme_of(source.spec).computed:
        raise ModelError(
            f"the probe in `{folder}` needs the model `{source.spec}`, and loading it may run code",
            expected="a model of the scheme hf, or one that you name, because a saved probe is not "
            "trusted",
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


def _reader(spec: str, source: LatentSource, options: ModelOptions) -> LatentReader:
    """A reader of a model with the readout and the precision of the source."""
    readout = None
    if source.readout != OWN:
        readout = Readout(kind=source.readout, template=source.prompt)
    return load_latent_reader(spec, replace(options, dtype=source.dtype), readout)


def _digest(saved: SavedProbe) -> str:
    """Sixteen hexadecimal digits of a hash of the loaded probe."""
    probe = saved.probe
    known = (
        sorted(probe.get_params(deep=False).items()),
        (probe.layers_, probe.width_, tuple(probe.calibration_)),
        sorted((name, value) for name, value in asdict(saved.source).items() if name != "spec"),
    )
    return digest_of(known, measure_arrays(probe.measure_))
