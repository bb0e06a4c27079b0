"""What the models answer to one item: one row for each answer, with those who gave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.view import wording
from scope.records import Answer, Item
from scope.sections.changes import Segment, mark_changes


@dataclass(frozen=True, kw_only=True)
class Giver:
    """A model that gave an answer; ``probability`` is empty where there is none."""

    name: str
    probability: str
    truncated: bool


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """One answer; ``words`` is empty where it says that there is none, ``given`` whether it is one.

    ``right`` is None where no right answer is known. ``overlap`` is the word F1 with gold.
    """

    letter: str
    words: tuple[Segment, ...]
    given: bool
    right: bool | None
    overlap: str
    givers: tuple[Giver, ...]


def text_rows(
    item: Item,
    answers: Sequence[tuple[str, Answer]],
    *,
    overlaps: Mapping[str, float],
    exact: Mapping[str, float],
) -> tuple[AnswerRow, ...]:
    """One row for each different text, in the order of the models that gave it first.

    Parameters
    ----------
    answers
        Each model's name and answer.
    overlaps, exact
        Word F1 and exact match with gold by model, as far as they were measured.
    """
    groups: dict[str | None, list[tuple[str, Answer]]] = {}
    for name, answer in answers:
        groups.setdefault(answer.text, []).append((name, answer))
    rows = []
    for text, members in groups.items():
        first = members[0][0]
        overlap = overlaps.get(first)
        rows.append(
            AnswerRow(
                letter="",
                words=() if text is None else marked_answer(text, item.gold),
                given=text is not None,
                right=_is_right(text, item.gold, exact.get(first)),
                overlap="" if overlap is None else wording.number(overlap),
                givers=tuple(_giver(name, answer) for name, answer in members),
            )
        )
    return tuple(rows)


def choice_rows(item: Item, answers: Sequence[tuple[str, Answer]]) -> tuple[AnswerRow, ...]:
    """One row for each option with the models that chose it, and one for those that chose none."""
    options: list[int | None] = list(range(len(item.question.options)))
    if not all(answer.given for _, answer in answers):
        options.append(None)
    return tuple(
        AnswerRow(
            letter="" if place is None else option_name(place),
            words=() if place is None else (Segment(item.question.options[place], False),),
            given=place is not None,
            right=None if item.right is None else place == item.right,
            overlap="",
            givers=tuple(
                _giver(name, answer) for name, answer in answers if answer.choice == place
            ),
        )
        for place in options
    )


def option_name(place: int) -> str:
    """What an option is called: a letter, or after the last a number.

    >>> option_name(0), option_name(25), option_name(26)
    ('A', 'Z', '27')
    """
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def marked_answer(text: str, gold: Sequence[str]) -> tuple[Segment, ...]:
    """The answer with its words marked that the nearest of the right answers has not.

    >>> parts = marked_answer("the red house", ["red house", "barn"])
    >>> [part.text for part in parts if part.changed]
    ['the']
    """
    if not gold or not text:
        return (Segment(text, False),)
    nearest = max(gold, key=lambda answer: _overlap(text, answer))
    return mark_changes(nearest, text).perturbed


def _overlap(text: str, other: str) -> float:
    words, others = text.split(), other.split()
    shared = (Counter(words) & Counter(others)).total()
    return 2 * shared / (len(words) + len(others)) if words or others else 1.0


def _is_right(text: str | None, gold: Sequence[str], exact: float | None) -> bool | None:
    """As it was measured; where that is not kept, the same words as an answer of gold."""
    if not gold:
        return None
    if exact is not None:
        return exact == 1.0
    return text is not None and text.split() in [answer.split() for answer in gold]


def _giver(name: str, answer: Answer) -> Giver:
    probability = ""
    if answer.probabilities and answer.choice is not None:
        probability = wording.two_digits(answer.probabilities[answer.choice])
    return Giver(name=name, probability=probability, truncated=answer.truncated)
