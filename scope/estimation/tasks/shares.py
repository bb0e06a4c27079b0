"""Whether a model answers a task's questions at all, or gives one answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from scope.estimation.answer_shares import (
    ENOUGH_LABELS,
    FEWEST,
    ONE_ANSWER,
    SKEWED,
    near_chance,
)
from scope.records import GOLD, Answer, Estimate, Item, Measurement, TaskAnswers, TaskShares
from scope.records.estimates import UNANSWERABLE, brief
from scope.records.examples import Prediction

SILENT = 0.25
"""A model that leaves more questions, or texts, without an answer is degenerate, and no control."""

FREQUENT = 0.10
"""A warning names an answer in words that makes up more of a model's answers,"""

FEWEST_REPEATS = 3
"""if it is given so often: of few answers, two may well be the same."""


class Named(NamedTuple):
    """Answers by name: one mapping a model, and the right ones, by the questions' ids."""

    what: str
    models: Mapping[str, Mapping[str, str]]
    gold: Mapping[str, Collection[str]]


def task_shares(
    answers: TaskAnswers, models: Sequence[str], measured: Sequence[Measurement]
) -> tuple[TaskShares, ...]:
    """How often each model gives each answer, and whether it is degenerate.

    A choice has two names: its letter, since a model may always choose the first option, and,
    where all questions have the same options, its text, since their order may differ. Cohen's κ
    is that of letters; texts are not drawn from a fixed set, and have none.

    Parameters
    ----------
    answers
        The items, and one row of answers a model.
    models
        The models' names, in the order of the rows.
    measured
        The measurements of the task, among them each model's accuracy or exact match.
    """
    every = list(_names(answers, models))
    has_options = every[0].what == "option"
    accuracies = {score.target: score.estimate for score in measured if _is_accuracy(score)}
    shares = []
    for model, row in zip(models, answers.answers, strict=True):
        asked = sum(answer.asked for answer in row)
        counts = Counter(every[-1].models[model].values())
        accuracy = accuracies[model]
        reasons = (
            *(_one_answer(named, model) for named in every),
            silent(row),
            _no_better_than_chance(accuracy, every[0], model) if has_options else None,
        )
        shares.append(
            TaskShares(
                task=answers.task,
                model=model,
                counts=dict(counts.most_common()),
                asked=asked,
                accuracy=accuracy,
                degenerate=next(filter(None, reasons), None),
                warning=None if has_options else _frequent(every[-1], model),
            )
        )
    return tuple(shares)


def _is_accuracy(measurement: Measurement) -> bool:
    is_whole = measurement.against == GOLD and measurement.subset is None
    return is_whole and measurement.metric in ("accuracy", "exact_match")


def _names(answers: TaskAnswers, models: Sequence[str]) -> Iterator[Named]:
    """The answers by every name that they have."""

    def named(
        what: str, name: Callable[[Item, Answer], str], right: Callable[[Item], Collection[str]]
    ) -> Named:
        rows = (
            {
                item.question.id: name(item, answer)
                for item, answer in zip(answers.items, row, strict=True)
                if answer.given
            }
            for row in answers.answers
        )
        gold = {item.question.id: right(item) for item in answers.items}
        known = {id_: names for id_, names in gold.items() if names}
        return Named(what, dict(zip(models, rows, strict=True)), known)

    def of_options(words: Callable[[Item, int], str]) -> Named:
        return named(
            "option",
            lambda item, answer: "" if answer.choice is None else words(item, answer.choice),
            lambda item: () if item.right is None else (words(item, item.right),),
        )

    if not any(item.question.options for item in answers.items):
        yield named(
            "answer",
            lambda item, answer: (
                (item.gold[0] if item.gold and answer.score == 1 else answer.text) or UNANSWERABLE
            ),
            lambda item: [text or UNANSWERABLE for text in item.gold],
        )
        return
    yield of_options(lambda _, option: chr(ord("A") + option))
    if len({frozenset(item.question.options) for item in answers.items}) == 1:
        yield of_options(lambda item, option: item.question.options[option])


def _most_common(names: Mapping[str, str]) -> tuple[str, int]:
    return Counter(names.values()).most_common(1)[0]


def _one_answer(named: Named, model: str) -> str | None:
    """Why one answer is too frequent, compared with how often it is right.

    Where gold is skewed, it is if all questions with other right answers are answered with it.
    Where too few right answers are known, it shows nothing: models that give one answer each agree
    by that alone, and what others answer does not show whether it is right.
    """
    answers = named.models[model]
    if not answers or _most_common(answers)[1] < ONE_ANSWER * len(answers):
        return None
    (answer, times), asked, known = _most_common(answers), len(answers), len(named.gold)
    right = Counter(chain.from_iterable(map(set, named.gold.values())))
    most = max(right.values(), default=0)
    # Words may be right in another spelling; an option is right or it is not.
    expected = right[answer] if named.what == "option" else most
    opening = f"it gives the {named.what} `{brief(answer)}` to"
    if min(asked, known) >= FEWEST and expected <= SKEWED * known:
        opening += f" {times} of {asked} questions"
        if most > SKEWED * known:
            return f"{opening}, and is right for {expected} of {known} with it"
        return f"{opening}, while no right {named.what} exceeds {most} of {known}"
    others = [
        answers[item]
        for item, names in named.gold.items()
        if item in answers
        if answer not in names
    ]
    if len(others) >= FEWEST and set(others) == {answer}:
        return f"{opening} all {len(others)} questions to which another is right"
    if asked >= FEWEST > known:
        of_whole = f"all {times}" if times == asked else f"{times} of {asked}"
        of_gold = f"only {known} of them have" if known else "none of them has"
        return f"{opening} {of_whole} questions, and {of_gold} a known right answer"
    return None


def silent(row: Sequence[Answer | Prediction], questions: str = "questions") -> str | None:
    """Why a model answers too little, with the reasons that are known."""
    counted = [answer for answer in row if getattr(answer, "asked", True)]
    asked, missing = len(counted), [answer.missing for answer in counted if not answer.given]
    if asked < FEWEST or len(missing) <= SILENT * asked:
        return None
    reasons = ", ".join(f"{why} {n}" for why, n in Counter(filter(None, missing)).most_common())
    opening = f"it gives no answer to {len(missing)} of {asked} {questions}"
    opening += f" ({reasons})" if reasons else ""
    return f"{opening}; {cut}" if (cut := cut_thoughts(row)) else opening


IN_A_THOUGHT = "replies end inside a thought"


def cut_thoughts(row: Sequence[Answer | Prediction]) -> str:
    """What to do where more than a quarter of the replies end inside a thought; or empty."""
    asked = sum(getattr(answer, "asked", True) for answer in row)
    cut = sum(answer.missing == "thought not finished" for answer in row)
    words = f"{cut} of {asked} {IN_A_THOUGHT}: serve the model without thinking, or "
    words += "use --thinking on or, for answers in words, a larger --max-answer-tokens"
    return words if cut > SILENT * asked else ""


def _no_better_than_chance(accuracy: object, named: Named, model: str) -> str | None:
    """Why its choices have next to nothing to do with gold.

    κ is bounded by the accuracy's interval, with the agreement by chance as it was seen; a choice
    that was not made is wrong.
    """
    if not isinstance(accuracy, Estimate) or accuracy.n < ENOUGH_LABELS:
        return None
    counts = Counter(
        named.models[model][item] for item in named.gold if item in named.models[model]
    )
    right = Counter(chain.from_iterable(named.gold.values()))
    chance = sum(counts[name] * right[name] for name in counts) / (accuracy.n * len(named.gold))
    return near_chance(accuracy, chance, "accuracy", f"{accuracy.n} questions")


def _frequent(named: Named, model: str) -> str | None:
    """Which answer is given too often, and mostly wrongly.

    Questions that a model correctly calls unanswerable are left out.
    """
    kept = {
        item: answer
        for item, answer in named.models[model].items()
        if answer != UNANSWERABLE or UNANSWERABLE not in named.gold.get(item, ())
    }
    if not kept:
        return None
    answer, times = _most_common(kept)
    if times < FEWEST_REPEATS or times <= FREQUENT * len(kept):
        return None
    known = [named.gold[item] for item in kept if kept[item] == answer if item in named.gold]
    right = sum(answer in names for names in known)
    if 2 * right >= times:
        return None
    told = f", and is right for {right}" if known else ""
    apart = len(named.models[model]) - len(kept)
    return (
        f"`{brief(answer)}` makes up {times} of {len(kept)} answers "
        f"({100 * times / len(kept):.0f} %){told}"
        + (f"; {apart} more are correctly unanswerable" if apart else "")
    )
