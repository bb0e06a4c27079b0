"""What models are asked: a record for each kind of question, and the one way to ask them.

`KINDS` names, for each role, the model's method, how what it gives is read and checked, how two
answers are compared, and the prompts. A further kind is a protocol and a record more. `ask` asks
any model for answers of any kind and checks them, whoever's code the model is.

A method gives one answer each, in order, or, if it answers one by one, pairs of the number of a
question and its answer. An answer is a record, or a plain value: a text; an option by number,
letter or text, or the probabilities of all; a row of probabilities, one a label; a dict of next
tokens and their probabilities. None is no answer. `GuardedModel` is an object of the user or of a
plugin: its code runs behind the boundary, where its answers become records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from scope.data.items import option_index
from scope.errors import ModelError, shown, unstorable, writable
from scope.metrics.arrays import SUM_TOLERANCE, is_distribution, normalized
from scope.models.replies import next_tokens, ranked, shares_of
from scope.protocols import (
    Answerer,
    AnswerScorer,
    ChoiceScorer,
    Classifier,
    Encoder,
    LatentReader,
    MaskFiller,
    NextToken,
    Role,
    TextScorer,
    UntrustedCode,
)
from scope.records import Answer, GivenAnswer, Prediction, Question, ScoredAnswer
from scope.records.text_parts import SEPARATOR, parts_of, readable

ASKED_AT_ONCE = 64
"""Most items in a call of a model that gives all answers of a call at once: a kill, or a failure of
the user's code, costs the answers of one call."""

MOST_LABELS = 10_000
"""A generator may have no end."""

_FIX = "fix the model, or choose another one"
_LABELS = "names of labels, as a list or tuple of texts"


class Kind(NamedTuple):
    """A kind of question.

    Parameters
    ----------
    protocol
        What a model offers that answers it.
    method
        The model's method for it.
    stream
        The method that may give answers as they come, each with the number of its question: the
        same, or another one, which a model may lack.
    read
        A function from the model, the question and what came back to the checked record; None where
        the answer to all questions is one array.
    record
        What is kept of an answer.
    difference
        How much two answers to a question differ.
    prompts
        The names of the prompts that it may be asked with.
    """

    protocol: type
    method: str
    stream: str = ""
    read: Any = None
    record: type | None = None
    difference: Callable[[Any, Any], float] | None = None
    prompts: tuple[str, ...] = ()


def ask(model: Any, role: Role, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """A model's answers as they come, checked, each with the place of its text or question.

    A model with a true ``asked_alone`` gets one item a call. A question may be left out.

    Raises
    ------
    ModelError
        When the model answers a question twice, gives an invalid answer, or too few at once.

    Examples
    --------
    >>> class Guess:
    ...     spec, fingerprint, labels = "python:example:Guess", "guess-1", ("no", "yes")
    ...     def classify(self, texts):
    ...         return [[0.25, 0.75] for text in texts]
    >>> [(place, prediction.choice) for place, prediction in ask(Guess(), "classifier", ["good"])]
    [(0, 1)]
    """
    if not items:
        return
    kind, alone = KINDS[role], getattr(model, "asked_alone", False)
    stream = getattr(model, kind.stream, None)
    if stream and not alone:
        yield from _as_they_come(kind, model, stream(items), items)
        return
    size = 1 if alone else ASKED_AT_ONCE
    for start in range(0, len(items), size):
        portion = items[start : start + size]
        answers = getattr(model, kind.method)(portion)
        yield from enumerate(_records(kind, model, answers, portion), start)


def in_order(model: Any, items: Sequence[Any], answers: Iterable[tuple[int, Any]]) -> list[Any]:
    """All answers; none may be missing."""
    known = dict(answers)
    if missing := [item for place, item in enumerate(items) if place not in known]:
        raise unanswered(model, missing, items)
    return [known[place] for place in range(len(items))]


def unanswered(model: Any, missing: Sequence[Any], items: Sequence[Any]) -> ModelError:
    """The error of a model that leaves out some of the items."""
    text = missing[0] if isinstance(missing[0], str) else missing[0].text
    return ModelError(
        f"`{model.spec}` leaves {len(missing)} of {len(items)} {_noun(items)}s without an answer, "
        f"such as {readable(text)[:80]!r}",
        expected="one answer to each; `Answer()` where there is none to a question",
        fix=_FIX,
    )


def _records(kind: Kind, model: Any, answers: Any, items: Sequence[Any]) -> list[Any]:
    """One record each, of answers that came at once."""
    pairs = zip(items, one_each(model.spec, answers, items), strict=True)
    return [kind.read(model, *pair) for pair in pairs]


def one_each(spec: str, answers: Any, items: Sequence[Any]) -> list[Any]:
    """The answers as a list; one more is enough to see that there are too many."""
    asked = f"{len(items)} {_noun(items)}s"
    if isinstance(answers, str | Mapping) or not isinstance(answers, Iterable):
        raise _wrong(spec, f"{asked} with {shown(answers, 80)}", "a list of answers")
    values = list(islice(answers, len(items) + 1))
    if len(values) != len(items):
        number = f"more than {len(items)}" if len(values) > len(items) else str(len(values))
        raise ModelError(
            f"`{spec}` gives {number} answers to {asked}",
            expected=f"one answer to each of the {_noun(items)}s, in order",
            fix=_FIX,
        )
    return values


def _as_they_come(
    kind: Kind, model: Any, answers: Any, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The records of answers that come one by one, at most one to each item; or of a list."""
    if isinstance(answers, list | tuple):
        yield from enumerate(_records(kind, model, answers, items))
        return
    name = _noun(items)
    pairs = f"pairs, as they come: the number of the {name} from 0, and its answer"
    if not isinstance(answers, Iterable):
        raise _wrong(model.spec, f"with {shown(answers, 80)}", pairs)
    came: set[int] = set()
    for pair in answers:
        match pair:
            case (Integral() as number, answer):
                place = int(number)
            case _:
                raise _wrong(model.spec, f"with {shown(pair, 80)}", pairs)
        if not 0 <= place < len(items) or place in came:
            twice = " twice" if place in came else ""
            answered = f"{name} {place} of {len(items)}{twice}"
            raise _wrong(model.spec, answered, f"one answer to each {name}, by its place")
        came.add(place)
        yield place, kind.read(model, items[place], answer)


def _noun(items: Sequence[Any]) -> str:
    return "text" if items and isinstance(items[0], str) else "question"


def _wrong(spec: str, answered: str, expected: str) -> ModelError:
    return ModelError(f"`{spec}` answers {answered}", expected=expected, fix=_FIX)


def _wrong_at(model: Any, text: str, answer: str, expected: str) -> ModelError:
    return _wrong(model.spec, f"{readable(text)[:80]!r} with {answer}", expected)


def _prediction(model: Any, text: str, answer: Any) -> Prediction:
    """The probabilities of a classifier's labels, rounded if they are a plain row.

    A model without labels names tokens.
    """
    if getattr(model, "writes", False):
        prediction: Prediction = answer  # made of checked answers
        return prediction
    if not model.labels:
        return _next_tokens(model, text, answer)
    is_record = isinstance(answer, Prediction)
    record = answer if is_record else Prediction(probabilities=answer)
    row, count = _as_tuple(record.probabilities), len(model.labels)
    if none := _without_answer(record, row):
        return none
    if record.tokens or not is_distribution(row, count):
        expected = f"{count} probabilities that sum to 1, one for each label"
        raise _wrong_at(model, text, shown(answer, 200), expected)
    shares = _plain_shares(row) if is_record else shares_of(row)
    return Prediction(probabilities=shares, truncated=bool(record.truncated))


def _next_tokens(model: Any, text: str, answer: Any) -> Prediction:
    """The likeliest next tokens, ranked; one must be probable, or nothing is predicted."""
    if isinstance(answer, Mapping) and _is_part([*answer.values()]):
        shares = _plain_shares([*answer.values()], part=True)
        # Tokens that are equal after encoding count as one.
        names = (writable(str(token)) for token in answer)
        return next_tokens(zip(names, shares, strict=True), len(answer))
    if isinstance(answer, Prediction):
        row = _as_tuple(answer.probabilities)
        if none := _without_answer(answer, row):
            return none
        tokens = tuple(writable(token) for token in answer.tokens if isinstance(token, str))
        if len(row) == len(answer.tokens) == len(set(tokens)) and _is_part(row) and max(row) > 0:
            shares = _plain_shares(row, part=True)
            named = Prediction(
                probabilities=shares, truncated=bool(answer.truncated), tokens=tokens
            )
            return ranked(named, len(tokens))
    expected = "different tokens, each with a probability, whose sum is at most 1"
    raise _wrong_at(model, text, shown(answer, 200), expected)


def _without_answer(answer: Prediction, row: Sequence[Any]) -> Prediction | None:
    """The prediction of a model that gives a reason for having none, or NaN for a probability."""
    has_nan = any(share != share and isinstance(share, Real) for share in row)  # noqa: PLR0124
    if not has_nan and (row or not answer.missing):
        return None
    missing = "no number" if has_nan else answer.missing
    return Prediction(probabilities=(), truncated=bool(answer.truncated), missing=missing)


def _plain_shares(row: Sequence[float], *, part: bool = False) -> tuple[float, ...]:
    """The probabilities as plain numbers, with the rounding of half precision undone."""
    off = math.fsum(row) - 1
    if (off if part else abs(off)) <= SUM_TOLERANCE:
        return tuple(map(float, row))  # the usual case, in a tenth of the time
    return tuple(normalized(row, part=part).tolist())


def _is_part(row: Sequence[Any]) -> bool:
    return bool(row) and is_distribution(row, len(row), part=True)


def _as_tuple(row: Any) -> tuple[Any, ...]:
    """A row of plain numbers; another thing stands in it alone, and is no number."""
    plain = row.tolist() if hasattr(row, "tolist") else row
    return tuple(plain) if isinstance(plain, tuple | list) else (None,)


def _score(model: Any, item: GivenAnswer, answer: Any) -> ScoredAnswer:
    """The score of a given answer, with plain values."""
    record = answer if isinstance(answer, ScoredAnswer) else None
    number = getattr(record, "log_probability", None)
    if record and isinstance(number, Real) and isinstance(record.tokens, Integral):
        is_known, some = bool(math.isfinite(number) and number <= 0), int(record.tokens) > 0
        if some and (is_known or record.missing):
            return ScoredAnswer(
                log_probability=float(number) if is_known else math.nan,
                tokens=int(record.tokens),
                same=None if record.same is None else bool(record.same),
                truncated=bool(record.truncated),
                cut=bool(record.cut),
                written=record.written and _plain_answer(model, item.question, record.written),
                missing=record.missing,
            )
    expected = "`ScoredAnswer` with a log-probability of at most 0, and the number of tokens"
    raise _wrong_at(model, item.text, shown(answer, 200), expected)


_EXPECTED = (
    "a text; where there are options, one by number from 0, letter or text, or a probability for "
    "each that sum to 1; or None"
)


def _in_words(model: Any, question: Question, answer: Any) -> Answer:
    """An answer in words."""
    if answer is None or isinstance(answer, str):
        answer = Answer(text=None if answer is None else answer.strip())
    return _plain_answer(model, question, answer)


def _among_options(model: Any, question: Question, answer: Any) -> Answer:
    """One of the question's options, the likeliest if probabilities are given."""
    if answer is None:
        return Answer()
    if isinstance(answer, Answer):
        return _plain_answer(model, question, answer)
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(answer, tuple | list):
        try:
            return Answer(choice=option_index(answer, question.options))
        except ValueError as error:
            raise _wrong_at(model, question.text, str(error), _EXPECTED) from error
    if not is_distribution(answer, len(question.options)):
        raise _wrong_at(model, question.text, shown(answer, 200), _EXPECTED)
    shares = shares_of(answer)
    return Answer(choice=shares.index(max(shares)), probabilities=shares)


def _plain_answer(model: Any, question: Question, answer: Any) -> Answer:
    """The answer with plain values: classes derived from them may do anything when they are used.

    What cannot be written as UTF-8, and NUL, is replaced by U+FFFD: one such token among a thousand
    answers is no reason to give up.
    """
    if not isinstance(answer, Answer):
        raise _wrong_at(model, question.text, shown(answer, 200), _EXPECTED)
    if reason := _fault(question, answer):
        raise _wrong_at(model, question.text, reason, _EXPECTED)
    return Answer(
        text=None if answer.text is None else _plain(answer.text),
        choice=answer.choice if type(answer.choice) is int else None,
        probabilities=_plain_shares(answer.probabilities) if answer.probabilities else (),
        others=tuple(map(_plain, answer.others)),
        truncated=bool(answer.truncated),
        asked=bool(answer.asked),
        missing=answer.missing,
        reply=_plain(answer.reply),
        score=answer.score,
        cut=bool(answer.cut),
    )


def _fault(question: Question, answer: Answer) -> str:
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


def difference_of_predictions(first: Prediction, second: Prediction) -> float:
    """The greatest difference of a probability.

    A token that only one prediction has counts, in the other, as at most the least probability
    there.

    Examples
    --------
    >>> sure = Prediction(probabilities=(0.75, 0.25))
    >>> difference_of_predictions(sure, Prediction(probabilities=(0.5, 0.5)))
    0.25
    """
    if not (first.tokens or second.tokens):
        return _greatest(first.probabilities, second.probabilities)
    ones = dict(zip(first.tokens, first.probabilities, strict=True))
    others = dict(zip(second.tokens, second.probabilities, strict=True))
    return max(_beyond(ones, others), _beyond(others, ones))


def difference_of_answers(first: Answer, second: Answer) -> float:
    """The same for answers to a question; infinite for other words.

    Words are compared without case and spaces; equal ones differ by 0. Without probabilities
    another option is infinitely different. Two missing answers are equal, and differ from any
    other.

    Examples
    --------
    >>> difference_of_answers(Answer(text="In 1066"), Answer(text="in  1066"))
    0.0
    >>> difference_of_answers(Answer(text="in 1066"), Answer())
    inf
    """
    words, others = (
        None if answer.text is None else answer.text.casefold().split()
        for answer in (first, second)
    )
    if words != others:
        return math.inf
    if first.probabilities and len(first.probabilities) == len(second.probabilities):
        return _greatest(first.probabilities, second.probabilities)
    return 0.0 if first.choice == second.choice else math.inf


def difference_of_scores(first: ScoredAnswer, second: ScoredAnswer) -> float:
    """The difference of the log-probability of a token; infinite where only one model gives any.

    Examples
    --------
    >>> score = ScoredAnswer(log_probability=-1.0, tokens=2)
    >>> difference_of_scores(score, ScoredAnswer(log_probability=-2.0, tokens=2))
    0.5
    """
    if first.missing or second.missing:
        return 0.0 if first.missing == second.missing else math.inf
    if first.tokens != second.tokens:
        return math.inf
    return abs(first.log_probability - second.log_probability) / first.tokens


def _greatest(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    if len(first) != len(second):
        return math.inf
    return max((abs(a - b) for a, b in zip(first, second, strict=True)), default=0.0)


def _beyond(ones: dict[str, float], others: dict[str, float]) -> float:
    least = min(others.values(), default=0.0)
    gaps = [abs(share - others.get(token, min(share, least))) for token, share in ones.items()]
    return max(gaps, default=0.0)


_predicted = partial(Kind, record=Prediction, difference=difference_of_predictions)
_answered = partial(Kind, record=Answer, difference=difference_of_answers)
_IN_WORDS, _IN_LETTERS = ("answer", "text_to_text_answer"), ("choice", "choice_letters")

KINDS: Mapping[Role, Kind] = MappingProxyType(
    {
        "classifier": _predicted(Classifier, "classify", "stream", read=_prediction),
        "mask_filler": _answered(MaskFiller, "fill", "fill", read=_in_words, prompts=("cloze",)),
        "answerer": _answered(Answerer, "answer", "answer", read=_in_words, prompts=_IN_WORDS),
        "answer_scorer": Kind(
            AnswerScorer,
            "score_answers",
            "score_answers",
            read=_score,
            record=ScoredAnswer,
            difference=difference_of_scores,
            prompts=_IN_WORDS,
        ),
        "choice_scorer": _answered(
            ChoiceScorer, "choose", "choose", read=_among_options, prompts=_IN_LETTERS
        ),
        "next_token": _predicted(NextToken, "predict_next", "stream_next", read=_next_tokens),
        "text_scorer": Kind(TextScorer, "perplexities"),
        "encoder": Kind(Encoder, "encode"),
        "latent_reader": Kind(LatentReader, "latents"),
    }
)
"""The kinds of questions, by the role in which a model answers them."""

CALLS = tuple(
    dict.fromkeys(
        name
        for kind in KINDS.values()
        for name in (kind.method, kind.stream, "truncated", "can_score")
        if name
    )
)
"""The methods of models in all roles."""


def is_complete(candidate: object) -> bool:
    """Whether an object has a role as `scope.protocols` describes it."""
    return any(isinstance(candidate, kind.protocol) for kind in KINDS.values())


class GuardedModel:
    """An object with a role of `scope.protocols`, behind the boundary of foreign code.

    It has the object's members, looked up once; ``kind`` is the object's type.

    Parameters
    ----------
    model
        The object.
    code
        The boundary through which its methods are called.
    own
        Whether it is the user's, and not of a plugin.
    """

    def __init__(self, model: object, code: UntrustedCode, *, own: bool = True) -> None:
        self.kind, self.own = type(model), own
        with code.entered("its attributes"):
            for name in ("spec", "fingerprint", "reproducible", "precision"):
                if hasattr(model, name):
                    setattr(self, name, checked_text(getattr(model, name), name, code.name))
            self.samples = bool(getattr(model, "samples", False))
            if hasattr(model, "labels"):
                self.labels = labels_as_texts(model.labels, code.name)
            methods = {name: getattr(model, name, None) for name in CALLS}
        checks: dict[str, Any] = {}
        for kind in KINDS.values():
            if kind.read is None:
                checks[kind.method] = partial(_numbers, code.name, kind.method)
                continue
            checks[kind.method] = partial(_records, kind, self)
            checks[kind.stream] = partial(_as_they_come, kind, self)
        for name, method in methods.items():
            if callable(method):
                call = partial(_in_parts, method) if name in ("classify", "stream") else method
                setattr(self, name, partial(code.call, name, call, check=checks.get(name)))


def _in_parts(method: Callable[[list[Any]], Any], texts: Sequence[str]) -> Any:
    """The answers of foreign code to texts; one of several parts is a tuple of them."""
    several = [parts_of(text) if SEPARATOR in text else text for text in texts]
    try:
        return method(several)
    except Exception as error:
        if several and isinstance(several[0], tuple):
            error.args = (f"{error} (each text is a tuple of {len(several[0])})",)
        raise


def _numbers(spec: str, name: str, answer: Any, _texts: object) -> Any:
    """An array of numbers, to be made inside the boundary."""
    numbers = np.asarray(answer)
    if numbers.dtype.kind not in "fiub":
        raise ModelError(
            f"`{spec}` answered `{name}` with an array of {numbers.dtype}",
            expected="an array of numbers",
            fix="change its code",
        )
    return numbers


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
    # Integers are names, too, including NumPy's.
    plain = [
        str(name) if hasattr(name, "__index__") and not isinstance(name, bool) else name
        for name in names
    ]
    return tuple(checked_text(name, "labels", spec) for name in plain)


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
