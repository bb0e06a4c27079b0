"""What a model that is passed as a Python object is known by.

An object that carries a ``fingerprint`` is known by it, a model of transformers or of
sentence-transformers by its weights and settings (`scope.models.library_objects`). Any other object
is known as long as it lives: what its code and state would answer cannot be hashed. Its answers are
kept for this process alone, and each process asks it anew.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable
from itertools import count
from types import MethodType
from typing import Any, NamedTuple
from uuid import uuid4

from scope.models import library_objects
from scope.models.guarded import checked_text
from scope.records.result import MEMORY, OBJECT


class Identity(NamedTuple):
    """An object's short name, its spec, and the fingerprint under which its answers are kept."""

    name: str
    spec: str
    fingerprint: str


class _Living(NamedTuple):
    """An object of this process: a weak reference to it, and the number among those of its name."""

    held: Callable[[], object]
    name: str
    number: int
    fingerprint: str


_LIVING: list[_Living] = []


def identity_of_object(model: Any) -> Identity:
    """The identity of an object; of an unknown one as long as it lives.

    Examples
    --------
    >>> class Model:
    ...     labels = ("no", "yes")
    >>> first, second = Model(), Model()
    >>> identity_of_object(first).spec, identity_of_object(second).spec
    ('object:Model#1', 'object:Model#2')
    >>> first.fingerprint = second.fingerprint = "weights of May"
    >>> identity_of_object(first) == identity_of_object(second)
    True
    """
    kind = type(model).__name__
    name, given = getattr(model, "name", None), getattr(model, "__name__", None)
    named = isinstance(name, str) and bool(name)
    if not named:
        name = "model" if given == "<lambda>" else given or library_objects.name_of(model) or kind
    name = checked_text(name, "name" if named else "__name__", kind)
    if fingerprint := fingerprint_of_object(model):
        digest = hashlib.sha256(fingerprint.encode()).hexdigest()[:8]
        return Identity(name, f"{MEMORY}{name}{'' if named else f'#{digest}'}", fingerprint)
    living = _living(library_objects.model_in(model), name)
    return Identity(name, f"{OBJECT}{name}#{living.number}", living.fingerprint)


def fingerprint_of_object(model: Any) -> str | None:
    """The fingerprint that an object carries, or a hash of its weights; None for any other."""
    for part in (model, library_objects.model_in(model)):
        carried = getattr(part, "fingerprint", None)
        if isinstance(carried, str) and carried:
            return checked_text(carried, "fingerprint", type(model).__name__)
    return library_objects.hash_of_weights(model)


def _living(model: Any, name: str) -> _Living:
    _LIVING[:] = [entry for entry in _LIVING if entry.held() is not None]
    alike = [entry for entry in _LIVING if entry.name == name]
    if known := next((entry for entry in alike if _is_same(entry.held(), model)), None):
        return known
    numbers = {entry.number for entry in alike}
    number = next(number for number in count(1) if number not in numbers)
    held: Callable[[], object]
    try:
        held = (weakref.WeakMethod if isinstance(model, MethodType) else weakref.ref)(model)
    except TypeError:  # such as an object with slots

        def held() -> object:
            return model

    _LIVING.append(_Living(held, name, number, f"{OBJECT}{uuid4().hex}"))
    return _LIVING[-1]


def _is_same(first: object, second: object) -> bool:
    """Whether two are one object; a bound method is made anew whenever it is looked up."""
    return first is second or (type(first) is type(second) is MethodType and first == second)
