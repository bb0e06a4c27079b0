"""The scheme of a spec: how its models are loaded, and what is known about them before.

A built-in scheme is one file with a `Scheme` and one line in `scope.registry`; a plugin may provide
a loading function.

`load_model` gives the model behind a spec in a role; `Model` is a model of a job. `OneInMemory`
keeps one of many models in memory: a test of reuse runs twenty and more, one after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar, cast

from scope.errors import ModelError, SpecError
from scope.models.options import ModelOptions, Readout, require_words
from scope.models.torch_setup import carry_mark, computed_by_torch, mark_computed
from scope.protocols import (
    ChoiceScorer,
    Classifier,
    Encoder,
    LatentReader,
    Role,
    UntrustedCode,
    attempt,
)
from scope.records import ModelCard, PromptReading
from scope.records.result import OBJECT, TEXT_BY_TEXT, ModelRole
from scope.registry import BUILT_IN, find, names_in


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

    by_letters: ClassVar[bool] = False
    """Models choose among options by writing a letter, in no other form."""

    computed: ClassVar[bool] = False
    """The model runs here and contains no code; its fingerprint covers the bytes of its files."""

    with_more_roles: ClassVar[str] = ""
    """Another spec of the same model, which has roles that this one lacks."""

    own: ClassVar[bool] = False
    """The code of the user answers."""

    def __init__(self, name: str, load: Load = _not_installed) -> None:
        self.name = name
        self.load = load

    def of(self, rest: str) -> Scheme:
        """The scheme of this model: not all models of a scheme are loaded alike."""
        return self

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

    def computed_by(self, options: ModelOptions) -> str:
        """The hardware and settings on which the last bits of an answer depend."""
        return computed_by_torch(options)

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
                expected="a model of the scheme hf: no other has a choice of readout",
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

    The path of a GGUF file belongs to ``gguf``.

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
    >>> split_spec("model.Q4_K_M.gguf")
    ('gguf', 'model.Q4_K_M.gguf')
    """
    spec = split_name(spec)[1]
    is_path = attempt(Path(spec).exists) is True
    match = None if is_path else _SCHEME.fullmatch(spec)
    bare = "gguf" if spec.endswith(".gguf") else "hf"
    scheme, rest = (match["scheme"], match["rest"]) if match else (bare, spec)
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
    if comes_with_scope(scheme):
        return scheme.of(rest), rest
    # A plugin's methods may fail in any way; `load` is guarded by its caller.
    code, guarded = UntrustedCode(entry.origin), copy(scheme)
    for method in ("require_there", "short_name", "labels", "weights", "encoder", "latent_reader"):
        setattr(guarded, method, partial(code.call, method, getattr(scheme, method)))
    # A generator raises its errors only when it is read.
    guarded.expand = partial(code.call, "expand", scheme.expand, check=lambda specs, _: (*specs,))  # type: ignore[method-assign]
    return guarded, rest


def comes_with_scope(scheme: Scheme) -> bool:
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

    ``adapter`` answers, in the roles of `scope.protocols`.
    """

    name: str
    role: ModelRole = "model"
    adapter: Any

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
    def own(self) -> bool:
        """Whether it is the user's object, passed directly or as ``python:``."""
        return getattr(self.adapter, "own", False)

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
            else getattr(self.adapter, "reproducible", "") or getattr(self.adapter, "varies", ""),
            prompts={name: self.adapter.prompts[name] for name in names},
            reading=reading,
        )


AnyModel = TypeVar("AnyModel")


def mark_cacheable(model: AnyModel, spec: str, options: ModelOptions) -> AnyModel:
    """Mark a model loaded by a spec with its hardware and settings, if it is certain."""
    if scheme_of(spec).computed and not options.trust_remote_code:
        mark_computed(model, scheme_of(spec).computed_by(options))
    return model


class _Once(NamedTuple):
    """Specs of models that are loaded once, and the loaded models by kind, spec and options."""

    specs: Container[str]
    loaded: dict[tuple[str, str, ModelOptions], Any]


_once: ContextVar[_Once | None] = ContextVar("once", default=None)


@contextmanager
def loading_once(specs: Container[str]) -> Iterator[None]:
    """Load each of these models and each encoder once inside, and keep it in memory until the end.

    Several jobs on the same models use it; a model in another role is the same object.
    """
    token = _once.set(_Once(specs, {}))
    try:
        yield
    finally:
        _once.reset(token)


def _loaded_once(kind: str, spec: str, options: ModelOptions, load: Callable[[], Any]) -> Any:
    """The result of ``load``; inside `loading_once` the first result."""
    once, key = _once.get(), (kind, spec, options)
    if once is None or not (kind == "encoder" or spec in once.specs):
        return load()
    if key not in once.loaded:
        once.loaded[key] = load()
    return once.loaded[key]


def load_model(spec: str, role: Role, options: ModelOptions | None = None) -> Any:
    """The model behind a spec, which has the methods of the role's protocol.

    A language model is a classifier when the options give it label words.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model cannot be loaded or lacks the role.
    """
    options = options or ModelOptions()
    if role == "encoder":
        return load_encoder(spec, options)
    if role == "latent_reader":
        return load_latent_reader(spec, options)
    loaded = _named(_loaded_once("model", spec, options, partial(_loaded, spec, options)), spec)
    return in_role(loaded, spec, role, options)


def _named(model: Any, spec: str) -> Any:
    """The model, which keeps the name in NAME=SPEC."""
    if with_name(model.spec, spec) != model.spec and not split_name(model.spec)[0]:
        model.spec = with_name(model.spec, spec)
    return model


def _loaded(spec: str, options: ModelOptions) -> Any:
    """The model of any scheme; foreign code runs behind the boundary."""
    scheme, rest = find_scheme(spec)
    # Here and not above: NumPy takes time to import, which the command line need not wait for.
    from scope.models.inference import Computed
    from scope.models.questions import GuardedModel, is_complete

    # What a library raises, or the code of a checkpoint, is converted by our adapters.
    if comes_with_scope(scheme):
        model = scheme.load(rest, options)
        if isinstance(model, Computed) and not options.trust_remote_code:
            model.measure()
        return model
    code = UntrustedCode(spec)
    model = code.call("loading", scheme.load, rest, options)
    complete = code.call("its attributes", is_complete, model)
    return GuardedModel(model, code, own=scheme.own) if complete else model


def in_role(model: object, spec: str, role: Role, options: ModelOptions) -> Any:
    """The model itself if it has the role, or a wrapper that gives it the role.

    Raises
    ------
    ModelError
        When it lacks the role; the message lists those that it has.
    """
    from scope.models.questions import KINDS

    if isinstance(model, KINDS[role].protocol):
        return model
    if role == "classifier" and isinstance(model, ChoiceScorer):
        if scheme_of(spec).saved:
            raise ModelError(
                f"`{spec}` contains answers to questions, not labels of texts",
                expected="for labels, one JSON line per text with `text`, `probabilities` and, "
                "in the first line, `labels`",
                fix="save the file in this form; or choose the task of the answers, such as "
                "--task choice",
            )
        from scope.models.labels import LabelWordClassifier

        return LabelWordClassifier(model, options)
    kind = getattr(model, "kind", None)
    kind = kind if isinstance(kind, type) else type(model)
    has = ", ".join(name for name, each in KINDS.items() if isinstance(model, each.protocol))
    other = scheme_of(spec).with_more_roles
    raise ModelError(
        f"`{spec}` is a {kind.__name__} with the roles: {has or 'none'}",
        expected=f"a model in the role of {role}: with `spec`, `fingerprint` and "
        f"`{KINDS[role].method}`",
        fix=(f"write {other}, or " if other else "")
        + "choose another model, or use one of this model's roles (see `scope list models`)",
    )


def load_classifier(spec: str, options: ModelOptions | None = None) -> Classifier:
    """The model behind a spec in the role of classifier.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model cannot be loaded, has fewer than two labels, or no such role.
    """
    return require_labels(load_model(spec, "classifier", options))


def require_labels(model: Classifier) -> Classifier:
    """The classifier itself, if it has labels to choose from.

    Raises
    ------
    ModelError
        When it has fewer than two different labels.
    """
    if len(set(model.labels)) < 2:
        raise ModelError(
            f"`{model.spec}` has the labels {list(model.labels)}",
            expected="a classifier with at least two different labels",
            fix="name a model that was trained to classify; a regression head has no labels",
        )
    return model


def load_encoder(spec: str | Any, options: ModelOptions | None = None) -> Encoder:
    """The sentence encoder behind a spec, or an object itself; only ``hf`` has encoders."""
    if not isinstance(spec, str):
        name = getattr(spec, "spec", type(spec).__name__)
        return cast(Encoder, in_role(spec, name, "encoder", options or ModelOptions()))
    scheme, rest = find_scheme(spec)
    options = options or ModelOptions()
    loaded = _loaded_once("encoder", spec, options, partial(scheme.encoder, rest, options))
    return cast(Encoder, mark_cacheable(loaded, spec, options))


def load_latent_reader(
    spec: str | Any, options: ModelOptions | None = None, readout: Readout | None = None
) -> LatentReader:
    """The model behind a spec, or an object itself, read layer by layer.

    The weights of a spec are loaded when they are needed.

    Parameters
    ----------
    readout
        How a text becomes one vector per layer; by default a prompt's last token for causal models,
        the mean for others. ``python:`` models have their own readout.

    Raises
    ------
    SpecError
        When no scheme has that name, or its models have their own readout.
    ModelError
        When the model cannot be found, or has no hidden states; the message lists its roles.
    """
    options = options or ModelOptions()
    model, spec = spec, str(getattr(spec, "spec", spec))
    scheme, rest = find_scheme(spec) if isinstance(model, str) else (Scheme(spec), spec)
    reader = scheme.latent_reader(rest, options, readout)
    if reader is None:
        if isinstance(model, str):
            model = _loaded_once("model", spec, options, partial(_loaded, spec, options))
        reader = cast(LatentReader, in_role(model, spec, "latent_reader", options))
    return cast(LatentReader, _named(reader, spec) if isinstance(model, str) else reader)


class OneInMemory:
    """Models of which only the last one used is in memory.

    Each is loaded once to read its attributes, and again when it is used.
    """

    def __init__(self) -> None:
        self._load: Callable[[], Any] | None = None
        self._loaded: Any = None

    def add(self, load: Callable[[], Any]) -> LoadedWhenAsked:
        """The model that ``load`` gives, with its roles and its identity, but not in memory."""
        self._forget()
        return LoadedWhenAsked(load(), partial(self._fetch, load))

    def _fetch(self, load: Callable[[], Any]) -> Any:
        if self._load is not load:
            # The previous model is released first: two may not fit.
            self._forget()
            self._load, self._loaded = load, load()
        return self._loaded

    def _forget(self) -> None:
        self._load = self._loaded = None


_ATTRIBUTES = ("prompts", "words", "reading", "form", "thought_tokens", "reproducible", "labels")


class LoadedWhenAsked:
    """A model's attributes and roles; the model is loaded when it is used. ``kind`` is its type.

    Examples
    --------
    >>> class Model:
    ...     spec, fingerprint, labels = "mine", "f1", ("no", "yes")
    ...     def classify(self, texts): return [text.upper() for text in texts]
    >>> models, loads = OneInMemory(), []
    >>> model = models.add(lambda: loads.append("loaded") or Model())
    >>> model.labels, model.classify(["a"]), model.classify(["b"]), loads
    (('no', 'yes'), ['A'], ['B'], ['loaded', 'loaded'])
    """

    def __init__(self, model: Any, fetch: Callable[[], Any]) -> None:
        from scope.models.questions import CALLS

        self.kind = type(model)
        self.spec: str = model.spec
        self.fingerprint: str = model.fingerprint
        carry_mark(self, model)
        for name in _ATTRIBUTES:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        # Only the model's own methods, so that it has the same roles.
        for name in CALLS:
            if hasattr(model, name):
                setattr(
                    self, name, partial(lambda name, *items: getattr(fetch(), name)(*items), name)
                )
