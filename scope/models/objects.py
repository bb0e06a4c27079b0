"""Models that Python passes as objects: each becomes what its spec would give, under a name.

An object that is an attribute of its module is loaded as ``python:MODULE:ATTRIBUTE``, with the same
identity. All else is ``memory:NAME-HASH``, or ``memory:NAME`` by a ``name`` of its own. The hash
covers the weights of a library's model, and of other code what can be read of it and of its state.
That is no proof, so stored answers of such a model are reused only after a few were asked again
(`scope.jobs.canaries`).
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from scope.data.memory import MEMORY
from scope.foreign import ForeignCode, attempt
from scope.models import library_objects
from scope.models.guarded import GuardedModel, is_complete
from scope.models.library_objects import Identity
from scope.models.options import ModelOptions
from scope.models.python import load, with_identity


def adapted(model: Any, options: ModelOptions) -> Any:
    """The object as a model with the roles that it has; a spec stays as it is.

    Parameters
    ----------
    model
        A spec or path; an object with the members of a role (`scope.protocols`) and an identity of
        its own; a function or object as `scope.models.python` takes it; a pipeline of transformers
        or a pair of its model and tokenizer; a sentence encoder; a fitted classifier of
        scikit-learn.

    Raises
    ------
    ModelError
        When it is nothing of the kind, or its labels are not known.

    Examples
    --------
    >>> def model(texts):
    ...     return [[0.25, 0.75] for text in texts]
    >>> model.labels = ("no", "yes")
    >>> [one] = adapted(model, ModelOptions()).classify(["a text"])
    >>> one.probabilities
    (0.25, 0.75)
    """
    if isinstance(model, str | Path):
        return str(model)
    if is_complete(model):
        ours = type(model).__module__.startswith("scope.")
        return model if ours else GuardedModel(model, ForeignCode(str(model.spec)))
    model = _owner(model)
    if place := _place(model):
        return load(place, options)
    if isinstance(model, type):
        model = ForeignCode(model.__name__).call("loading", model)
    name, fingerprint = _identity(model)
    own = getattr(model, "name", None)
    known = own if isinstance(own, str) and own else f"{name}-{fingerprint[:8]}"
    return with_identity(model, name, ForeignCode(f"{MEMORY}{known}"), fingerprint, options)


def _owner(model: Any) -> Any:
    """The estimator whose method ``predict_proba`` is passed, which knows its labels."""
    is_method = getattr(model, "__name__", "") == "predict_proba"
    return getattr(model, "__self__", model) if is_method else model


def _place(model: Any) -> str | None:
    """``MODULE:ATTRIBUTE`` of an object that its module holds; None where there is no such place.

    The main program is no such module: another one has other attributes.
    """
    home = getattr(model, "__module__", None)
    if not isinstance(home, str) or home == "__main__":
        return None
    held = getattr(sys.modules.get(home), "__dict__", {})
    names = (name for name, one in list(held.items()) if one is model and name.isidentifier())
    name = next(names, None)
    return None if name is None else f"{home}:{name}"


def _identity(model: Any) -> Identity:
    if library_objects.is_known(model):
        return library_objects.identity_of_object(model)
    kind = type(model)
    known = str(getattr(model, "__name__", kind.__name__))
    name = "model" if known == "<lambda>" else known
    digest = hashlib.sha256(f"{kind.__module__}.{kind.__qualname__} {name}".encode())
    for part in _parts(model):
        attempt(partial(pickle.Pickler(_Hashing(digest)).dump, part))
    return Identity(name, digest.hexdigest()[:16])


_CALL = "__call__"


class _Hashing:
    """A file that hashes what is written to it, and keeps nothing."""

    def __init__(self, digest: Any) -> None:
        self.write = digest.update


def _parts(model: Any) -> Iterator[Any]:
    """What an object's answers depend on, as far as it can be read."""
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
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _constants(one)
        else:
            yield repr(one)
