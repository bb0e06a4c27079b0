"""The answers themselves, question by question, and a task's measurements by models and metric."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from operator import attrgetter, itemgetter
from statistics import NormalDist
from typing import Any, NamedTuple
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
from reports.wording import short_names_of, two_digits
from scope.metrics.catalog import MetricName, metric_name
from scope.records import (
    ERROR,
    GOLD,
    UNANSWERABLE,
    Answer,
    CompareResult,
    Estimate,
    FourCells,
    Item,
    Measurement,
    TaskAnswers,
    own_id_of,
)
from scope.statistics.intervals import score_estimate
from scope.verdicts.plan import MOST_TEXTS

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
                        f"question {own_id_of(question.item.question.id)}",
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


_LEAST_PART = 10
"""A part of fewer questions shows nothing."""


class Part(NamedTuple):
    """A model's accuracy minus another one's on a part of the questions, which have these ids."""

    name: str
    gap: Estimate
    ids: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TaskEstimates:
    """The measurements of one task; ``choice`` if answers are chosen from options.

    ``degenerate`` maps a model to the reason why its answers are no evidence.
    """

    task: str
    names: tuple[str, ...]
    choice: bool
    rows: tuple[Measurement, ...]
    degenerate: Mapping[str, str]
    cells: tuple[FourCells, ...] = ()
    answers: TaskAnswers | None = None

    @property
    def fit(self) -> tuple[str, ...]:
        """The models that are not degenerate; rankings and findings exclude the others."""
        return tuple(name for name in self.names if name not in self.degenerate)

    def marked(self, name: str) -> str:
        """The model's name, with a remark if it is degenerate."""
        return f"{name} (degenerate)" if name in self.degenerate else name

    def against_gold(self, metric: str) -> dict[str, Measurement]:
        """The metric of each model against the right answers, in the order of the models.

        ``metric`` is a spelling, or a key alone if its parameters do not matter.
        """
        rows = {row.target: row for row in self._whole(metric) if row.against == GOLD}
        return {name: rows[name] for name in self.names if name in rows}

    @property
    def scores(self) -> dict[str, Measurement]:
        """How right each model is: by the option, by the score of an evaluation tool, by words."""
        return self.against_gold("accuracy") or self.against_gold("exact_match")

    @property
    def scored(self) -> bool:
        """Whether answers in words have the scores of an evaluation tool."""
        return not self.choice and bool(self.against_gold("accuracy"))

    @property
    def answered_freely(self) -> bool:
        """Whether answers in words have a score, and no known right words."""
        by_words = self.against_gold("word_f1").values()
        return self.scored and not any(isinstance(row.estimate, Estimate) for row in by_words)

    @cached_property
    def by_accuracy(self) -> list[str]:
        """The most accurate model, then the others by their difference on the same questions.

        Only models that are not degenerate and have an accuracy.
        """
        known = {name: row.estimate for name, row in self.scores.items() if name in self.fit}
        values = {name: of.value for name, of in known.items() if isinstance(of, Estimate)}
        best = max(values, key=lambda name: values[name], default="")
        gaps = {name: gap.value if (gap := self.gap(best, name)) else -1.0 for name in values}
        return sorted(values, key=lambda name: (name != best, -gaps[name]))

    def same(self, first: str, second: str) -> Estimate | None:
        """The share of equal answers of two models."""
        rows = self._whole("agreement" if self.choice else "exact_match")
        pair = (row.estimate for row in rows if {row.target, row.against} == {first, second})
        share = next(pair, None)
        return share if isinstance(share, Estimate) and not self.answered_freely else None

    def shared(self, first: str, second: str) -> dict[str, tuple[float, float]]:
        """How right two models are on each question that both were asked."""
        before, after = self._right(first), self._right(second)
        return {id_: (before[id_], after[id_]) for id_ in before if id_ in after}

    def gap(self, first: str, second: str, *, error: float = ERROR) -> Estimate | None:
        """The second model's accuracy minus the first's, on the questions of both."""
        both = self.shared(first, second)
        gaps = [after - before for before, after in both.values()]
        return score_estimate(gaps, list(both), error=error) if both else None

    def parts(self, first: str, second: str) -> list[Part]:
        """The categories that two models were asked about, the worst first.

        Their intervals hold for all of them together, by Bonferroni's correction.
        """
        both, groups = self.shared(first, second), defaultdict[str, list[str]](list)
        for item in self.answers.items if self.answers else ():
            if item.question.id in both:
                groups[item.category or "no category"].append(item.question.id)
        large = {name: ids for name, ids in groups.items() if len(ids) >= _LEAST_PART}
        error, parts = ERROR / max(len(large), 1), []
        for name, ids in large.items():
            gaps = [both[id_][1] - both[id_][0] for id_ in ids]
            parts.append(Part(name, score_estimate(gaps, ids, error=error), ids))
        return sorted(parts, key=lambda part: part.gap.value) if parts[1:] else []

    def _right(self, model: str) -> dict[str, float]:
        """How right a model is on each question; chosen options are not kept with the numbers."""
        row = self.scores.get(model)
        if row is not None and row.values:
            return dict(zip(row.example_ids, row.values, strict=True))
        if self.answers is None:
            return {}
        both = zip(self.answers.items, self.answers.answers[self.names.index(model)], strict=True)
        known = ((item, answer) for item, answer in both if answer.asked and item.right is not None)
        return {item.question.id: float(answer.choice == item.right) for item, answer in known}

    def _whole(self, metric: str) -> list[Measurement]:
        rows = (row for row in self.rows if row.subset is None)
        return [row for row in rows if metric in (row.metric, row.metric.partition("(")[0])]


def questions_needed(gap: Estimate) -> int:
    """How many questions show in 4 runs of 5 which model is better, if they differ as much.

    >>> questions_needed(Estimate(value=0.1, low=0.0, high=0.2, n=100, method="normal"))
    205
    """
    deviation = (gap.high - gap.low) / 2 / NormalDist().inv_cdf((1 + gap.level) / 2)
    z = sum(map(NormalDist().inv_cdf, (1 - ERROR, 0.8)))
    wanted = gap.n * (z * deviation / max(abs(gap.value), 1e-9)) ** 2
    return ceil(min(max(wanted, 100), MOST_TEXTS))


def task_estimates(result: CompareResult) -> tuple[TaskEstimates, ...]:
    """The measurements task by task."""
    names = tuple(card.name for card in result.manifest.models)
    return tuple(
        TaskEstimates(
            task=answers.task,
            names=names,
            choice=any(item.question.options for item in answers.items),
            rows=tuple(row for row in result.measurements if row.capability == answers.task),
            degenerate={
                share.model: share.degenerate
                for share in result.task_shares
                if share.task == answers.task and share.degenerate is not None
            },
            cells=tuple(cell for cell in result.cells if cell.task == answers.task),
            answers=answers,
        )
        for answers in result.tasks
    )


def explained(result: CompareResult) -> Iterator[MetricName]:
    """The distinct metrics, with the meaning of SemScore if a probe replaces the encoder."""
    probe = result.manifest.settings.get("semscore")
    meaning = f"similarity in meaning of two answers by {probe}, from 0 to 1 (equal)"
    for name in map(metric_name, dict.fromkeys(row.metric for row in result.measurements)):
        yield replace(name, meaning=meaning) if probe and name.head == "sem_score" else name


def with_short_names(result: CompareResult) -> CompareResult:
    """The result as a page shows it: names without their common beginning."""
    short = short_names_of([card.name for card in result.manifest.models])

    def names(text: str) -> str:
        return " ~ ".join(short.get(name, name) for name in text.split(" ~ "))

    def renamed(records: Any, *fields: str) -> Any:
        known = ((row, [key for key in fields if getattr(row, key)]) for row in records)
        return tuple(replace(r, **{key: names(getattr(r, key)) for key in k}) for r, k in known)

    return replace(
        result,
        manifest=replace(result.manifest, models=renamed(result.manifest.models, "name")),
        measurements=renamed(result.measurements, "target", "against"),
        differences=renamed(result.differences, "first", "second"),
        task_shares=renamed(result.task_shares, "model"),
        cells=renamed(result.cells, "first", "second"),
        verdicts=renamed(result.verdicts, "target"),
        drift=renamed(result.drift, "target", "against"),
        regions=renamed(result.regions, "target"),
    )
