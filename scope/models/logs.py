"""``SCHEME:PATH#MODEL``: answers in the logs of an evaluation tool; no model is run.

The probabilities of options are the softmax of their log-likelihoods, where a log has them: of sums
where the score is ``acc``, of means per character for ``acc_norm`` and per byte for ``acc_bytes``.
A generated answer keeps its words, and the tool's score says how right it is.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from scope.data.evaluation_logs import LogSpec
from scope.data.log_items import ItemName, LogFile, LogFormat, LogItem
from scope.data.sampling import content_key, fingerprint_of
from scope.errors import DataError, ModelError
from scope.models.options import ModelOptions
from scope.models.replies import MOST_SHOWN, UNFINISHED, unusable_row, without_thought
from scope.models.saved import ALL
from scope.models.scheme import Scheme
from scope.paths import expanded, sha256_of
from scope.progress import remark_once
from scope.protocols import Answers
from scope.records import Answer, NoAnswer, Question

MOST_WRONG = 0.25
"""A log of which more answers contradict their scores is refused; fewer are left out."""


class LogAnswers:
    """Looks answers up by the document and all conditions under which they were given."""

    def __init__(self, spec: str, files: Sequence[LogFile]) -> None:
        self.spec = spec
        self.fingerprint = fingerprint_of(
            (str(file.conditions), *map(sha256_of, file.paths)) for file in files
        )
        self._scheme = spec.partition(":")[0]
        self._items: dict[str, LogItem] = {}
        self._words: dict[str, bytes] = {}
        self._unread: Counter[str] = Counter()
        for item in (item for file in files for item in file.read()):
            if item.unusable:
                self._unread[item.name.conditions.task] += 1
            else:
                self._take(item)

        self._conditions = {item.name.conditions for item in self._items.values()}

    def _take(self, item: LogItem) -> None:
        right, words = item.right_option(item.name.score), content_key(item.text, item.options)
        small = item._replace(text="", prompt="", options=(), right=right)
        earlier = self._items.setdefault(item.name.key, small)
        same_words = self._words.setdefault(item.name.key, words) == words
        if not same_words or repr(earlier[:-1]) != repr(small[:-1]):
            raise DataError(
                f"two answers of {self.spec} to {item.name.document}: {earlier.place} and "
                f"{item.place}",
                expected="one run of a model under the same conditions",
                fix="name the file of one run, or move the other out of the folder",
            )

    def choose(self, questions: Sequence[Question]) -> Answers:
        """The option chosen for each question, or the text, with what the log has beside it.

        What cannot be read leaves the question out, for all models.
        """
        names = [self._name(question) for question in questions]
        missing = [name for name in names if name.key not in self._items]
        # A row that cannot be read names no item: it may be that of any which is missing.
        if not Counter(name.conditions.task for name in missing) <= self._unread:
            raise self._missing(missing, len(questions))
        wrong: list[DataError] = []
        for place, (name, question) in enumerate(zip(names, questions, strict=True)):
            answer = unusable_row(f"an item of {name.conditions.task} in a row that is not read")
            if item := self._items.get(name.key):
                try:
                    if self._words[name.key] != content_key(question.text, question.options):
                        raise self._wrong(item, "other words or options than the data have")
                    if question.options:
                        answer = self._choice(item, question.options, name.score)
                    else:
                        answer = self._generated(item, name.score)
                except DataError as error:
                    answer = unusable_row(error.found)
                    # Without a score a row contradicts nothing.
                    if not math.isnan(item.value(name.score) or 0.0):
                        wrong.append(error)
            if len(wrong) > MOST_WRONG * len(questions):
                raise wrong[0]
            yield place, answer

    answer = choose

    def _name(self, question: Question) -> ItemName:
        name = ItemName.parse(question.id)
        if name is None:
            raise ModelError(
                f"the question `{question.id}` of other data, for the log {self.spec}",
                expected="data of a log, whose items name the conditions of their answers",
                fix=f"write --data {self._scheme}:PATH",
            )
        alike = [held for held in self._conditions if held.fits(name.conditions)]
        if len(alike) == 1 and alike[0] != name.conditions:
            remark_once(f"{self.spec} answered {alike[0]}: taken for {name.conditions} of the data")
            name = name._replace(conditions=alike[0])
        return name

    def _missing(self, missing: Sequence[ItemName], asked: int) -> ModelError:
        """What is wrong where documents have no answer: other conditions or prompts, or no row."""
        names = [item.name for item in self._items.values()]
        answered = {(name.conditions.task, name.document): name.conditions for name in names}
        for conditions, _, document, _ in missing:
            if other := answered.get((conditions.task, document)):
                same = " with other prompts" if conditions == other else ""
                return ModelError(
                    f"{self.spec} answered {other}{same}, and the data are {conditions}",
                    expected="the same version, shots, filter, templates and prompts",
                    fix="compare runs of the same task, or choose the conditions of the data: "
                    f"--data '{self._scheme}:PATH?{other.unlike(conditions)}'",
                )
        tasks = {name.conditions.task for name in names}
        wanted = {name.conditions.task for name in missing}
        where, mark, model = self.spec.partition("#")
        task = f"?task={min(wanted)}" if len(wanted) == 1 and "?" not in where else ""
        return ModelError(
            f"{self.spec} has no answer to {len(missing)} of {asked} items of "
            f"{', '.join(sorted(wanted))}; it holds {', '.join(sorted(tasks)) or 'no samples'}",
            expected="an answer to every item of the data",
            fix=f"compare on the items that it answered: --data '{where}{task}{mark}{model}'"
            if tasks & wanted
            else "compare logs of the same task; `scope logs PATH` shows which there are",
        )

    def _choice(self, item: LogItem, options: Sequence[str], score: str) -> Answer:
        if item.missing:
            return _without_answer(item, item.missing)
        choice, value = item.chosen(score, options), item.value(score)
        if choice is not None and math.isnan(value or 0.0):
            value = None  # What is chosen is right or wrong without a score.
        if None not in (value, item.right) and value != float(choice == item.right):
            raise self._wrong(
                item,
                f"`{score}` is {value} where the option {choice} is chosen and the option "
                f"{item.right} is right, counted from 0",
            )
        if choice is None:
            return _without_answer(item, "not readable" if item.answer else "")
        if not item.log_likelihoods:
            return Answer(choice=choice)
        values = item.values(score, options)
        weights = [math.exp(value - values[choice]) for value in values]
        total = math.fsum(weights)
        return Answer(choice=choice, probabilities=tuple(weight / total for weight in weights))

    def _generated(self, item: LogItem, score: str) -> Answer:
        value = item.value(score)
        if (value is None) != (score == "none") or not 0 <= (value or 0) <= 1:
            raise self._wrong(item, f"the score `{score}` is {value}")
        text = without_thought(item.answer or "")
        if text is None:
            return UNFINISHED
        if item.missing or not (text.strip() or value):
            return _without_answer(item, item.missing)
        return Answer(text=text.strip(), score=None if value is None else float(value))

    def _wrong(self, item: LogItem, problem: str) -> DataError:
        return DataError(
            f"{item.place}: {problem}",
            expected="the options of the data, and a score of 1 for the right one, else 0; of a "
            "generated answer a score from 0 to 1, or none",
            fix=f"choose another task or score: --data '{self._scheme}:PATH?task=TASK&score=NAME'",
        )


def _without_answer(item: LogItem, why: NoAnswer) -> Answer:
    return Answer(missing=why, reply=(item.answer or "")[:MOST_SHOWN] * (why == "not readable"))


def load(scheme: str, rest: str, options: ModelOptions) -> LogAnswers:
    """Read one model's logs.

    Raises
    ------
    DataError
        When there are no logs, there are several models but no name, or a row cannot be read.
    """
    files = LogSpec.parse(scheme, rest).files()
    names = sorted({file.model for file in files})
    if len(names) > 1:
        raise DataError(
            f"{len(names)} models in {scheme}:{rest}: {', '.join(names[:40])}",
            expected=f"{scheme}:PATH#MODEL with one of them",
            fix=f"add #MODEL, or #{ALL} for all of them",
        )
    return LogAnswers(f"{scheme}:{rest}", [file for file in files if file.readable])


class Logs(Scheme):
    """The logs of one tool."""

    saved = holds_items = True

    def __init__(self, name: str, log_format: LogFormat) -> None:
        super().__init__(name, partial(load, name))
        # `scope list` and the reference show the docstring of the format's file.
        self.__module__ = log_format.read.__module__

    def short_name(self, rest: str) -> str:
        """The name after ``#``, else that of the only model of the logs."""
        if "#" in rest:
            return super().short_name(rest)
        try:
            names = {file.model for file in LogSpec.parse(self.name, rest).files()}
        except DataError:  # Loading says what is wrong.
            names = set()
        return names.pop() if len(names) == 1 else super().short_name(rest)

    def expand(self, rest: str) -> Iterator[str]:
        """The specs of all models that a spec means; ``PATH#*`` is every model of the folder."""
        spec = LogSpec.parse(self.name, rest)
        if spec.model != ALL:
            yield f"{self.name}:{rest}"
            return
        where, mark, query = rest.removesuffix(f"#{ALL}").partition("?")
        folders: dict[str, list[Path]] = {}
        for file in spec._replace(model=None).files():
            if file.paths:
                folders.setdefault(file.model, []).append(file.paths[0].parent)
        for name, paths in sorted(folders.items()):
            # Searching a model's folder is faster; only the whole folder distinguishes variants.
            whole = name.endswith(")") or spec.path.is_file() or spec.path != expanded(where)
            folder = where if whole else os.path.commonpath(paths)
            yield f"{self.name}:{folder}{mark}{query}#{name}"
