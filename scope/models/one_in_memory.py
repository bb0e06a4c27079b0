"""Keeps one of many models in memory: a test of reuse asks twenty and more, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from scope.models.loading import METHODS

_STREAMS = ("stream", "stream_next")


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
        if hasattr(model, "labels"):
            self.labels: tuple[str, ...] = model.labels
        # Only what the model itself offers, so that it has the same roles.
        for name in (*METHODS.values(), *_STREAMS):
            if hasattr(model, name):
                setattr(self, name, partial(_ask, fetch, name))


def _ask(fetch: Callable[[], Any], name: str, *arguments: Any) -> Any:
    return getattr(fetch(), name)(*arguments)
