"""A model of foreign code: checked once, and every failure is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from numbers import Real
from typing import Any

from scope.errors import ModelError
from scope.printing import shown, unstorable, writable
from scope.protocols import METHODS, PROTOCOLS
from scope.records import Prediction
from scope.untrusted import UntrustedCode

MOST_LABELS = 10_000
"""A generator may have no end."""

_TEXTS = ("spec", "fingerprint", "reproducible", "precision")
STREAMS = ("stream", "stream_next")
"""Methods that yield predictions one by one, besides those of the roles."""

_CALLS = (*METHODS.values(), "truncated", *STREAMS)
_LABELS = "names of labels, as a list or tuple of texts"


def is_complete(candidate: object) -> bool:
    """Whether an object has a role as `scope.protocols` describes it."""
    return isinstance(candidate, tuple(PROTOCOLS.values()))


class GuardedModel:
    """An object that has a role, behind the boundary of foreign code.

    It has the object's members, looked up once; ``kind`` is the object's type.

    Parameters
    ----------
    model
        An object with a role of `scope.protocols`.
    code
        The boundary through which its methods are called.
    """

    def __init__(self, model: object, code: UntrustedCode) -> None:
        self.kind = type(model)
        with code.entered("its attributes"):
            for name in _TEXTS:
                if hasattr(model, name):
                    setattr(self, name, checked_text(getattr(model, name), name, code.name))
            if hasattr(model, "labels"):
                self.labels = labels_as_texts(model.labels, code.name)
            methods = {name: getattr(model, name, None) for name in _CALLS}
        for name, method in methods.items():
            if callable(method):
                setattr(self, name, guarded_method(method, name, code))


def guard_methods(model: Any, code: UntrustedCode) -> Any:
    """The model itself, its methods behind the boundary: for a checkpoint with its own code."""
    for name in _CALLS:
        method = getattr(model, name, None)
        if callable(method):
            setattr(model, name, guarded_method(method, name, code))
    return model


def guarded_method(method: Any, name: str, code: UntrustedCode) -> Any:
    """The method behind the boundary, its answers checked."""
    check = _CHECKS.get(name)
    return partial(code.call, name, method, check=check and partial(check, code.name))


def _array(name: str, spec: str, answer: Any, _texts: object) -> Any:
    import numpy as np

    numbers = np.asarray(answer)
    if numbers.dtype.kind not in "fiub":
        raise ModelError(
            f"`{spec}` answered `{name}` with an array of {numbers.dtype}",
            expected="an array of numbers",
            fix="change its code",
        )
    return numbers


def _predictions(spec: str, answers: Any, texts: Sequence[str]) -> list[Prediction]:
    """The predictions for the texts; one more is enough to see that there are too many."""
    if isinstance(answers, str | Mapping) or not hasattr(answers, "__iter__"):
        raise _no_prediction(answers, spec)
    return [checked_prediction(answer, spec) for answer in islice(answers, len(texts) + 1)]


def _streamed(spec: str, answers: Any, _texts: object) -> Iterator[tuple[int, Prediction]]:
    """The stream of a foreign model as plain values; to be fetched inside its boundary."""
    for answer in answers:
        match answer:
            case (int() as place, prediction):
                yield int(place), checked_prediction(prediction, spec)
            case _:
                raise _no_prediction(answer, spec)


_CHECKS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("classify", "predict_next"), _predictions),
    **{name: partial(_array, name) for name in ("latents", "encode", "perplexities")},
    **dict.fromkeys(STREAMS, _streamed),
}
"""What makes the answers of a method plain, by its name; those of others are checked one by one."""


def checked_prediction(answer: Any, spec: str) -> Prediction:
    """A foreign model's prediction as plain numbers and texts; to be called inside its boundary.

    Raises
    ------
    ModelError
        When it is not a valid prediction.
    """
    # Imported here, so that the command line starts sooner.
    from scope.metrics.arrays import normalized

    if not isinstance(answer, Prediction):
        raise _no_prediction(answer, spec)
    values, tokens = tuple(answer.probabilities), tuple(answer.tokens)
    if not all(isinstance(value, Real) for value in values) or not all(
        isinstance(token, str) for token in tokens
    ):
        raise _no_prediction(answer, spec)
    return Prediction(
        probabilities=tuple(normalized(values, part=bool(tokens)).tolist()),
        truncated=bool(answer.truncated),
        tokens=tuple(map(writable, tokens)),
        missing=answer.missing,
    )


def _no_prediction(answer: Any, spec: str) -> ModelError:
    return ModelError(
        f"`{spec}` answered with {shown(answer)}",
        expected="a list with a `scope.records.Prediction` for each text: probabilities as numbers "
        "and, of next tokens, the tokens as texts",
        fix="change its code; or leave `spec` or `fingerprint` out, and return rows of numbers",
    )


def labels_as_texts(labels: Any, spec: str) -> tuple[str, ...]:
    """The labels of a foreign model as texts, in its order; to be called inside its boundary.

    Raises
    ------
    ModelError
        When they cannot be encoded as texts, or have no order or no end.

    Examples
    --------
    >>> labels_as_texts(["negative", "positive"], "python:mine:model")
    ('negative', 'positive')
    """
    # The order of a set differs between processes.
    unordered = isinstance(labels, str | bytes | Mapping | set | frozenset)
    is_list = hasattr(labels, "__iter__") and not unordered
    names = list(islice(labels, MOST_LABELS + 1)) if is_list else []
    if not is_list or len(names) > MOST_LABELS:
        kind = f"`labels` that are a {type(labels).__name__}: {shown(labels)}"
        raise ModelError(
            f"`{spec}` has {f'more than {MOST_LABELS} labels' if is_list else kind}",
            expected=_LABELS,
            fix="for example `labels = ('negative', 'positive')`",
        )
    return tuple(checked_text(_plain(name), "labels", spec) for name in names)


def _plain(name: Any) -> Any:
    """Integers are names, too, including NumPy's."""
    return str(name) if hasattr(name, "__index__") and not isinstance(name, bool) else name


def checked_text(value: object, name: str, spec: str) -> str:
    """A text that a foreign model gives for an attribute; to be called inside its boundary.

    Raises
    ------
    ModelError
        When it is not a text, or cannot be encoded.
    """
    empty = name == "fingerprint" and not value
    if not isinstance(value, str) or unstorable(value) or empty:
        kind = "which cannot be written as UTF-8" if isinstance(value, str) else "which is no text"
        kind = "which is empty" if empty else kind
        raise ModelError(
            f"`{spec}` has {shown(value)} in `{name}`, {kind}",
            expected=_LABELS if name == "labels" else f"a text as `{name}`",
            fix=f"change `{name}` in its code",
        )
    # A class derived from str may do anything when it is used.
    return str.__str__(value)
