"""``python:MODULE:ATTRIBUTE``: any object of the user's own that classifies or answers."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError, SpecError
from scope.models.faults import first_line
from scope.models.options import ModelOptions
from scope.models.python_answers import METHODS, PythonAnswers
from scope.protocols import (
    Answerer,
    ChoiceScorer,
    Classifier,
    LatentReader,
    MaskFiller,
    NextToken,
)
from scope.records import Prediction
from scope.records.answered import SUMS_TO_ONE

_SHAPE = (
    "a function or a class's instance with `labels` (names) that maps a list of texts to one row "
    "of probabilities a text; or an object with `fill`, `answer`, `choose` or `predict_next`"
)

_COMPLETE = (Classifier, MaskFiller, Answerer, ChoiceScorer, NextToken, LatentReader)


class PythonClassifier:
    """A function from texts to rows of probabilities, with the names of its labels."""

    def __init__(
        self,
        answer: Callable[[list[str]], Any],
        labels: Sequence[str],
        *,
        spec: str,
        fingerprint: str,
    ) -> None:
        self._answer = answer
        self.labels = tuple(map(str, labels))
        self.spec = spec
        self.fingerprint = fingerprint

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text; the probabilities are checked and rounded to six decimals."""
        if not texts:
            return []
        rows = self._as_rows(_run(self.spec, self._answer, list(texts)))
        shape = (len(texts), len(self.labels))
        if rows.shape != shape or not np.isfinite(rows).all() or (rows < 0).any():
            what = f"the shape {rows.shape}" if rows.shape != shape else "NaN or negative numbers"
            raise ModelError(
                f"`{self.spec}` answered {len(texts)} texts with {what}",
                expected=f"finite probabilities in the shape {shape}",
                mend="return one row a text and one column a label, each row summing to 1",
            )
        sums = rows.sum(axis=1)
        worst = sums[np.abs(sums - 1).argmax()]
        if abs(worst - 1) > SUMS_TO_ONE:
            raise ModelError(
                f"`{self.spec}` answered with a row that sums to {worst:.6g}",
                expected="probabilities: each row sums to 1",
                mend="apply a softmax to scores before returning them",
            )
        return [Prediction(probabilities=tuple(row)) for row in np.round(rows, 6).tolist()]

    def _as_rows(self, answer: Any) -> NDArray[np.float64]:
        try:
            return np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"`{self.spec}` answered with what is no table of numbers ({error})",
                expected="one row of probabilities a text, all of the same length",
                mend="return a list of lists of numbers, or an array",
            ) from error


def load(rest: str, options: ModelOptions) -> Any:
    """The model that a module's attribute is, or gives when it is a class.

    An object that has a role as `scope.protocols` describes it, with ``spec`` and ``fingerprint``,
    is taken as it stands. What else classifies, or has a method of `scope.models.python_answers`,
    is given both. The module is looked for in the current folder too. The fingerprint covers the
    module's own file.

    Raises
    ------
    SpecError
        When the module or the attribute is not there.
    ModelError
        When the attribute is nothing that classifies or answers.
    """
    module_name, _, attribute = rest.partition(":")
    if not (attribute and all(part.isidentifier() for part in module_name.split("."))):
        raise SpecError(
            f"the model spec `python:{rest}`",
            expected="python:MODULE:ATTRIBUTE",
            mend="write for example python:my_models:sentiment",
        )
    module = _import(module_name)
    if not hasattr(module, attribute):
        raise SpecError(
            f"the module `{module_name}` has no `{attribute}`",
            expected=_SHAPE,
            mend=f"define `{attribute}` in {module_name}, or check the spelling",
        )
    found = getattr(module, attribute)
    candidate = _run(f"python:{rest}", found) if isinstance(found, type) else found
    if isinstance(candidate, _COMPLETE):
        return candidate
    return _with_identity(candidate, attribute, f"python:{rest}", _fingerprint(module, attribute))


def _with_identity(candidate: Any, attribute: str, spec: str, fingerprint: str) -> Any:
    """The object with a spec and a fingerprint, and its answers checked."""
    asked = [name for name in METHODS if callable(getattr(candidate, name, None))]
    answer = getattr(candidate, "classify", candidate)
    classifies = callable(answer) and hasattr(candidate, "labels")
    if not classifies and not asked:
        raise ModelError(
            f"`{spec}` is a {type(candidate).__name__} "
            f"{'without `labels`' if callable(answer) else 'that cannot be called'}",
            expected=_SHAPE,
            mend=f"for example `{attribute}.labels = ('negative', 'positive')`",
        )
    classifier = (
        PythonClassifier(answer, candidate.labels, spec=spec, fingerprint=fingerprint)
        if classifies
        else None
    )
    if classifier is not None and not asked:
        return classifier
    calls = {
        name: partial(_run, spec, partial(_at_once, getattr(candidate, name))) for name in asked
    }
    return PythonAnswers(calls, classifier, spec=spec, fingerprint=fingerprint)


def _at_once(code: Callable[..., Any], *arguments: Any) -> Any:
    """What the code returns; of a generator all values, so that its failures show here."""
    given = code(*arguments)
    return list(given) if isinstance(given, Iterator) else given


def _import(name: str) -> Any:
    here = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if here not in sys.path:
        # It stays there: the module may import its neighbours when it is called.
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SpecError(
            f"the module `{name}` cannot be imported ({error})",
            expected="a module in this folder or an installed one",
            mend="check the name, or start in the folder that holds it",
        ) from error
    # The user's own code may fail in any way; it is told as the user's, with its place.
    except Exception as error:
        raise failure_of(f"python:{name}", error) from error


def _run(spec: str, code: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return code(*arguments)
    # As above.
    except Exception as error:
        raise failure_of(spec, error) from error


def failure_of(spec: str, error: Exception) -> ModelError:
    """What to raise when a user's own code has failed: it is told as theirs, with its place."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return ModelError(
        f"`{spec}` failed: {first_line(error)} ({place.filename}, line {place.lineno})",
        expected="a module that imports, and a model that answers whatever it is asked",
        mend="mend the code there",
    )


def _fingerprint(module: Any, attribute: str) -> str:
    # Built-in modules and folders without __init__.py have no file.
    file = getattr(module, "__file__", None)
    source = Path(file).read_bytes() if file else module.__name__.encode()
    return hashlib.sha256(source + attribute.encode()).hexdigest()[:16]
