"""Turns ``scheme:rest`` into a model in the role that is asked for, or into several.

A `Garage` keeps one of many models in memory: a test of reuse asks twenty and more, one after
another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from scope.errors import DataError, ModelError, SpecError
from scope.models.answer_table import ALL, parse_table_name, require_model, table_models
from scope.models.certainty import carry_mark, mark_cacheable
from scope.models.guarded import STREAMS, GuardedModel, guard_methods, is_complete
from scope.models.options import ModelOptions
from scope.paths import expanded
from scope.protocols import (
    METHODS,
    PROTOCOLS,
    ChoiceScorer,
    Classifier,
    Encoder,
    LatentReader,
    Role,
)
from scope.registry import BUILT_IN, LOGS, SAVED as SAVED_SCHEMES, find
from scope.untrusted import UntrustedCode

if TYPE_CHECKING:
    from scope.models.latents import Readout


_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9_+-]*):(?P<rest>.*)", re.DOTALL)


def split_spec(spec: str) -> tuple[str, str]:
    """Scheme and rest of a spec; a bare name or path belongs to ``hf``.

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
    match = None if _is_path(spec) else _SCHEME.fullmatch(spec)
    scheme, rest = (match["scheme"], match["rest"]) if match else ("hf", spec)
    if not rest.strip():
        raise SpecError(
            f"the model spec `{spec}`",
            expected=f"SCHEME:REST with a scheme of {', '.join(sorted(BUILT_IN['models']))}",
            fix="write for example hf:distilbert-base-uncased-finetuned-sst-2-english",
        )
    return scheme, rest


def _is_path(spec: str) -> bool:
    try:
        return Path(spec).exists()
    # A spec may be longer than the name of any file, or hold what none can.
    except (OSError, ValueError):
        return False


class _Once(NamedTuple):
    """Specs of models that are loaded once, and what is loaded, by its kind, spec and options."""

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
    """What ``load`` gives; inside `loading_once` that of the first time."""
    once, key = _once.get(), (kind, spec, options)
    if once is None or not (kind == "encoder" or spec in once.specs):
        return load()
    if key not in once.loaded:
        once.loaded[key] = load()
    return once.loaded[key]


def load_model(spec: str, role: Role, options: ModelOptions | None = None) -> Any:
    """The model behind a spec, which offers what the role's protocol asks.

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
    loaded = _loaded_once("model", spec, options, partial(_loaded, spec, options))
    return in_role(loaded, spec, role, options)


def _loaded(spec: str, options: ModelOptions) -> Any:
    """The model of any scheme; where foreign code is run for it, behind the boundary."""
    scheme, rest = split_spec(spec)
    load = find("models", scheme).target
    if scheme in BUILT_IN["models"]:
        if not options.trust_remote_code or scheme == "python":
            return load(rest, options)
        code = UntrustedCode(spec)
        return guard_methods(code.call("loading", load, rest, options), code)
    code = UntrustedCode(spec)
    model = code.call("loading", load, rest, options)
    with code.entered("its attributes"):
        complete = is_complete(model)
    return GuardedModel(model, code) if complete else model


def in_role(model: object, spec: str, role: Role, options: ModelOptions) -> Any:
    """The model itself if it has the role, or what gives it the role.

    Raises
    ------
    ModelError
        When it lacks the role; the message lists those that it has.
    """
    if isinstance(model, PROTOCOLS[role]):
        return model
    if role == "classifier" and isinstance(model, ChoiceScorer):
        if split_spec(spec)[0] in SAVED_SCHEMES:
            raise ModelError(
                f"`{spec}` contains answers to questions, not labels of texts",
                expected="for labels, one JSON line per text with `text`, `probabilities` and, "
                "in the first line, `labels`",
                fix="save the file in this form; or choose the task of the answers, such as "
                "--task choice",
            )
        from scope.models.labels import LabelWordClassifier

        return LabelWordClassifier(model, options)
    kind = getattr(model, "kind", type(model)).__name__
    has = ", ".join(name for name, offered in PROTOCOLS.items() if isinstance(model, offered))
    raise ModelError(
        f"`{spec}` is a {kind} with the roles: {has or 'none'}",
        expected=f"a model in the role of {role}: with `spec`, `fingerprint` and `{METHODS[role]}`",
        fix="choose another model, or use one of this model's roles (see `scope list models`)",
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
    """The sentence encoder behind a spec, or an object itself; of schemes ``hf`` alone has some."""
    if not isinstance(spec, str):
        name = getattr(spec, "spec", type(spec).__name__)
        return cast(Encoder, in_role(spec, name, "encoder", options or ModelOptions()))
    scheme, rest = split_spec(spec)
    if scheme != "hf":
        raise SpecError(
            f"an encoder of the scheme `{scheme}`",
            expected="hf:NAME or a folder that sentence-transformers can load",
            fix="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        )
    from scope.models.encoder import load

    options = options or ModelOptions()
    loaded = _loaded_once("encoder", spec, options, partial(load, rest, options))
    return cast(Encoder, mark_cacheable(loaded, scheme, options))


def load_latent_reader(
    spec: str | Any, options: ModelOptions | None = None, readout: Readout | None = None
) -> LatentReader:
    """The model behind a spec, or an object itself, read layer by layer.

    The weights of a spec are loaded when they are needed.

    Parameters
    ----------
    readout
        How a text becomes one vector per layer; by default a prompt's last token for causal models,
        the mean for others. Models of ``python:`` are read in a way of their own.

    Raises
    ------
    SpecError
        When no scheme has that name, or its models are read in a way of their own.
    ModelError
        When the model cannot be found, or has no hidden states; the message lists its roles.
    """
    options = options or ModelOptions()
    model, spec = spec, getattr(spec, "spec", spec)
    scheme, rest = split_spec(spec)
    if isinstance(model, str) and scheme in ("hf", "gguf"):
        from scope.models.latents import read_checkpoint, read_gguf

        return (read_checkpoint if scheme == "hf" else read_gguf)(rest, options, readout)
    if readout is not None:
        raise SpecError(
            f"the readout {readout.kind} for the scheme `{scheme}`",
            expected="a model of the scheme hf or gguf: other schemes have no choice of readout",
            fix="leave the readout out, or choose another model",
        )
    if scheme == "openai":
        raise ModelError(
            f"`{spec}` runs on a server, which does not expose its layers",
            expected="a model that is loaded here, as hf:NAME or gguf:FILE, or an object with "
            f"`{METHODS['latent_reader']}` as python:MODULE:ATTRIBUTE",
            fix="use the checkpoint itself",
        )
    loaded = _loaded(spec, options) if isinstance(model, str) else model
    return cast(LatentReader, in_role(loaded, spec, "latent_reader", options))


SAVED = (".jsonl", ".jsonl.gz", ".parquet")
"""How the names of files of saved answers end."""


def expand_spec(spec: str) -> tuple[str, ...]:
    """The specs of all models that a spec means.

    ``predictions:FILE.tsv#*`` means every model of the table, in its order, ``inspect:PATH#*`` (or
    another tool) every model of the logs, ``predictions:FOLDER`` every file of saved answers in it,
    by name; any other spec itself.

    Raises
    ------
    SpecError
        When the spec means nothing.
    DataError
        When the table cannot be read, or no model of it is named, or the folder holds no answers.

    Examples
    --------
    >>> expand_spec("hf:google-bert/bert-base-uncased")
    ('hf:google-bert/bert-base-uncased',)
    """
    scheme, rest = split_spec(spec)
    if scheme in LOGS:
        from scope.models.logs import expand

        return tuple(expand(scheme, rest))
    if scheme == "predictions" and (folder := expanded(rest)).is_dir():
        return _files_of(folder)
    table = parse_table_name(rest) if scheme == "predictions" else None
    if table is None:
        return (spec,)
    require_model(table)
    if table.model != ALL:
        return (spec,)
    return tuple(f"predictions:{table.path}#{model}" for model in table_models(table))


def _files_of(folder: Path) -> tuple[str, ...]:
    """The files of saved answers in a folder, one model each."""
    files = sorted(path for path in folder.iterdir() if path.name.endswith(SAVED))
    if not files:
        raise DataError(
            f"no saved answers in the folder {folder}",
            expected=f"one file per model, with one of the endings {', '.join(SAVED)}",
            fix="check the path",
        )
    return tuple(f"predictions:{file}" for file in files)


class Garage:
    """Parks models: each is loaded to learn what it is, and again when it is asked.

    Only the one that was asked last is in memory. Its answers do not depend on it.
    """

    def __init__(self) -> None:
        self._name: int | None = None
        self._loaded: Any = None

    def park(self, load: Callable[[], Any]) -> Parked:
        """The model that ``load`` gives, with its roles and its identity, but not in memory."""
        self._forget()
        return Parked(load(), partial(self._fetch, load))

    def _fetch(self, load: Callable[[], Any]) -> Any:
        if self._name != id(load):
            # The former one goes first: two may not fit.
            self._forget()
            self._name, self._loaded = id(load), load()
        return self._loaded

    def _forget(self) -> None:
        self._name = self._loaded = None


class Parked:
    """What a model is and can do; whoever asks it has it loaded. ``kind`` is the model's type.

    Examples
    --------
    >>> class Model:
    ...     spec, fingerprint, labels = "mine", "f1", ("no", "yes")
    ...     def classify(self, texts): return [text.upper() for text in texts]
    >>> garage, loads = Garage(), []
    >>> parked = garage.park(lambda: loads.append("loaded") or Model())
    >>> parked.labels, parked.classify(["a"]), parked.classify(["b"]), loads
    (('no', 'yes'), ['A'], ['B'], ['loaded', 'loaded'])
    """

    def __init__(self, model: Any, fetch: Callable[[], Any]) -> None:
        self.kind = type(model)
        self.spec: str = model.spec
        self.prompts: Mapping[str, str] = getattr(model, "prompts", {})
        self.words: Mapping[str, str] = getattr(model, "words", {})
        self.fingerprint: str = model.fingerprint
        self.reproducible: str = getattr(model, "reproducible", "")
        carry_mark(self, model)
        if hasattr(model, "labels"):
            self.labels: tuple[str, ...] = model.labels
        # Only what the model itself offers, so that it has the same roles.
        for name in (*METHODS.values(), *STREAMS):
            if hasattr(model, name):
                setattr(self, name, partial(_ask, fetch, name))


def _ask(fetch: Callable[[], Any], name: str, *arguments: Any) -> Any:
    return getattr(fetch(), name)(*arguments)
