"""Models that are passed as Python objects: each becomes the model that its spec would load.

An object that is an attribute of its module is loaded as ``python:MODULE:ATTRIBUTE``, with the same
identity. Any other object is ``memory:NAME#HASH``, shown by its name, or ``memory:NAME`` if it has
a ``name``. The hash covers the weights of a library's model and, for other code, the readable part
of the code and its state; if a part is unreadable, it also covers the object's number among those
with the same readable part. That is no proof across sessions, so stored answers of such a model are
reused only after one was asked for again (`scope.answers.asking`).
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any

from scope.models import library_objects
from scope.models.guarded import GuardedModel, checked_text, is_complete
from scope.models.library_objects import Identity
from scope.models.options import ModelOptions
from scope.models.python import load, with_identity
from scope.records import MEMORY
from scope.untrusted import UntrustedCode, attempt


def adapted(model: Any, options: ModelOptions) -> Any:
    """The object as a model with the roles that it has; a spec stays as it is.

    Parameters
    ----------
    model
        A spec or path; an object with the members of a role (`scope.protocols`) and its own
        identity; a function or object as `scope.models.python` takes it; a pipeline of transformers
        or a pair of its model and tokenizer; a sentence encoder; a fitted classifier of
        scikit-learn.

    Raises
    ------
    ModelError
        When it is none of these, or its labels are not known.

    Examples
    --------
    >>> def model(texts):
    ...     return [[0.25, 0.75] for text in texts]
    >>> model.labels = ("no", "yes")
    >>> [prediction] = adapted(model, ModelOptions()).classify(["a text"])
    >>> prediction.probabilities
    (0.25, 0.75)
    """
    if isinstance(model, str | Path):
        return str(model)
    if is_complete(model):
        ours = type(model).__module__.startswith("scope.")
        return model if ours else GuardedModel(model, UntrustedCode(str(model.spec)))
    model = _owner(model)
    if place := _place(model):
        return load(place, options)
    if isinstance(model, type):
        model = UntrustedCode(model.__name__).call("loading", model)
    name, fingerprint = _identity(model)
    attribute = getattr(model, "name", None)
    known = attribute if isinstance(attribute, str) and attribute else f"{name}#{fingerprint[:8]}"
    known = checked_text(known, "name", type(model).__name__)
    return with_identity(model, name, UntrustedCode(f"{MEMORY}{known}"), fingerprint, options)


def _owner(model: Any) -> Any:
    """The estimator whose method ``predict_proba`` is passed, which knows its labels."""
    is_method = getattr(model, "__name__", "") == "predict_proba"
    return getattr(model, "__self__", model) if is_method else model


def _place(model: Any) -> str | None:
    """``MODULE:ATTRIBUTE`` of an object that its module holds; None where there is no such place.

    The main program does not count: another program has other attributes.
    """
    home = getattr(model, "__module__", None)
    if not isinstance(home, str) or home == "__main__":
        return None
    held = getattr(sys.modules.get(home), "__dict__", {})
    names = (name for name, value in list(held.items()) if value is model and name.isidentifier())
    name = next(names, None)
    return None if name is None else f"{home}:{name}"


def _identity(model: Any) -> Identity:
    if library_objects.is_known(model):
        return library_objects.identity_of_object(model)
    kind = type(model)
    known = checked_text(getattr(model, "__name__", kind.__name__), "__name__", kind.__name__)
    name = "model" if known == "<lambda>" else known
    unread: list[Any] = []
    parts = [_digest(part, unread) for part in _parts(model)]
    digest = _hash_of(f"{kind.__module__}.{kind.__qualname__} {name}".encode(), *parts)
    if unread:
        digest = _hash_of(digest, str(_number(model, digest)).encode())
    return Identity(name, digest.hex()[:16])


_ALIKE: dict[bytes, list[Callable[[], object]]] = {}
"""The objects of this process with unreadable parts, by the hash of their readable parts."""


def _number(model: Any, digest: bytes) -> int:
    """The number of the object among the living objects with its hash: no two share an identity.

    The next process gives the same numbers to objects that come in the same order.
    """
    alike = _ALIKE.setdefault(digest, [])
    for number, held in enumerate(alike):
        if held() is model:
            return number
    free = next((number for number, held in enumerate(alike) if held() is None), len(alike))
    try:
        alike[free : free + 1] = [weakref.ref(model)]
    except TypeError:  # such as an object with slots
        alike[free : free + 1] = [lambda: model]
    return free


_CALL = "__call__"


def _hash_of(*parts: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.digest()


class _Hashing:
    """A file that hashes what is written to it, and keeps nothing."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.write = self.digest.update


def _digest(part: Any, unread: list[Any], within: tuple[int, ...] = ()) -> bytes:
    """A hash of a value's pickle; without a pickle, of its type, and the value goes to ``unread``.

    Containers are read piece by piece, so that a piece without a pickle hides no other. The pieces
    of a set, whose order differs between processes, are sorted by their hashes.
    """
    if type(part) in (str, bytes, int, float, bool, type(None)):
        return repr(part).encode("utf-8", "surrogatepass")
    if id(part) in within:
        return b"itself"
    if type(part) in (dict, list, tuple, set, frozenset):
        pieces = chain.from_iterable(part.items()) if type(part) is dict else part
        hashes = [_digest(piece, unread, (*within, id(part))) for piece in pieces]
        in_order = sorted(hashes) if type(part) in (set, frozenset) else hashes
        return _hash_of(type(part).__name__.encode(), *in_order)
    file = _Hashing()
    if attempt(partial(pickle.Pickler(file).dump, part)) is None:
        return file.digest.digest()
    unread.append(part)
    return _hash_of(f"{type(part).__module__}.{type(part).__qualname__}".encode())


def _parts(model: Any) -> Iterator[Any]:
    """The readable parts on which an object's answers depend."""
    yield getattr(model, "__dict__", None)
    for code in (model, getattr(type(model), _CALL, None), getattr(model, "classify", None)):
        function: Any = getattr(code, "func", getattr(code, "__func__", code))
        if inspect.isfunction(function):
            yield list(_constants(function.__code__))
            yield function.__defaults__
            for cell in function.__closure__ or ():
                yield attempt(partial(getattr, cell, "cell_contents"))


def _constants(code: CodeType) -> Iterator[object]:
    yield code.co_code, code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _constants(const)
        else:
            yield repr(const)
