"""The answers themselves, question by question: what each model answers beside gold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reports.blocks import (
    Block,
    Card,
    Cards,
    Column,
    Finder,
    Fold,
    Passage,
    Row,
    Section,
    Select,
    Table,
    example_anchor,
    note,
    paragraph,
    places,
)
from reports.changes import Segment, mark_changes
from reports.prose import Span, Text, joined, prose, written
from reports.wording import number, two_digits
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.records import UNANSWERABLE, Answer, CompareResult, Item, TaskAnswers


def disagreements(numbers: TaskEstimates, answers: TaskAnswers) -> list[float]:
    """One number per item, from 0 where all models answer alike to 1 where no two do.

    Free-text answers: one minus the mean word F1 of the pairs of models. Choices, and answers of
    which no word F1 is kept: the share of pairs that answer differently.
    """
    different = [
        share_of_different_pairs(_words_or_choice(row[place]) for row in answers.answers)
        for place in range(len(answers.items))
    ]
    if numbers.choice:
        return different
    overlaps = _mean_overlaps(numbers)
    return [
        1 - overlaps[item.question.id] if item.question.id in overlaps else fallback
        for item, fallback in zip(answers.items, different, strict=True)
    ]


def _words_or_choice(answer: Answer) -> Hashable:
    return answer.choice if answer.text is None else " ".join(answer.text.split())


def _mean_overlaps(numbers: TaskEstimates) -> dict[str, float]:
    """The mean word F1 over the pairs that both answered, by item."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in numbers.between("word_f1").values():
        if row.values:
            for item_id, value in zip(row.example_ids, row.values, strict=True):
                found[item_id].append(value)
    return {item_id: sum(values) / len(values) for item_id, values in found.items()}


def share_of_different_pairs(answers: Iterable[Hashable]) -> float:
    """The share of pairs of given answers that differ; 0 where there is no pair.

    >>> share_of_different_pairs(["a", "a", "b", None])
    0.6666666666666666
    """
    counts = Counter(answer for answer in answers if answer is not None)
    given = counts.total()
    pairs = given * (given - 1) // 2
    alike = sum(count * (count - 1) // 2 for count in counts.values())
    return (pairs - alike) / pairs if pairs else 0.0


MOST_ITEMS = 500
"""Questions shown at most; those on which the models disagree most come first."""

_Given = Sequence[tuple[str, Answer]]
"""Models by name with their answers to one question."""


class AnswerRow(NamedTuple):
    """A row for one answer, and whether a model that gave it is wrong."""

    row: Row
    wrong: bool


class _Ranked(NamedTuple):
    """An item's place in its task, and its rank among the task's items by disagreement."""

    rank: int
    task: int
    place: int
    disagreement: float


def answers_side_by_side(result: CompareResult, *, most: int) -> Section | None:
    """At most so many questions, the most disagreed first, as many of each task as there can be."""
    if not result.tasks:
        return None
    tasks = list(zip(task_estimates(result), result.tasks, strict=True))
    ranked = [
        one
        for place, (numbers, task) in enumerate(tasks)
        for one in _ranked(place, disagreements(numbers, task))
    ]
    # By rank before task: each task shows its most disagreed items, whatever its scale.
    chosen = sorted(ranked)[:most]
    chosen.sort(key=lambda one: (-one.disagreement, one.task, one.place))
    blocks: list[Block] = [
        paragraph(
            "This section shows {shown} of {total} questions, those with the most disagreement "
            "first; the models disagree on {disagreeing} of the {total}. All answers are in "
            "``to_frame('examples')`` and in the run’s parquet files.",
            shown=len(chosen),
            total=len(ranked),
            disagreeing=sum(one.disagreement > 0 for one in ranked),
        )
    ]
    if chosen:
        blocks += (
            note(
                "Models with the same answer share a row; marked words are not in gold. "
                "“Disagreement” is one minus the mean word F1 of the pairs of models, and with "
                "options the share of pairs that choose differently. The number after a model is "
                "the probability of its choice."
            ),
            _cards(tasks, chosen),
        )
    return Section(anchor="answers", title="Answers side by side", blocks=tuple(blocks))


def _ranked(task: int, found: list[float]) -> list[_Ranked]:
    order = sorted(range(len(found)), key=lambda place: (-found[place], place))
    return [_Ranked(rank, task, place, found[place]) for rank, place in enumerate(order)]


def _cards(tasks: list[tuple[TaskEstimates, TaskAnswers]], chosen: list[_Ranked]) -> Cards:
    readers = [_Reader(*both) for both in tasks]
    names = list(dict.fromkeys(task.task for _, task in tasks))
    categories = _categories(tasks[one.task][1].items[one.place] for one in chosen)
    in_tasks = sorted((one.task, one.place) for one in chosen)
    orders = {both: place for place, both in enumerate(in_tasks)}
    cards = []
    for one in chosen:
        item = readers[one.task].answers.items[one.place]
        keys = {
            "order": str(orders[one.task, one.place]),
            "task": str(names.index(readers[one.task].answers.task)),
            "category": str(categories.index(item.category)),
        }
        cards.append(readers[one.task].card(one.place, one.disagreement, keys))
    return Cards(cards=tuple(cards), finder=_finder(names, categories))


def _categories(items: Iterable[Item]) -> list[str | None]:
    """The categories that occur, then none."""
    present = {item.category for item in items}
    named = sorted(category for category in present if category is not None)
    return [*named, *([None] if None in present else [])]


def _finder(tasks: Sequence[str], categories: Sequence[str | None]) -> Finder:
    selects = []
    if len(tasks) > 1:
        selects.append(Select(key="task", label="Task", options=places(tasks)))
    if len(categories) > 1:
        named = ["no category" if one is None else one for one in categories]
        selects.append(Select(key="category", label="Category", options=places(named)))
    states = (
        ("", "all questions"),
        ("disagree", "models disagree"),
        ("wrong", "at least one is wrong"),
        ("none", "all alike, none wrong"),
    )
    return Finder(
        unit="questions",
        searched="texts",
        selects=(*selects, Select(key="state", label="Answers", options=states)),
        orders=(
            ("disagreement", "most disagreed first"),
            ("agreement", "least disagreed first"),
            ("order", "task by task"),
        ),
        difference="state",
    )


class _Reader:
    """Makes the cards of a task, with the numbers of each model on its items."""

    def __init__(self, numbers: TaskEstimates, answers: TaskAnswers) -> None:
        self.numbers, self.answers = numbers, answers
        self.overlaps = _by_item(numbers, "word_f1")
        self.exact = _by_item(numbers, "exact_match")

    def card(self, place: int, disagreement: float, keys: Mapping[str, str]) -> Card:
        """One question with gold and every model's answer.

        The state in words, to filter by, is whether models disagree, and whether one is wrong.
        """
        item = self.answers.items[place]
        given = [
            (name, row[place])
            for name, row in zip(self.numbers.names, self.answers.answers, strict=True)
        ]
        rows = self._rows(item, [(name, answer) for name, answer in given if answer.asked])
        states = ["disagree"] * (disagreement > 0) + ["wrong"] * any(one.wrong for one in rows)
        return Card(
            note=self._note(item, disagreement),
            blocks=tuple(self._blocks(item, rows, given)),
            keys={
                **keys,
                "state": " ".join(states),
                "disagreement": f"{disagreement:.6f}",
                "agreement": f"{1 - disagreement:.6f}",
            },
            anchor=example_anchor(item.question.id, self.answers.task),
        )

    def _note(self, item: Item, disagreement: float) -> Text:
        return prose(
            "{task} · question {question}{category} · disagreement {disagreement}",
            task=self.answers.task,
            question=item.question.id,
            category=prose(" · {category}", category=item.category)
            if item.category is not None
            else (),
            disagreement=(Span(number(disagreement)),),
        )

    def _blocks(self, item: Item, rows: Sequence[AnswerRow], given: _Given) -> Iterator[Block]:
        yield Passage((Span(item.question.text),))
        if item.question.context:
            yield Fold(prose("Context"), (Passage((Span(item.question.context),)),))
        if self.numbers.choice:
            columns = (Column("", "name"), Column("Option", "passage"), Column("Chosen by"))
        else:
            yield Passage(prose("Gold: {gold}", gold=_gold(item.gold)))
            columns = (
                Column("Answer", "passage"),
                Column("Word F1", "number"),
                Column("Given by"),
            )
        yield Table(columns=columns, rows=tuple(one.row for one in rows))
        if silent := [name for name, answer in given if not answer.asked]:
            yield note("Not asked: {models}", models=joined(silent))

    def _rows(self, item: Item, asked: _Given) -> tuple[AnswerRow, ...]:
        if self.numbers.choice:
            return choice_rows(item, asked)
        key = item.question.id
        return text_rows(item, asked, self.overlaps.get(key, {}), self.exact.get(key, {}))


def _by_item(numbers: TaskEstimates, metric: str) -> Mapping[str, Mapping[str, float]]:
    """The values of each model against gold, by item and model."""
    found: dict[str, dict[str, float]] = {}
    for model, row in numbers.against_gold(metric).items():
        if row.values:
            for item_id, value in zip(row.example_ids, row.values, strict=True):
                found.setdefault(item_id, {})[model] = value
    return found


def _gold(answers: Sequence[str]) -> Text:
    named = ((Span(one or UNANSWERABLE, "strong", foreign=True),) for one in dict.fromkeys(answers))
    return joined(named, between=" / ") or prose("not known")


def text_rows(
    item: Item,
    answers: _Given,
    overlaps: Mapping[str, float],
    exact: Mapping[str, float],
) -> tuple[AnswerRow, ...]:
    """One row for each different text, in the order of the models that gave it first.

    ``overlaps`` and ``exact`` are word F1 and exact match with gold by model, as far as they were
    measured.
    """
    groups: dict[str | None, list[tuple[str, Answer]]] = {}
    for name, answer in answers:
        groups.setdefault(answer.text, []).append((name, answer))
    rows = []
    for text, givers in groups.items():
        first = givers[0][0]
        right = _is_right(text, item.gold, exact.get(first))
        overlap = number(overlaps[first]) if first in overlaps else None
        shown = _shown(None if text is None else marked_answer(text, item.gold), right=right)
        row = Row(cells=(shown, overlap, _givers(givers)), chosen=right is True)
        rows.append(AnswerRow(row, wrong=right is False))
    return tuple(rows)


def choice_rows(item: Item, answers: _Given) -> tuple[AnswerRow, ...]:
    """One row for each option with the models that chose it, and one for those that chose none."""
    options: list[int | None] = list(range(len(item.question.options)))
    if not all(answer.given for _, answer in answers):
        options.append(None)
    rows = []
    for place in options:
        right = None if item.right is None else place == item.right
        words = None if place is None else (Segment(item.question.options[place], False),)
        givers = [(name, answer) for name, answer in answers if answer.choice == place]
        letter = None if place is None else option_name(place)
        row = Row(cells=(letter, _shown(words, right=right), _givers(givers)), chosen=right is True)
        rows.append(AnswerRow(row, wrong=right is False and bool(givers)))
    return tuple(rows)


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


def _shown(words: Sequence[Segment] | None, *, right: bool | None) -> Text:
    """An answer, or that there is none, with a remark where it is right."""
    if words is None:
        text = prose("__no answer__")
    elif not any(part.text for part in words):
        text = (Span(UNANSWERABLE, "emphasis"),)
    else:
        text = tuple(Span(part.text, "marked" if part.changed else "plain") for part in words)
    return (*text, Span(" "), Span("✓\N{NO-BREAK SPACE}right", "good")) if right else text


def _givers(givers: _Given) -> Text:
    return joined(_giver(name, answer) for name, answer in givers)


def _giver(name: str, answer: Answer) -> Text:
    """A model with the probability of its choice, if it gives one."""
    text = written(name)
    if answer.probabilities and answer.choice is not None:
        probability = two_digits(answer.probabilities[answer.choice])
        text = (*text, Span(f"\N{NO-BREAK SPACE}{probability}"))
    return (*text, Span(" (truncated)")) if answer.truncated else text
