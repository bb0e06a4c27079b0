"""Checks the answers of models before they are stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

from scope.errors import ModelError
from scope.metrics.arrays import is_distribution, normalized
from scope.printing import shown, writable
from scope.protocols import METHODS, Role, StreamingClassifier
from scope.records import Answer, Prediction, Question

TEXTS_A_BATCH = 64
"""Texts in one call of a classifier: at most these, and `KEPT_AT_ONCE`, are lost by a kill."""

_PAIRS = "pairs, as they come: the question's number from 0, and its `scope.records.Answer`"


def predictions(model: Any, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
    """A classifier's predictions as they come, each with its text's place in the sequence.

    A classifier with a true ``asked_alone`` is given one text a call.

    Raises
    ------
    ModelError
        When it omits a text, answers one twice, or gives something other than a prediction.
    """
    alone = getattr(model, "asked_alone", False)
    streams = isinstance(model, StreamingClassifier) and not alone
    answers = model.stream(texts) if streams else _in_batches(model, texts, alone)
    count = 0
    for place, prediction in _each_once(model, "text", texts, answers):
        yield place, _checked_prediction(model, texts[place], prediction)
        count += 1
    _require_count(model, count, len(texts))


def replies(model: Any, role: Role, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
    """A model's answers as they come, each with its question's place in the sequence.

    Characters that cannot be written as UTF-8, halves of a pair of surrogates, and NUL are
    replaced by U+FFFD, as broken bytes are elsewhere: one such token among a thousand answers is
    the model's own, and no reason to give up.

    Raises
    ------
    ModelError
        When the model answers a question twice or gives an invalid answer.
    """
    answers = getattr(model, METHODS[role])(questions)
    if not isinstance(answers, Iterable):
        raise wrong(model, f"with a {type(answers).__name__}", _PAIRS)
    for place, answer in _each_once(model, "question", questions, answers):
        yield place, _checked_answer(model, questions[place], answer)


def _in_batches(model: Any, texts: Sequence[str], alone: bool) -> Iterator[tuple[int, Prediction]]:
    size = 1 if alone else TEXTS_A_BATCH
    for start in range(0, len(texts), size):
        batch = texts[start : start + size]
        answers = model.classify(batch)
        _require_count(model, len(answers), len(batch))
        yield from enumerate(answers, start)


def _require_count(model: Any, answers: int, texts: int) -> None:
    if answers != texts:
        raise ModelError(
            f"`{model.spec}` gives {answers} answers to {texts} texts",
            expected="one answer per text, in order",
            fix="fix the model, or choose another one",
        )


def _each_once(
    model: Any, kind: str, items: Sequence[Any], answers: Iterable[Any]
) -> Iterator[tuple[int, Any]]:
    """Each answer with its place, at most one to each item."""
    came: set[int] = set()
    for pair in answers:
        match pair:
            case (Integral() as number, answer):
                place = int(number)
            case _:
                raise wrong(model, f"with {shown(pair, 80)}", _PAIRS)
        if kind == "question" and not isinstance(answer, Answer):
            raise wrong(model, f"with {shown(pair, 80)}", _PAIRS)
        if not 0 <= place < len(items) or place in came:
            raise wrong(
                model,
                f"{kind} {place} of {len(items)}{' twice' if place in came else ''}",
                f"one answer to each {kind}, by its place",
            )
        came.add(place)
        yield place, answer


def _checked_prediction(model: Any, text: str, prediction: Prediction) -> Prediction:
    """The prediction; without probabilities where they are NaN, or the model gives a reason."""
    if any(map(math.isnan, prediction.probabilities)):
        return Prediction(probabilities=(), truncated=prediction.truncated, missing="no number")
    if prediction.missing and not prediction.probabilities:
        return prediction
    if model.labels:
        expected = f"{len(model.labels)} probabilities that sum to 1"
        values, count = prediction.probabilities, len(model.labels)
        good = not prediction.tokens and is_distribution(values, count)
    else:
        expected = (
            "different tokens, each with a probability, the likeliest first, whose sum is at most 1"
        )
        good = _names_tokens(prediction)
    if not good:
        named = str(prediction.probabilities)
        if prediction.tokens:
            named = f"the tokens {prediction.tokens} with {named}"
        raise wrong(model, f"{named[:300]} to the text {text[:80]!r}", expected)
    return prediction


def _names_tokens(prediction: Prediction) -> bool:
    """Whether it names what comes next; the first must be probable, or nothing is predicted."""
    values, tokens = prediction.probabilities, prediction.tokens
    return (
        0 < len(tokens) == len(values) == len(set(tokens))
        and values[0] > 0
        and is_distribution(values, len(tokens), part=True)
        and all(first >= second for first, second in pairwise(values))
    )


def _checked_answer(model: Any, question: Question, answer: Answer) -> Answer:
    if reason := _what_is_wrong(question, answer):
        raise wrong(
            model,
            f"{question.text[:80]!r} with {reason}",
            "a text, or where there are options the number of one of them, from 0, with a "
            "probability for each or none",
        )
    # Plain values: classes derived from them may do anything when they are used.
    return Answer(
        text=None if answer.text is None else _plain(answer.text),
        choice=answer.choice if type(answer.choice) is int else None,
        probabilities=tuple(normalized(answer.probabilities).tolist()),
        others=tuple(map(_plain, answer.others)),
        truncated=bool(answer.truncated),
        asked=bool(answer.asked),
        missing=answer.missing,
        reply=_plain(answer.reply),
        score=answer.score,
    )


def _what_is_wrong(question: Question, answer: Answer) -> str:
    """Why the answer to this question is invalid; empty if it is valid."""
    texts = [*([] if answer.text is None else [answer.text]), *answer.others]
    if strange := [text for text in texts if not isinstance(text, str)]:
        return f"{shown(strange[0], 80)}, which is no text"
    options, values = len(question.options), answer.probabilities
    if not isinstance(values, tuple | list) or (values and not is_distribution(values, options)):
        return f"the probabilities {shown(values, 100)} for {options} options"
    if not answer.given:
        return ""
    if not options:
        return "an option, where there are none" if answer.text is None else ""
    if type(answer.choice) is not int or not 0 <= answer.choice < options:
        return f"the option {shown(answer.choice)} of {options}"
    return ""


def _plain(text: str) -> str:
    return writable(str.__str__(text))


def wrong(model: Any, answered: str, expected: str) -> ModelError:
    """The error of a model that gives an invalid answer."""
    return ModelError(
        f"`{model.spec}` answers {answered}",
        expected=expected,
        fix="fix the model, or choose another one",
    )
