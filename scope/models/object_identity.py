"""What a model that is passed as a Python object is known by.

An object that carries a ``fingerprint`` is known by it. Any other object is known as long as it
lives: code and state cannot be hashed. Each process asks it anew, and keeps its answers for itself.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable
from itertools import repeat
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


_LIVING: list[tuple[Callable[[], object], str]] = []
"""References to the objects of this process that carry no fingerprint, each with one for here."""


def identity_of_object(model: Any) -> Identity:
    """The identity of an object; without a fingerprint, that of as long as it lives.

    Examples
    --------
    >>> class Model:
    ...     labels = ("no", "yes")
    >>> first, second = Model(), Model()
    >>> identity_of_object(first).spec == identity_of_object(second).spec
    False
    >>> first.fingerprint = second.fingerprint = "weights of May"
    >>> identity_of_object(first) == identity_of_object(second)
    True
    """
    model = library_objects.model_in(model)
    kind = type(model).__name__
    name, code = getattr(model, "name", None), getattr(model, "__name__", None)
    named = isinstance(name, str) and bool(name)
    if not named:
        name = "model" if code == "<lambda>" else code or library_objects.name_of(model) or kind
    name = checked_text(name, "name" if named else "__name__", kind)
    if fingerprint := carried_fingerprint(model):
        digest = hashlib.sha256(fingerprint.encode()).hexdigest()[:8]
        return Identity(name, f"{MEMORY}{name}{'' if named else f'#{digest}'}", fingerprint)
    number, fingerprint = _known_here(model)
    return Identity(name, f"{OBJECT}{name}#{number}", fingerprint)


def carried_fingerprint(model: Any) -> str | None:
    """The fingerprint that an object carries, if it is a text."""
    fingerprint = getattr(model, "fingerprint", None)
    if not isinstance(fingerprint, str) or not fingerprint:
        return None
    return checked_text(fingerprint, "fingerprint", type(model).__name__)


def _known_here(model: Any) -> tuple[int, str]:
    for number, (held, fingerprint) in enumerate(_LIVING, start=1):
        # A bound method is made anew whenever it is looked up.
        known = held()
        if known is model or (type(model) is type(known) is MethodType and known == model):
            return number, fingerprint
    fingerprint = f"{OBJECT}{uuid4().hex}"
    kept: Callable[[], object]
    try:
        kept = (weakref.WeakMethod if isinstance(model, MethodType) else weakref.ref)(model)
    except TypeError:  # such as an object with slots
        kept = repeat(model).__next__
    _LIVING.append((kept, fingerprint))
    return len(_LIVING), fingerprint
