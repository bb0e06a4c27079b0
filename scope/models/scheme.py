"""The scheme of a spec: how its models are loaded, and what is known about them before.

A built-in scheme is one file with a `Scheme` and one line in `scope.registry`; a plugin may provide
a loading function.

A model of a job.

Which models' answers runs may share, and what they depend on besides the model's bytes.

A model is certain if its fingerprint covers the bytes of its files and none of its code is foreign:
checkpoints and GGUF files that are named by a spec. An object that is passed from Python is not,
even if SCoPE loaded it: its weights may have changed since. Nor is a checkpoint that may bring its
own code.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

from scope.errors import ModelError, SpecError
from scope.models.options import ModelOptions, Readout
from scope.models.torch_setup import choose_device, load_torch, version, waiting_threads_sleep
from scope.protocols import Encoder, LatentReader
from scope.records import ModelCard, PromptReading
from scope.records.result import OBJECT, TEXT_BY_TEXT, ModelRole
from scope.registry import BUILT_IN, find, names_in
from scope.untrusted import UntrustedCode, attempt


class KnownLabels(NamedTuple):
    """The labels of a model, and whether they are the user's label words."""

    spec: str
    labels: tuple[str, ...]
    by_words: bool = False


class Weights(NamedTuple):
    """The size of a model; None is unknown, and ``reason`` says why.

    ``stored`` is the size in bytes of the weight files, and ``memory`` that of the loaded
    parameters, in the precision ``dtype``, without the memory of a batch.
    """

    parameters: int | None = None
    stored: int | None = None
    dtype: str | None = None
    memory: int | None = None
    reason: str = ""


def labels_by_words(spec: str, options: ModelOptions) -> KnownLabels:
    """The label words of a language model.

    Raises
    ------
    ModelError
        When they do not make it a classifier.
    """
    require_words(spec, options)
    return KnownLabels(spec, tuple(options.label_words), by_words=True)


def require_words(spec: str, options: ModelOptions) -> None:
    """Refuse label words with which a language model cannot be a classifier.

    Raises
    ------
    ModelError
        When there are fewer than two, one is empty, or two are the same.
    """
    words = {label: word.strip() for label, word in options.label_words.items()}
    counts = Counter(words.values())
    if len(words) < 2:
        problem = f"{len(words)} label word{'s' * (len(words) != 1)}"
    elif not all(words.values()):
        problem = f"the label words {words}, one of them empty"
    elif max(counts.values()) > 1:
        problem = f"the word `{counts.most_common(1)[0][0]}` for more than one label"
    else:
        return
    raise ModelError(
        f"`{spec}` as a classifier with {problem}",
        expected="a language model with a word of its own for each of at least two labels",
        fix="add --label-word LABEL=WORD for every label, such as --label-word positive=good "
        "--label-word negative=bad",
    )


Load = Callable[[str, ModelOptions], Any]
"""Loads the model of the rest of a spec, in all its roles."""


def _not_installed(rest: str, options: ModelOptions) -> NoReturn:
    raise SpecError(
        f"the model `{rest}` of a scheme that is not installed",
        expected="a scheme that `scope list models` shows",
        fix="install the package that offers it",
    )


class Scheme:
    """How the models of a scheme are loaded, and what is known about them before.

    Parameters
    ----------
    name
        What comes before the colon of a spec.
    load
        See `Load`.
    """

    saved: ClassVar[bool] = False
    """Answers are read from a file: no model runs."""

    holds_items: ClassVar[bool] = False
    """The files hold the questions, too: the same spec names data."""

    served: ClassVar[bool] = False
    """A server runs the model."""

    computed: ClassVar[bool] = False
    """The model runs here and contains no code; its fingerprint covers the bytes of its files."""

    own: ClassVar[bool] = False
    """The code of the user answers."""

    def __init__(self, name: str, load: Load = _not_installed) -> None:
        self.name = name
        self.load = load

    def expand(self, rest: str) -> Iterable[str]:
        """The specs of all models that a spec means: most mean one."""
        return [f"{self.name}:{rest}"]

    def require_there(self, rest: str) -> None:
        """Raise an error if the model's file is missing; most schemes find out by loading."""

    def short_name(self, rest: str) -> str:
        """What tables and reports call the model."""
        if (self.saved or self.served) and "#" in rest:
            return rest.rpartition("#")[2]
        return rest if self.own else Path(rest).name or rest

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels | None:
        """The labels of a model that is not loaded; None where only the model itself has them."""
        return None

    def weights(self, rest: str, options: ModelOptions) -> Weights:
        """The size of a model by its files."""
        if self.saved:
            return Weights(reason="its answers are saved")
        return Weights(reason="it runs on a server" if self.served else "its files are not known")

    def encoder(self, rest: str, options: ModelOptions) -> Encoder:
        """The sentence encoder of that name.

        Raises
        ------
        SpecError
            Where the scheme has none.
        """
        raise SpecError(
            f"an encoder of the scheme `{self.name}`",
            expected="hf:NAME or a folder that sentence-transformers can load",
            fix="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        )

    def latent_reader(
        self, rest: str, options: ModelOptions, readout: Readout | None
    ) -> LatentReader | None:
        """The model read layer by layer, not yet loaded; None where the loaded model is read.

        Raises
        ------
        SpecError
            When there is a readout, but models of the scheme have their own.
        ModelError
            When a server runs the model.
        """
        if readout is not None:
            raise SpecError(
                f"the readout {readout.kind} for the scheme `{self.name}`",
                expected="a model of the scheme hf or gguf: no other has a choice of readout",
                fix="leave the readout out, or choose another model",
            )
        return None


_NAMED = re.compile(r"(?P<name>[^=:/\\#?*]+)=(?P<spec>.+)", re.DOTALL)


def split_name(spec: str) -> tuple[str, str]:
    """The name in NAME=SPEC, or an empty one, and the spec alone; a path that exists is a path.

    Examples
    --------
    >>> split_name("ours=hf:org/model"), split_name("lm-eval:logs?task=arc#ours")
    (('ours', 'hf:org/model'), ('', 'lm-eval:logs?task=arc#ours'))
    """
    # A spec may be too long for a file name, or contain characters that no file name has.
    is_path = attempt(Path(spec).exists) is True
    match = None if is_path else _NAMED.fullmatch(spec)
    return (match["name"].strip(), match["spec"]) if match else ("", spec)


def with_name(spec: str, requested: str) -> str:
    """A spec with the name that the requested one has, if any.

    >>> with_name("hf:org/model", "ours=org/model"), with_name("hf:org/model", "org/model")
    ('ours=hf:org/model', 'hf:org/model')
    """
    name, _ = split_name(requested)
    return f"{name}={spec}" if name else spec


_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9_+-]*):(?P<rest>.*)", re.DOTALL)


def split_spec(spec: str) -> tuple[str, str]:
    """Scheme and rest of a spec without its name; a bare name or path belongs to ``hf``.

    Raises
    ------
    SpecError
        When the spec, or what follows its scheme, is empty.

    Examples
    --------
    >>> split_spec("predictions:answers.jsonl")
    ('predictions', 'answers.jsonl')
    >>> split_spec("google-bert/bert-base-uncased")
    ('hf', 'google-bert/bert-base-uncased')
    """
    spec = split_name(spec)[1]
    is_path = attempt(Path(spec).exists) is True
    match = None if is_path else _SCHEME.fullmatch(spec)
    scheme, rest = (match["scheme"], match["rest"]) if match else ("hf", spec)
    if not rest.strip():
        raise SpecError(
            f"the model spec `{spec}`",
            expected=f"SCHEME:REST with a scheme of {', '.join(names_in('models'))}",
            fix="write for example hf:distilbert-base-uncased-finetuned-sst-2-english",
        )
    return scheme, rest


def find_scheme(spec: str) -> tuple[Scheme, str]:
    """The scheme of a spec, and the rest of it.

    Raises
    ------
    SpecError
        When no scheme has that name, or the plugin that has it does not load.
    """
    name, rest = split_spec(spec)
    entry = find("models", name)
    scheme = entry.target if isinstance(entry.target, Scheme) else Scheme(name, entry.target)
    if scheme.name != name:
        raise SpecError(
            f"the model scheme `{name}` of {entry.origin}, which calls itself `{scheme.name}`",
            expected="one name for the entry point and the scheme",
            fix=f"fix {entry.origin}",
        )
    if is_built_in(scheme):
        return scheme, rest
    # A plugin's methods may fail in any way; `load` is guarded by its caller.
    code, guarded = UntrustedCode(entry.origin), copy(scheme)
    for method in ("require_there", "short_name", "labels", "weights", "encoder", "latent_reader"):
        setattr(guarded, method, partial(code.call, method, getattr(scheme, method)))
    # A generator raises its errors only when it is read.
    guarded.expand = partial(code.call, "expand", scheme.expand, check=lambda specs, _: (*specs,))  # type: ignore[method-assign]
    return guarded, rest


def is_built_in(scheme: Scheme) -> bool:
    """Whether a scheme comes with SCoPE."""
    return scheme.name in (*BUILT_IN["models"], *BUILT_IN["logs"])


def checked_spec(spec: str) -> str:
    """The whole spec of a model whose scheme exists and whose file, where it has one, is there.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When a GGUF file is missing, or is none.
    """
    scheme, rest = find_scheme(spec)
    scheme.require_there(rest)
    return with_name(f"{scheme.name}:{rest}", spec)


def scheme_of(spec: str) -> Scheme:
    """What is known about a model by its spec; nothing for an object or a removed plugin.

    Examples
    --------
    >>> scheme_of("gguf:model.gguf").computed, scheme_of("memory:mine#777aab03").computed
    (True, False)
    """
    try:
        return find_scheme(spec)[0]
    except SpecError:
        return Scheme(spec.partition(":")[0])


def expand_spec(spec: str) -> tuple[str, ...]:
    """The specs of all models that a spec means; most mean one.

    ``predictions:FILE.tsv#*`` means every model of the table, in its order, ``lm-eval:PATH#*``
    every model of the logs, ``predictions:FOLDER`` every file of saved answers in it, by name.

    Raises
    ------
    SpecError
        When the spec means nothing.
    DataError
        When a table or log cannot be read, or no model of it is named, or a folder holds none.

    Examples
    --------
    >>> expand_spec("hf:google-bert/bert-base-uncased")
    ('hf:google-bert/bert-base-uncased',)
    """
    scheme, rest = find_scheme(spec)
    several = tuple(scheme.expand(rest))
    if split_name(spec)[0] and len(several) > 1:
        raise SpecError(
            f"one name for {len(several)} models, `{spec}`",
            expected="NAME=SPEC with the spec of one model",
            fix="leave the name out, or name the models one by one",
        )
    # A bare name or path stays as the user wrote it.
    whole = several == (f"{scheme.name}:{rest}",)
    return (spec,) if whole else tuple(with_name(each, spec) for each in several)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A model with the name that tables and reports give it, and its role in the job.

    ``adapter`` answers, in the roles of `scope.protocols`; ``own`` is true if it is the user's
    object, passed directly or as ``python:``.
    """

    name: str
    role: ModelRole = "model"
    adapter: Any
    own: bool = False

    @property
    def spec(self) -> str:
        """The string that loads it again."""
        return str(self.adapter.spec)

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever its answers could."""
        return str(self.adapter.fingerprint)

    @property
    def saved(self) -> bool:
        """Whether its answers are looked up in a file, at no cost, and need not be stored."""
        return scheme_of(self.spec).saved

    @property
    def served(self) -> bool:
        """Whether it runs on a server."""
        return scheme_of(self.spec).served

    @property
    def is_object(self) -> bool:
        """Whether it is an object of Python that each process asks anew."""
        return self.spec.startswith(OBJECT)

    def card(self, truncated: int = 0) -> ModelCard:
        """Its entry in the manifest, without labels."""
        reading = getattr(self.adapter, "reading", None)
        reading = reading if isinstance(reading, PromptReading) else None
        names = reading.first_prompts if reading else ()
        return ModelCard(
            name=self.name,
            role=self.role,
            spec=self.spec,
            # Of an object that is asked anew: the same in each process.
            fingerprint=f"none: {self.name}" if self.is_object else self.fingerprint,
            truncated=truncated,
            reproducible=TEXT_BY_TEXT
            if getattr(self.adapter, "asked_alone", False)
            else getattr(self.adapter, "varies", "") or getattr(self.adapter, "reproducible", ""),
            prompts={name: self.adapter.prompts[name] for name in names},
            reading=reading,
        )


_MARK = "computed_by"
_LIBRARIES = ("torch", "transformers", "tokenizers", "sentencepiece", "gguf", "numpy")
_VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
)
AnyModel = TypeVar("AnyModel")


def mark_cacheable(model: AnyModel, spec: str, options: ModelOptions) -> AnyModel:
    """Mark a model loaded by a spec with its hardware and settings, if it is certain."""
    if scheme_of(spec).computed and not options.trust_remote_code:
        setattr(model, _MARK, _computed_by(options))
    return model


def carry_mark(wrapper: object, model: object) -> None:
    """Copy the wrapped model's mark."""
    if mark := _mark_of(model):
        setattr(wrapper, _MARK, mark)


def identity_of(model: Any) -> str | None:
    """All that a model's answers depend on, except the input; None where that is uncertain.

    It is also uncertain where no number of rows gives equal bits: an answer then depends on the
    batch.
    """
    mark, reproducible = _mark_of(model), str(getattr(model, "reproducible", ""))
    if not mark or not reproducible.startswith("to the byte"):
        return None
    return f"{model.fingerprint}; {reproducible}; {mark}; {hash_of_source('scope.models')}"


def _mark_of(model: object) -> str:
    # Not by `getattr`: an object of the user's may pass on whatever it is asked for.
    return str(getattr(model, "__dict__", {}).get(_MARK, ""))


def _computed_by(options: ModelOptions) -> str:
    """The device, the libraries and the settings on which the last bits of an answer depend."""
    torch = load_torch()
    device = choose_device(options.device)
    if device.type == "cuda":
        where = f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    else:
        where = f"{_processor()}, {torch.backends.cpu.get_cpu_capability()}"
    variables = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    versions = [f"{name} {_version(name)}" for name in _LIBRARIES]
    precision = (
        f"{torch.get_float32_matmul_precision()} precision, "
        f"TF32 {torch.backends.cuda.matmul.allow_tf32} {torch.backends.cudnn.allow_tf32}"
    )
    wanted = options.threads or torch.get_num_threads()
    threads = f"{wanted} threads, {'asleep' if waiting_threads_sleep() else 'spinning'} in between"
    return ", ".join([device.type, where, precision, threads, options.dtype, *versions, *variables])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


@cache
def _processor() -> str:
    """The processor's name; where the system gives none, its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"{platform.machine()} {platform.processor()}"


@cache
def hash_of_source(*packages: str) -> str:
    """A hash of the source of SCoPE's packages: another release may give other answers.

    Examples
    --------
    >>> len(hash_of_source("scope.models"))
    16
    """
    import importlib.util

    digest = hashlib.sha256()
    for package in packages:
        spec = importlib.util.find_spec(package)
        folders = (spec and spec.submodule_search_locations) or []
        for path in sorted(file for folder in folders for file in Path(folder).rglob("*")):
            if path.suffix in (".py", ".txt", ".tsv"):
                digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
