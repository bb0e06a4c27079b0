"""``python:MODULE:ATTRIBUTE``: any object of the user's own that classifies or answers.

Plain values, one per question, become checked records: see `scope.models.questions`. Questions come
in portions, so that a failure does not cost the answers to earlier ones.

Models of transformers, sentence-transformers and scikit-learn are recognised by the modules of
their classes, so that none of the libraries is imported. Models of transformers are run by the same
adapters as checkpoints, not by pipelines: batches, row rules and limits are the same.

An object that carries a ``fingerprint`` is known by it. Any other object is known as long as it
lives: code and state cannot be hashed. Each process asks it anew, and keeps its answers for itself.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import repeat
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from scope.data.fields import plain_label
from scope.errors import ModelError, SpecError
from scope.models.checkpoint import Head, longest_input
from scope.models.huggingface import CLASSIFIER, HeadKind, kind_of
from scope.models.options import ModelOptions
from scope.models.questions import (
    ASKED_AT_ONCE,
    KINDS,
    GuardedModel,
    checked_text,
    is_complete,
    labels_as_texts,
    one_each,
)
from scope.models.scheme import Scheme
from scope.models.torch_setup import choose_threads, quiet_transformers
from scope.protocols import UntrustedCode, loading
from scope.records import Question
from scope.records.result import MEMORY, OBJECT

_ASKED = tuple(kind for role, kind in KINDS.items() if kind.read and role != "classifier")
"""The kinds of questions to an object, besides those for labels."""


class PythonModel:
    """An object's own methods under their names, with an identity; `GuardedModel` checks them."""

    def __init__(
        self,
        calls: Mapping[str, Callable[[list[Any]], Any]],
        labels: Sequence[str],
        spec: str,
        fingerprint: str,
    ) -> None:
        self.spec, self.fingerprint = spec, fingerprint
        if labels:
            self.labels = labels
        vars(self).update(calls)


def _in_portions(
    spec: str, call: Callable[[list[Question]], Any], questions: Sequence[Question]
) -> Iterator[tuple[int, Any]]:
    """The answers to questions by their places: a failure costs those of one call alone."""
    for start in range(0, len(questions), ASKED_AT_ONCE):
        portion = list(questions[start : start + ASKED_AT_ONCE])
        yield from enumerate(one_each(spec, call(portion), portion), start)


def _by_labels(
    spec: str, call: Callable[[list[str]], Any], labels: Sequence[str], texts: Sequence[str]
) -> Any:
    """The rows of probabilities of texts; columns that have names, in the order of the labels."""
    answer = call(list(texts))
    if (names := _column_names(answer)) is None:
        return np.asarray(answer) if hasattr(answer, "columns") else answer
    if sorted(names) != sorted(labels):
        raise ModelError(
            f"`{spec}` answers with the columns {', '.join(names)}",
            expected=f"a column for each of its labels: {', '.join(labels)}",
            fix="name the columns as the labels, or return an array",
        )
    return np.asarray(answer)[:, [names.index(label) for label in labels]]


_SHAPE = (
    "a function or a class's instance with `labels` (names) that maps a list of texts to one row "
    "of probabilities per text; an object with `fill`, `answer`, `choose` or `predict_next`; or a "
    "model of transformers with its tokenizer, of sentence-transformers or of scikit-learn"
)

_SAMPLE = "A text."  # for a function without `labels`, whose answer may name them


def load(rest: str, options: ModelOptions) -> Any:
    """The model in a module's attribute, or an instance of it if it is a class.

    An object that has a role as `scope.protocols` describes it, with ``spec`` and ``fingerprint``,
    is used as it is. Any other object that classifies, or has a method of `scope.models.python`,
    gets both. Without one of its own, its fingerprint covers the module's file. The module is
    searched in the current folder, too.

    Raises
    ------
    SpecError
        When the module or the attribute does not exist.
    ModelError
        When the attribute neither classifies nor answers, or its code fails.
    """
    module_name, _, attribute = rest.partition(":")
    if not (attribute and all(part.isidentifier() for part in module_name.split("."))):
        raise SpecError(
            f"the model spec `python:{rest}`",
            expected="python:MODULE:ATTRIBUTE",
            fix="write for example python:my_models:sentiment",
        )
    # The folder stays on the module's path: it may import its neighbours when it is called.
    code = UntrustedCode(f"python:{rest}", folders=[os.getcwd()])  # noqa: PTH109 - as in sys.path
    module = code.call("import", _import, module_name)
    with code.entered("loading"):
        candidate = _made(module, module_name, attribute)
        if is_complete(candidate):
            return GuardedModel(candidate, code)
        carried = carried_fingerprint(candidate)
        file = getattr(module, "__file__", None)  # none of built-in modules and mere folders
        source = Path(file).read_bytes() if file else module.__name__.encode()
        fingerprint = carried or hashlib.sha256(source + attribute.encode()).hexdigest()[:16]
        return _with_identity(candidate, attribute, code, fingerprint, options)


def adapted(model: Any, options: ModelOptions) -> Any:
    """A model that is passed as a Python object, or one of a library, with the roles that it has.

    Raises
    ------
    ModelError
        When it neither classifies nor answers, or its labels are not known.

    Examples
    --------
    >>> def model(texts):
    ...     return [[0.25, 0.75] for text in texts]
    >>> model.labels = ("no", "yes")
    >>> [prediction] = adapted(model, ModelOptions()).classify(["a text"])
    >>> prediction.probabilities
    (0.25, 0.75)
    """
    code = UntrustedCode(type(model).__name__)
    if code.call("its attributes", is_complete, model):
        ours = type(model).__module__.startswith("scope.")
        return model if ours else GuardedModel(model, UntrustedCode(str(model.spec)))
    if getattr(model, "__name__", "") == "predict_proba":
        model = getattr(model, "__self__", model)  # the estimator, which knows its labels
    if isinstance(model, type):
        model = UntrustedCode(model.__name__).call("loading", model)
    name, spec, fingerprint = code.call("its attributes", identity_of_object, model)
    return _with_identity(model, name, UntrustedCode(spec), fingerprint, options)


def _made(module: Any, module_name: str, attribute: str) -> Any:
    if not hasattr(module, attribute):
        raise SpecError(
            f"the module `{module_name}` has no `{attribute}`",
            expected=_SHAPE,
            fix=f"define `{attribute}` in {module_name}, or check the spelling",
        )
    candidate = getattr(module, attribute)
    return candidate() if isinstance(candidate, type) else candidate


def _with_identity(
    candidate: Any, attribute: str, code: UntrustedCode, fingerprint: str, options: ModelOptions
) -> Any:
    """The object with a spec and a fingerprint, and its answers checked.

    Raises
    ------
    ModelError
        When it neither classifies nor answers, or its labels are not known.
    """
    if is_known(candidate):
        return adapt(candidate, code.name, fingerprint, options)
    spec = code.name
    offered = {kind.method: getattr(candidate, kind.method, None) for kind in _ASKED}
    calls = {name: call for name, call in offered.items() if callable(call)}
    labels: tuple[str, ...] = ()
    if classification := _classification(candidate, attribute, code, needed=not calls):
        call, labels = classification
        calls["classify"] = partial(_by_labels, spec, call, labels)
    for kind in _ASKED:
        if kind.stream in calls:
            calls[kind.stream] = partial(_in_portions, spec, calls[kind.stream])
    return GuardedModel(PythonModel(calls, labels, spec, fingerprint), code)


def _classification(
    candidate: Any, attribute: str, code: UntrustedCode, *, needed: bool
) -> tuple[Callable[[list[str]], Any], tuple[str, ...]] | None:
    """The function that classifies and its labels; None where there is none and none is needed."""
    labels = estimator_labels(candidate)
    if labels is not None:
        return candidate.predict_proba, labels
    answer = getattr(candidate, "classify", candidate)
    if callable(answer) and hasattr(candidate, "labels"):
        return answer, labels_as_texts(candidate.labels, code.name)
    if not needed:
        return None
    if not callable(answer):
        raise ModelError(
            f"`{code.name}` is a {type(candidate).__name__} that cannot be called",
            expected=_SHAPE,
            fix="use one of these",
        )
    # Labels are never guessed, but the columns of a data frame may name them.
    if names := _column_names(code.call("classify", answer, [_SAMPLE])):
        return answer, labels_as_texts(names, code.name)
    raise ModelError(
        f"`{code.name}` is a {type(candidate).__name__} without `labels`",
        expected=_SHAPE,
        fix=f"for example `{attribute}.labels = ('negative', 'positive')` (of a method: in its "
        "class), or return a DataFrame whose columns are the labels",
    )


def _column_names(answer: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame; None where there are none, or only numbers."""
    columns = getattr(answer, "columns", None)
    if columns is None or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(plain_label(str(name)) for name in columns)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SpecError(
            f"the module `{name}` cannot be imported ({error})",
            expected="a module in this folder or an installed one",
            fix="check the name, or start in the folder that holds it",
        ) from error


class OwnCode(Scheme):
    """Objects of the user."""

    own = True


SCHEME = OwnCode("python", load)


_CLASSIFIES = "ForSequenceClassification"

_STEPS = ("max_length", "stride", "doc_stride", "add_special_tokens", "function_to_apply")
"""Settings of pipelines that change what a text or its probabilities are."""


def is_known(candidate: object) -> bool:
    """Whether it is of transformers (a pipeline, or a model with its tokenizer), or an encoder."""
    return _is_encoder(candidate) or _parts(candidate) is not None


def _is_encoder(candidate: object) -> bool:
    return _derives(candidate, "sentence_transformers", "SentenceTransformer")


def name_of(candidate: Any) -> str:
    """The name of the checkpoint of a model; empty where it has none."""
    known = str(getattr(getattr(candidate, "config", None), "_name_or_path", ""))
    return known.rstrip("/").rpartition("/")[2]


def model_in(candidate: Any) -> Any:
    """The model in a pipeline or in a pair of a model and its tokenizer; any other object itself.

    Raises
    ------
    ModelError
        When a model has no tokenizer.
    """
    return candidate if _parts(candidate) is None else _pair(candidate)[0]


def adapt(candidate: Any, spec: str, fingerprint: str, options: ModelOptions) -> Any:
    """The object in all the roles that its architecture has.

    A model of transformers is put into evaluation mode, as its pipelines do.

    Raises
    ------
    ModelError
        When a model has no tokenizer, or no head that SCoPE uses.
    """
    quiet_transformers()
    if _is_encoder(candidate):
        if fingerprint.startswith(OBJECT):
            raise ModelError(
                f"a {type(candidate).__name__} without a `fingerprint`",
                expected="an encoder that the next process knows, too",
                fix="name its folder, or set `encoder.fingerprint`, another with each change",
            )
        from scope.models.encoder import SentenceEncoder

        with loading(spec):
            how = {"spec": spec, "fingerprint": fingerprint}
            return SentenceEncoder(candidate.eval(), token_budget=options.token_budget, **how)
    model, tokenizer = _pair(candidate)
    kind = _kind(model)
    with loading(spec):
        choose_threads(model, options.threads)
        head = Head(model.eval(), tokenizer, fingerprint, longest_input(model, tokenizer))
        return kind.adapt(head, spec, options)


def _kind(model: Any) -> HeadKind:
    """The head that a model has."""
    names = {base.__name__ for base in type(model).__mro__}
    if kind := kind_of(names):
        return kind
    if any(name.endswith(_CLASSIFIES) for name in names):
        return CLASSIFIER
    raise ModelError(
        f"a {type(model).__name__}, which has no head that SCoPE asks",
        expected="a transformers model that classifies, fills masks, answers questions or writes "
        "text, with its tokenizer",
        fix="load it with its head, such as AutoModelForSequenceClassification",
    )


def _pair(candidate: Any) -> tuple[Any, Any]:
    """A model and its tokenizer.

    Raises
    ------
    ModelError
        When one of them is missing.
    """
    model, tokenizer = _parts(candidate) or (None, None)
    if model is None or tokenizer is None:
        part, missing = (tokenizer, "model") if model is None else (model, "tokenizer")
        raise ModelError(
            f"a {type(part).__name__} without its {missing}",
            expected="a pair (model, tokenizer), or a transformers pipeline",
            fix="pass (model, tokenizer); in a list of models as [(model, tokenizer)]",
        )
    return model, tokenizer


def _parts(candidate: Any) -> tuple[Any, Any] | None:
    """The model and the tokenizer in an object of transformers; None for other objects."""
    if _derives(candidate, "transformers", "Pipeline"):
        _refuse_other_steps(candidate)
        return candidate.model, candidate.tokenizer
    if _is_model(candidate):
        return candidate, None
    if _is_tokenizer(candidate):
        return None, candidate
    if isinstance(candidate, list | tuple) and len(candidate) == 2:
        model, tokenizer = sorted(candidate, key=_is_tokenizer)
        if _is_model(model) and _is_tokenizer(tokenizer):
            return model, tokenizer
    return None


def _refuse_other_steps(pipeline: Any) -> None:
    """Refuse a pipeline that changes texts or probabilities: its model alone is asked."""
    settings = {**pipeline._preprocess_params, **pipeline._postprocess_params}
    steps = [name for name in settings if name in _STEPS]
    if type(pipeline).__module__.partition(".")[0] != "transformers":
        steps = ["code of its own"]
    if steps:
        raise ModelError(
            f"a {type(pipeline).__name__} with {' and '.join(steps)}, which SCoPE would leave out",
            expected="a pipeline that adds nothing to its model and tokenizer",
            fix="set `tokenizer.model_max_length` for a length; else pass a function of a list of "
            "texts, with `labels`, that calls the pipeline",
        )


def _is_model(candidate: object) -> bool:
    return _derives(candidate, "transformers", "PreTrainedModel")


def _is_tokenizer(candidate: object) -> bool:
    return _derives(candidate, "transformers", "PreTrainedTokenizerBase")


def _derives(candidate: object, package: str, name: str) -> bool:
    """Whether the class of an object is that class of a package, or derives from it."""
    bases = type(candidate).__mro__
    return any(b.__name__ == name and b.__module__.partition(".")[0] == package for b in bases)


def estimator_labels(candidate: Any) -> tuple[str, ...] | None:
    """The labels of a classifier with scikit-learn's interface; None for other objects.

    Raises
    ------
    ModelError
        When its labels have no order, or an estimator of scikit-learn gives no probabilities, or
        is not fitted.
    """
    if callable(getattr(candidate, "predict_proba", None)) and hasattr(candidate, "classes_"):
        classes = getattr(candidate.classes_, "tolist", lambda: candidate.classes_)()
        if not isinstance(classes, set | frozenset):
            classes = [plain_label(str(class_)) for class_ in classes]
        return labels_as_texts(classes, type(candidate).__name__)
    if not _derives(candidate, "sklearn", "BaseEstimator"):
        return None
    fitted = hasattr(candidate, "predict_proba")
    raise ModelError(
        f"a {type(candidate).__name__} "
        + ("that is not fitted" if fitted else "without `predict_proba`, or not fitted"),
        expected="a fitted scikit-learn classifier of texts with `predict_proba` and `classes_`",
        fix="fit it first; wrap one without probabilities in CalibratedClassifierCV",
    )


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
    model = model_in(model)
    kind = type(model).__name__
    name, code = getattr(model, "name", None), getattr(model, "__name__", None)
    named = isinstance(name, str) and bool(name)
    if not named:
        name = "model" if code == "<lambda>" else code or name_of(model) or kind
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
