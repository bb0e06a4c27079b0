"""``python:MODULE:ATTRIBUTE``: any object of the user's own that classifies or answers.

Models of transformers, sentence-transformers and scikit-learn are `scope.models.python`.

Plain values, one per question, become checked records. ``fill`` and ``answer`` get a list of
`Question` and return a list of texts, one each; ``choose`` returns an option's number, letter or
text, or a list of probabilities, one an option; ``predict_next`` gets a list of texts and returns a
dict of tokens with their probabilities for each. None says that there is no answer, and the records
`Answer` and `Prediction` are taken as they are. Questions come in portions, so that a failure does
not cost the answers to earlier ones.

Objects of Python as models: those of other libraries, and what an object is known by.

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
from functools import partialmethod
from importlib import import_module
from itertools import islice, repeat
from numbers import Real
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import plain_label
from scope.data.items import option_index
from scope.errors import ModelError, SpecError
from scope.metrics.arrays import HALF_PRECISION, is_distribution, normalized
from scope.models.checkpoint import Head, longest_input
from scope.models.guarded import (
    GuardedModel,
    checked_prediction,
    checked_text,
    is_complete,
    labels_as_texts,
)
from scope.models.huggingface import CLASSIFIER, HeadKind, kind_of
from scope.models.options import ModelOptions
from scope.models.replies import next_tokens
from scope.models.scheme import Scheme
from scope.models.torch_setup import choose_threads, quiet_transformers
from scope.printing import first_line, shown, writable
from scope.protocols import Answers
from scope.records import Answer, Prediction, Question
from scope.records.result import MEMORY, OBJECT
from scope.untrusted import UntrustedCode, loading

METHODS = ("fill", "answer", "choose", "predict_next")

Read = Callable[[Any, Question], Answer]

ASKED_AT_ONCE = 64
"""Questions in one call: the answers lost if the process is killed or the user's code fails."""


class PythonModel:
    """An object's own methods under their names, with their answers checked.

    A class derived from this one has the methods of the object's roles, and no others.

    Parameters
    ----------
    calls
        The object's methods by name; ``classify`` maps texts to rows of probabilities.
    labels
        Names of the labels of ``classify``.
    """

    def __init__(
        self,
        calls: Mapping[str, Callable[[list[Any]], Any]],
        labels: Sequence[str],
        code: UntrustedCode,
        fingerprint: str,
    ) -> None:
        self._calls, self._code = calls, code
        self.spec = code.name
        self.fingerprint = fingerprint
        if labels:
            self.labels = tuple(labels)

    def _ask(self, name: str, read: Read, questions: Sequence[Question]) -> Answers:
        for start in range(0, len(questions), ASKED_AT_ONCE):
            portion = questions[start : start + ASKED_AT_ONCE]
            with self._code.entered(name):
                values = self._one_each(self._calls[name](list(portion)), len(portion), "questions")
                answers = [self._read(read, *pair) for pair in zip(values, portion, strict=True)]
            yield from enumerate(answers, start)

    def _read(self, read: Read, value: object, question: Question) -> Answer:
        if isinstance(value, Answer):
            return value
        try:
            return read(value, question)
        except ValueError as error:
            raise self._wrong(
                f"{error} to {question.text[:60]!r}",
                "a text; where there are options, one by number from 0, letter or text, or a "
                "probability for each that sum to 1; or None",
            ) from error

    def _predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        if not texts:
            return []
        with self._code.entered("predict_next"):
            answers = self._one_each(self._calls["predict_next"](list(texts)), len(texts), "texts")
            return list(map(self._prediction, answers, texts))

    def _prediction(self, value: object, text: str) -> Prediction:
        if isinstance(value, Prediction):
            return checked_prediction(value, self.spec)
        masses = dict(value) if isinstance(value, Mapping) else {}
        if not masses or not is_distribution([*masses.values()], len(masses), part=True):
            raise self._wrong(
                f"{shown(value)} for what follows {text[:60]!r}",
                "a dict of tokens with their probabilities, whose sum is at most 1",
            )
        values = normalized([*masses.values()], part=True).tolist()
        # Tokens that are equal after encoding count as one.
        texts = (writable(str(token)) for token in masses)
        return next_tokens(zip(texts, values, strict=True), len(masses))

    def _one_each(self, answers: Any, count: int, asked: str) -> list[Any]:
        if isinstance(answers, str | Mapping) or not hasattr(answers, "__iter__"):
            raise self._wrong(f"a {type(answers).__name__} to {count} {asked}", "a list of answers")
        values = list(islice(answers, count + 1))
        if len(values) != count:
            number = f"more than {count}" if len(values) > count else str(len(values))
            raise self._wrong(f"{number} answers to {count} {asked}", "one answer to each")
        return values

    def _classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text; probabilities are checked and rounded. A row with NaN is no answer."""
        if not texts:
            return []
        rows = self._code.call("classify", self._calls["classify"], [*texts], check=self._as_rows)
        shape = (len(texts), len(self.labels))
        if rows.shape != shape or np.isinf(rows).any() or (rows < 0).any():
            what = f"the shape {rows.shape}" if rows.shape != shape else "infinity or below 0"
            raise ModelError(
                f"`{self.spec}` answered {len(texts)} texts with {what}",
                expected=f"finite probabilities in the shape {shape}",
                fix="return one row per text and one column per label, each row summing to 1",
            )
        rows = normalized(rows)
        sums = rows.sum(axis=1)
        worst = sums[np.nan_to_num(np.abs(sums - 1)).argmax()]
        if abs(worst - 1) > HALF_PRECISION:
            raise self._wrong(
                f"a row that sums to {worst:.6g}",
                f"probabilities: each row sums to 1, within {HALF_PRECISION}",
                "apply a softmax to scores before returning them",
            )
        return [Prediction(probabilities=tuple(row)) for row in np.round(rows, 6).tolist()]

    def _as_rows(self, answer: Any, texts: Sequence[str]) -> NDArray[np.float64]:
        """The answer as a table of numbers, its columns in the order of the labels.

        Of a generator one row more than requested is enough to see that there are too many.
        """
        if isinstance(answer, Iterator):
            answer = list(islice(answer, len(texts) + 1))
        try:
            table = np.asarray(answer)
            # Texts would be read as numbers, and None as NaN.
            for value in table.flat if table.dtype.kind not in _NUMBERS else ():
                if not isinstance(value, Real):
                    raise TypeError(f"{shown(value)} is a {type(value).__name__}")
            rows = table.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._wrong(
                f"something that is not a table of numbers ({first_line(error)})",
                "one row of probabilities per text, all of the same length",
                "return a list of lists of numbers, or an array",
            ) from error
        names = _column_names(answer)
        if names is None:
            return rows
        if sorted(names) != sorted(self.labels):
            raise self._wrong(
                f"the columns {', '.join(names)}",
                f"a column for each of its labels: {', '.join(self.labels)}",
                "name the columns as the labels, or return an array",
            )
        return rows[:, [names.index(label) for label in self.labels]]

    def _wrong(self, problem: str, expected: str, fix: str = "fix the code") -> ModelError:
        return ModelError(f"`{self.spec}` answered with {problem}", expected=expected, fix=fix)


def _in_words(value: object, question: Question) -> Answer:
    if value is not None and not isinstance(value, str):
        raise ValueError(shown(value))
    return Answer(text=None if value is None else value.strip())


def _among_options(value: Any, question: Question) -> Answer:
    if value is None:
        return Answer()
    if hasattr(value, "tolist"):
        value = value.tolist()  # an array or a number such as NumPy's
    if not isinstance(value, list | tuple):
        return Answer(choice=option_index(value, question.options))
    if not is_distribution(value, len(question.options)):
        raise ValueError(shown(value))
    shares = tuple(round(share, 6) for share in normalized(value).tolist())
    return Answer(choice=max(range(len(shares)), key=shares.__getitem__), probabilities=shares)


_ROLES = {
    "classify": PythonModel._classify,
    "fill": partialmethod(PythonModel._ask, "fill", _in_words),
    "answer": partialmethod(PythonModel._ask, "answer", _in_words),
    "choose": partialmethod(PythonModel._ask, "choose", _among_options),
    "predict_next": PythonModel._predict_next,
}

_SHAPE = (
    "a function or a class's instance with `labels` (names) that maps a list of texts to one row "
    "of probabilities per text; an object with `fill`, `answer`, `choose` or `predict_next`; or a "
    "model of transformers with its tokenizer, of sentence-transformers or of scikit-learn"
)

_SAMPLE = "A text."  # for a function without `labels`, whose answer may name them

_NUMBERS = "fiub"
"""Kinds of NumPy's arrays that hold numbers; values of object arrays are checked one by one."""


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
        fingerprint = carried or _fingerprint(module, attribute)
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
    offered = {name: getattr(candidate, name, None) for name in METHODS}
    calls = {name: call for name, call in offered.items() if callable(call)}
    labels: tuple[str, ...] = ()
    if classification := _classification(candidate, attribute, code, needed=not calls):
        calls["classify"], labels = classification
    kind = type("PythonModel", (PythonModel,), {name: _ROLES[name] for name in calls})
    return kind(calls, labels, code, fingerprint)


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


def _fingerprint(module: Any, attribute: str) -> str:
    file = getattr(module, "__file__", None)  # none of built-in modules and mere folders
    source = Path(file).read_bytes() if file else module.__name__.encode()
    return hashlib.sha256(source + attribute.encode()).hexdigest()[:16]


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
