"""Inference of one model on a task's questions.

Each answer is compared with its question, so that it can be measured, and stored soon after it
comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral

from scope.errors import ModelError
from scope.foreign import ForeignCode
from scope.jobs.identity import NamedModel
from scope.metrics.arrays import is_distribution, normalized
from scope.models.answer_table import TableColumn
from scope.models.cached import Keeper
from scope.printing import shown, writable
from scope.protocols import METHODS, AnswerStore, Progress, Role, Task
from scope.records import Answer, Question


def ask(
    answering_model: NamedModel,
    task: Task,
    questions: Sequence[Question],
    store: AnswerStore,
    progress: Progress,
) -> tuple[Answer, ...]:
    """One model's answers to all questions, in their order.

    A question whose words were asked before, in this session or an earlier one, is not asked
    again. Answers that came before a failure are kept.

    Raises
    ------
    ModelError
        When the model gives an answer twice, none at all, or one that is no answer.
    """
    model, role = answering_model.model, task.role
    if isinstance(model, TableColumn):
        # Its letters were compared with the options as they were read.
        return _in_order(answering_model, questions, dict(model.choose(questions)))
    if answering_model.saved:
        return _in_order(
            answering_model, questions, dict(checked_answers(answering_model, role, questions))
        )

    def keep(answers: Sequence[tuple[Question, Answer]]) -> None:
        store.put_answers(model.fingerprint, role, answers)
        advance(len(answers))

    known = store.get_answers(model.fingerprint, role, questions)
    waiting = distinct([one for place, one in enumerate(questions) if place not in known])
    total = len(distinct(questions))
    with (
        progress.task(
            f"{task.name}: {answering_model.name}", total, total - len(waiting)
        ) as advance,
        Keeper(keep) as keeper,
    ):
        for place, answer in checked_answers(answering_model, role, waiting) if waiting else ():
            keeper.add((waiting[place], answer))
    known = store.get_answers(model.fingerprint, role, questions)
    return _in_order(answering_model, questions, known)


def distinct(questions: Sequence[Question]) -> list[Question]:
    """The first of all questions that say the same."""
    first: dict[tuple[object, ...], Question] = {}
    for one in questions:
        first.setdefault((one.text, one.context, one.options), one)
    return list(first.values())


def _in_order(
    answering_model: NamedModel, questions: Sequence[Question], known: dict[int, Answer]
) -> tuple[Answer, ...]:
    missing = [one for place, one in enumerate(questions) if place not in known]
    if missing:
        raise ModelError(
            f"`{answering_model.model.spec}` leaves {len(missing)} of {len(questions)} questions "
            f"without an answer, such as {missing[0].text[:80]!r}",
            expected="one answer to each question; `Answer()` where there is none",
            fix="fix the model, or choose another one",
        )
    return tuple(known[place] for place in range(len(questions)))


def checked_answers(
    answering_model: NamedModel, role: Role, questions: Sequence[Question]
) -> Iterator[tuple[int, Answer]]:
    """The model's answers as they come, each with its question's place in the sequence.

    Characters that cannot be written as UTF-8, halves of a pair of surrogates, and NUL are
    replaced by U+FFFD, as broken bytes are elsewhere: one such token among a thousand answers is
    the model's own, and no reason to give up.

    Raises
    ------
    ModelError
        When the model answers a question twice, or with what is no answer to it, or its own code
        fails.
    """
    answers = _checked(answering_model, METHODS[role], questions)
    if answering_model.own:
        # Its answers may be of any class: they are looked at inside the boundary, too.
        yield from ForeignCode(answering_model.model.spec).each(METHODS[role], answers)
    else:
        # The code of SCoPE fails by a bug, which is not hidden.
        yield from answers


def _checked(
    answering_model: NamedModel, method: str, questions: Sequence[Question]
) -> Iterator[tuple[int, Answer]]:
    answers = getattr(answering_model.model, method)(questions)
    if not isinstance(answers, Iterable):
        raise _wrong(answering_model, f"with a {type(answers).__name__}", _PAIRS)
    given: set[int] = set()
    for one in answers:
        place, answer = _pair(answering_model, one)
        if not 0 <= place < len(questions) or place in given:
            raise _wrong(
                answering_model,
                f"question {place} of {len(questions)}{' twice' if place in given else ''}",
                "one answer to each question",
            )
        given.add(place)
        if wrong := _what_is_wrong(questions[place], answer):
            raise _wrong(
                answering_model,
                f"{questions[place].text[:80]!r} with {wrong}",
                "a text, or where there are options the number of one of them, from 0, with a "
                "probability for each or none",
            )
        yield place, _storable(answer)


_PAIRS = "pairs, as they come: the question's number from 0, and its `scope.records.Answer`"


def _pair(answering_model: NamedModel, one: object) -> tuple[int, Answer]:
    match one:
        case (Integral() as place, Answer() as answer):
            return int(place), answer
    raise _wrong(answering_model, f"with {shown(one, 80)}", _PAIRS)


def _what_is_wrong(question: Question, answer: Answer) -> str:
    """Why the answer is none to this question; empty if it is."""
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


def _storable(answer: Answer) -> Answer:
    """The answer as plain values: classes derived from them may do anything when they are used."""
    return Answer(
        text=None if answer.text is None else _plain(answer.text),
        choice=answer.choice if type(answer.choice) is int else None,
        probabilities=tuple(normalized(answer.probabilities).tolist()),
        others=tuple(map(_plain, answer.others)),
        truncated=bool(answer.truncated),
        asked=bool(answer.asked),
    )


def _plain(text: str) -> str:
    return writable(str.__str__(text))


def _wrong(answering_model: NamedModel, answered: str, expected: str) -> ModelError:
    return ModelError(
        f"`{answering_model.model.spec}` answers {answered}",
        expected=expected,
        fix="fix the model, or choose another one",
    )
