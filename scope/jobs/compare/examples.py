"""The answers themselves, question by question: each model's answer beside gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import NamedTuple
from urllib.parse import urlencode

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
    paragraph,
    places,
)
from reports.prose import Span, Text, joined, prose, written
from reports.wording import two_digits
from scope.jobs.compare.task_estimates import TaskEstimates
from scope.records import UNANSWERABLE, Answer, Item, TaskAnswers

LEAST_LETTERS, MOST_LETTERS = 60, 300
"""A shorter question, such as one without its options, shows little; a longer one hides more."""

MOST_ITEMS = 500
"""Questions shown at most; those on which the models disagree most come first."""


class Given(NamedTuple):
    """An answer to a question, or an option, with the models that gave it.

    ``key`` is the text or the option's place, None for no answer; ``right`` is None if the right
    answer is unknown.
    """

    key: str | int | None
    models: Sequence[tuple[str, Answer]]
    right: bool | None


class AnsweredQuestion(NamedTuple):
    """A question of a task with every option, or with every text in the order of the models."""

    task: TaskEstimates
    item: Item
    given: tuple[Given, ...]

    @property
    def disagreement(self) -> float:
        """The share of pairs of models whose answers differ; 0 where there is no pair.

        A missing answer differs from every other one.
        """
        models = sum(len(answer.models) for answer in self.given)
        counts = [len(answer.models) for answer in self.given if answer.key is not None]
        pairs = models * (models - 1)
        return 1 - sum(count * (count - 1) for count in counts) / pairs if pairs else 0.0


Questions = Sequence[AnsweredQuestion]
"""Those of a task."""


def answered_questions(task: TaskEstimates, answers: TaskAnswers) -> Iterator[AnsweredQuestion]:
    """Every question of a task, with the models grouped by answer."""
    # A score between 0 and 1 is neither right nor wrong.
    exact = {
        (model, item): {0.0: False, 1.0: True}.get(value)
        for model, row in task.scores.items()
        for item, value in zip(row.example_ids, row.values, strict=True)
    }
    for item, *row in zip(answers.items, *answers.answers, strict=True):
        groups: dict[str | int | None, list[tuple[str, Answer]]]
        groups = {place: [] for place in range(len(item.question.options))}
        for model, answer in zip(task.names, row, strict=True):
            if answer.asked:
                key = answer.choice if item.question.options else answer.text
                groups.setdefault(key, []).append((model, answer))
        distinct = []
        for key, models in groups.items():
            measured = exact.get((models[0][0], item.question.id)) if models else None
            right = measured if task.scored else _is_right(item, key, measured)
            distinct.append(Given(key, models, right))
        yield AnsweredQuestion(task, item, tuple(distinct))


def _is_right(item: Item, key: str | int | None, exact: bool | None) -> bool | None:
    """The measured exact match; if it was not kept, whether the words equal a gold answer."""
    if item.question.options:
        return None if item.right is None else key == item.right
    if exact is None and item.gold:
        return str(key or "").split() in [answer.split() for answer in item.gold]
    return exact


def _shown(item: Item, answer: Given) -> Text:
    """An answer, or a note that there is none, with a remark if it is right."""
    if isinstance(answer.key, int):
        # A letter, or after Z a number.
        name = chr(ord("A") + answer.key) if answer.key < 26 else answer.key + 1
        text: Text = (Span(f"{name}. {item.question.options[answer.key]}"),)
    elif answer.key:
        text = (Span(answer.key, foreign=True),)
    else:
        text = (Span("no answer" if answer.key is None else UNANSWERABLE, "emphasis"),)
    return (*text, Span(" "), Span("✓\N{NO-BREAK SPACE}right", "good")) if answer.right else text


def _giver(pair: tuple[str, Answer]) -> Text:
    """A model with the probability of its choice, if it gives one."""
    name, answer = pair
    text = written(name)
    if answer.probabilities and answer.choice is not None:
        text = (*text, Span(f"\N{NO-BREAK SPACE}{two_digits(answer.probabilities[answer.choice])}"))
    return (*text, Span(" (truncated)")) if answer.truncated else text


def question_blocks(asked: AnsweredQuestion) -> Iterator[Block]:
    """The question, the right answers if it has no options, and the answers."""
    item = asked.item
    yield Passage((Span(item.question.text),))
    if item.question.context:
        yield Fold(prose("Context"), (Passage((Span(item.question.context),)),))
    if not item.question.options:
        right = ((Span(text or UNANSWERABLE, "strong", foreign=True),) for text in item.gold)
        gold = joined(dict.fromkeys(right), between=" / ") or prose("not known")
        # As in logs of tasks whose prompts alone have the options.
        letter = all(text.isalpha() and len(text) == 1 for text in item.gold or ("",))
        words = "Right: {gold}" + " (the data do not have the options)" * letter
        yield Passage(prose(words, gold=gold))
    rows = tuple(
        Row(cells=(_shown(item, each), joined(map(_giver, each.models))), chosen=each.right is True)
        for each in asked.given
    )
    yield Table(columns=(Column("Answer", "passage"), Column("Given by")), rows=rows)


class Filters(NamedTuple):
    """The values that a reader may choose from in the finder of shown questions."""

    shown: Questions
    tasks: Sequence[str]
    categories: Sequence[str]
    kinds: Mapping[str, int]

    @classmethod
    def of(cls, tasks: Sequence[Questions], most: int) -> Filters:
        """Of the ``most`` questions with the most disagreement, shared evenly by the tasks."""
        most_disagreed = partial(sorted, key=attrgetter("disagreement"), reverse=True)
        most = -(-most // max(len(tasks), 1))
        shown = most_disagreed(each for of_task in tasks for each in most_disagreed(of_task)[:most])
        return cls(
            shown,
            list(dict.fromkeys(question.task.task for question in shown)),
            sorted({question.item.category or "no category" for question in shown}),
            Counter(filter(None, map(_kind, shown))),
        )

    def address(self, kind: str) -> str:
        """The address of the shown questions of a kind, within the page; empty without any."""
        state = self._state(kind) if kind in self.kinds else ""
        return f"answers?{urlencode({'state': state})}" if state else ""

    def _state(self, kind: str) -> str:
        return f"kind{list(self.kinds).index(kind)}"

    def keys(self, question: AnsweredQuestion) -> dict[str, str]:
        """What the finder selects and sorts a question by."""
        states = ["disagree"] if question.disagreement else []
        states += [self._state(kind)] if (kind := _kind(question)) else []
        return {
            "task": str(self.tasks.index(question.task.task)),
            "category": str(self.categories.index(question.item.category or "no category")),
            "state": " ".join(states),
            "alike": f"{1 - question.disagreement:.6f}",
        }

    @property
    def finder(self) -> Finder:
        """Its form."""
        named = (("task", "Task", self.tasks), ("category", "Category", self.categories))
        lists = [Select(key=k, label=label, options=places(of)) for k, label, of in named if of[1:]]
        states = {"": "all questions", "disagree": "models disagree"}
        states |= {self._state(kind): kind for kind in self.kinds}
        lists.append(Select(key="state", label="Answers", options=tuple(states.items())))
        return Finder(
            unit="questions",
            searched="texts",
            selects=tuple(lists),
            orders=(("order", "most disagreed first"), ("alike", "least disagreed first")),
            difference="state",
        )


def answers_side_by_side(tasks: Sequence[Questions], filters: Filters) -> Section:
    """The questions on which models disagree most."""
    disagreeing = sum(question.disagreement > 0 for of_task in tasks for question in of_task)
    about = paragraph(
        "{shown} of {n} questions, those with the most disagreement first; the models disagree on "
        "{disagreeing}. After a model stands the probability of its choice.",
        **{"shown": len(filters.shown), "n": sum(map(len, tasks)), "disagreeing": disagreeing},
    )
    made = tuple(
        Card(
            note=joined(
                filter(
                    None,
                    (
                        question.task.task,
                        f"question {question.item.question.id}",
                        question.item.category,
                    ),
                ),
                " · ",
            ),
            blocks=tuple(question_blocks(question)),
            keys=filters.keys(question),
            anchor=example_anchor(question.item.question.id, question.task.task),
        )
        for question in filters.shown
    )
    cards = (Cards(cards=made, finder=filters.finder),) if made else ()
    return Section(anchor="answers", title="Answers side by side", blocks=(about, *cards))


def example(questions: Questions, pair: Sequence[str], part: Sequence[str]) -> tuple[Block, ...]:
    """A short question that the first of two models answers correctly and the second does not.

    Of those with the ids of ``part``, if a short one is among them.
    """
    fitting = []
    for asked in questions:
        right = {name: answer.right for answer in asked.given for name, _ in answer.models}
        if [right.get(name) for name in pair] == [True, False]:
            length, is_part = len(asked.item.question.text), asked.item.question.id in part
            rank = (length > MOST_LETTERS, not is_part, length < LEAST_LETTERS, length)
            fitting.append((rank, asked))
    if not fitting:
        return ()
    _, asked = min(fitting, key=itemgetter(0))
    of_pair = [
        answer._replace(models=[each for each in answer.models if each[0] in pair])
        for answer in asked.given
    ]
    shown = asked._replace(given=tuple(each for each in of_pair if each.models or each.right))
    note = written(asked.item.category or asked.task.task)
    return (Cards(cards=[Card(note=note, blocks=tuple(question_blocks(shown)))], narrow=True),)


def _kind(question: AnsweredQuestion) -> str:
    """The kind of a question by the answers of the only two models; empty for more."""
    answers = [(name, each) for each in question.given for name, _ in each.models]
    right = [name for name, each in answers if each.right]
    wrong = [each.key for _, each in answers if each.right is False]
    if len(question.task.names) != 2 or len(right) + len(wrong) != 2:
        return ""
    if right:
        return f"Only {right[0]} is right" if wrong else "Both are right"
    alike = wrong[0] == wrong[1] and wrong[0] is not None
    return "The same wrong answer" if alike else "Different wrong answers"
