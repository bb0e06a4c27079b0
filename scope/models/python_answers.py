"""Answers of the user's own Python: plain values, one per question, become checked records.

``fill`` and ``answer`` get a list of `Question` and return a list of texts, one each; ``choose``
returns an option's number, letter or text, or a list of probabilities, one an option;
``predict_next`` gets a list of texts and returns a dict of tokens with their probabilities for
each. None says that there is no answer, and the records `Answer` and `Prediction` are taken as
they are. Questions come in portions, so that a failure does not cost the answers to earlier ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from numbers import Real
from typing import Any

from scope.data.choices import option_index
from scope.errors import ModelError
from scope.foreign import ForeignCode
from scope.models.guarded import checked_prediction
from scope.printing import shown, writable
from scope.protocols import Answers, Classifier
from scope.records import Answer, Prediction, Question
from scope.records.answered import SUMS_TO_ONE

METHODS = ("fill", "answer", "choose", "predict_next")

ASKED_AT_ONCE = 64
"""Questions in one call: what a kill or a failure of the user's code can cost at most."""


class PythonAnswers:
    """An object's own methods under their names, with what is common to all models.

    It has those roles alone for which the object has a method, so the methods are set one by one.
    """

    def __init__(
        self,
        calls: Mapping[str, Callable[[list[Any]], Any]],
        classifier: Classifier | None,
        *,
        code: ForeignCode,
        fingerprint: str,
    ) -> None:
        self._code = code
        self.spec = code.name
        self.fingerprint = fingerprint
        if classifier is not None:
            self.labels = classifier.labels
            self.classify = classifier.classify
        for name, call in calls.items():
            method = self._predict_next if name == "predict_next" else self._ask
            read = _among_options if name == "choose" else _in_words
            own = (call,) if name == "predict_next" else (name, call, read)
            setattr(self, name, partial(method, *own))

    def _ask(
        self,
        name: str,
        call: Callable[[list[Any]], Any],
        read: Callable[[object, Question], Answer],
        questions: Sequence[Question],
    ) -> Answers:
        for start in range(0, len(questions), ASKED_AT_ONCE):
            portion = questions[start : start + ASKED_AT_ONCE]
            with self._code.entered(name):
                given = self._one_each(call(list(portion)), len(portion), "questions")
                answers = [self._read(read, *one) for one in zip(given, portion, strict=True)]
            yield from enumerate(answers, start)

    def _read(
        self, read: Callable[[object, Question], Answer], value: object, question: Question
    ) -> Answer:
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

    def _predict_next(
        self, call: Callable[[list[Any]], Any], texts: Sequence[str]
    ) -> list[Prediction]:
        if not texts:
            return []
        with self._code.entered("predict_next"):
            given = self._one_each(call(list(texts)), len(texts), "texts")
            return [self._prediction(value, text) for value, text in zip(given, texts, strict=True)]

    def _prediction(self, value: object, text: str) -> Prediction:
        if isinstance(value, Prediction):
            return checked_prediction(value, self.spec)
        if not isinstance(value, Mapping) or not value or not _adds_up(list(value.values())):
            raise self._wrong(
                f"{shown(value)} for what follows {text[:60]!r}",
                "a dict of tokens with their probabilities, whose sum is at most 1",
            )
        shares: dict[str, float] = {}
        for token, share in value.items():
            # Two tokens that read the same once they can be written are one.
            text = writable(str(token))
            shares[text] = shares.get(text, 0) + float(share)
        ranked = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
        return Prediction(
            probabilities=tuple(round(share, 6) for _, share in ranked),
            tokens=tuple(token for token, _ in ranked),
        )

    def _one_each(self, given: Any, count: int, asked: str) -> list[Any]:
        if isinstance(given, str | Mapping) or not hasattr(given, "__iter__"):
            raise self._wrong(f"a {type(given).__name__} to {count} {asked}", "a list of answers")
        values = list(islice(given, count + 1))
        if len(values) != count:
            found = f"more than {count}" if len(values) > count else str(len(values))
            raise self._wrong(f"{found} answers to {count} {asked}", "one answer to each")
        return values

    def _wrong(self, found: str, expected: str) -> ModelError:
        return ModelError(
            f"`{self.spec}` answered with {found}", expected=expected, fix="fix the code"
        )


def _in_words(value: object, question: Question) -> Answer:
    if value is not None and not isinstance(value, str):
        raise ValueError(shown(value))
    return Answer(text=None if value is None else value.strip())


def _among_options(value: Any, question: Question) -> Answer:
    if value is None:
        return Answer()
    if hasattr(value, "tolist"):
        # Arrays and numbers of NumPy and its like.
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return Answer(choice=option_index(value, question.options))
    if (
        len(value) != len(question.options)
        or not _adds_up(value)
        or math.fsum(value) < 1 - SUMS_TO_ONE
    ):
        raise ValueError(shown(value))
    shares = tuple(round(float(share), 6) for share in value)
    return Answer(choice=max(range(len(shares)), key=shares.__getitem__), probabilities=shares)


def _adds_up(values: Sequence[Any]) -> bool:
    """Whether these are numbers from 0 that sum to 1 at most."""
    return (
        all(isinstance(value, Real) and float(value) >= 0 for value in values)
        and math.fsum(values) <= 1 + SUMS_TO_ONE
    )
