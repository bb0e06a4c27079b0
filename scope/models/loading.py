"""Loads the model behind a spec, in the requested role.

`OneInMemory` keeps one of many models in memory: a test of reuse runs twenty and more, one after
another.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, cast

from scope.errors import ModelError
from scope.models.options import ModelOptions, Readout
from scope.models.questions import CALLS, KINDS, GuardedModel, guard_methods, is_complete
from scope.models.scheme import (
    Scheme,
    carry_mark,
    find_scheme,
    is_built_in,
    mark_cacheable,
    scheme_of,
    split_name,
    with_name,
)
from scope.protocols import ChoiceScorer, Classifier, Encoder, LatentReader, Role
from scope.untrusted import UntrustedCode


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
    built_in = is_built_in(scheme)
    if built_in and (scheme.own or not options.trust_remote_code):
        return scheme.load(rest, options)
    code = UntrustedCode(spec)
    model = code.call("loading", scheme.load, rest, options)
    if built_in:
        return guard_methods(model, code)
    complete = code.call("its attributes", is_complete, model)
    return GuardedModel(model, code) if complete else model


def in_role(model: object, spec: str, role: Role, options: ModelOptions) -> Any:
    """The model itself if it has the role, or a wrapper that gives it the role.

    Raises
    ------
    ModelError
        When it lacks the role; the message lists those that it has.
    """
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
    raise ModelError(
        f"`{spec}` is a {kind.__name__} with the roles: {has or 'none'}",
        expected=f"a model in the role of {role}: with `spec`, `fingerprint` and "
        f"`{KINDS[role].method}`",
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
                setattr(self, name, partial(_ask, fetch, name))


def _ask(fetch: Callable[[], Any], name: str, *arguments: Any) -> Any:
    return getattr(fetch(), name)(*arguments)
