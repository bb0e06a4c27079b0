"""``lm-eval:PATH#MODEL``: answers in logs of lm-evaluation-harness; no model is run.

The probabilities of options are the softmax of their log-likelihoods: of sums where the score is
``acc``, of means per character for ``acc_norm`` and per byte for ``acc_bytes``. A generated answer
that the harness scores 1 counts as the item's right answer.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scope.data.lm_eval import log_files, parse_log_spec
from scope.data.lm_eval_samples import (
    SCHEME,
    ItemName,
    LogFile,
    LogItem,
    normalized_log_likelihoods,
    right_option,
)
from scope.data.sampling import content_key
from scope.errors import DataError, ModelError
from scope.models.answer_table import ALL
from scope.models.options import ModelOptions
from scope.models.saved import MissingAnswersError
from scope.models.scheme import Scheme
from scope.protocols import Answers
from scope.records import Answer, Question


class LogAnswers:
    """Looks answers up by the document and all conditions under which they were given."""

    def __init__(self, spec: str, files: Sequence[LogFile]) -> None:
        self.spec = spec
        self.fingerprint = _fingerprint(files)
        self._items: dict[str, LogItem] = {}
        self._places: dict[str, Path | None] = {}
        for file in files:
            for item in file.read():
                self._take(item, file)

    def _take(self, item: LogItem, file: LogFile) -> None:
        key = _key(item.name)
        small = item._replace(text="", options=(), right=right_option(item, item.name.score))
        earlier = self._items.setdefault(key, small)
        if earlier._replace(line=0) != small._replace(line=0):
            raise DataError(
                f"two answers of {self.spec} to {item.name.document}: line {earlier.line} of "
                f"{self._places[key]} and line {item.line} of {file.path}",
                expected="one run of a model under the same conditions",
                fix="name the file of one run, or move the other out of the folder",
            )
        self._places.setdefault(key, file.path)

    def choose(self, questions: Sequence[Question]) -> Answers:
        """The likeliest option of each question, and the probabilities."""
        return self._look_up(questions, self._choice)

    def answer(self, questions: Sequence[Question]) -> Answers:
        """The generated answer to each question; the right answer where it is scored 1."""
        return self._look_up(questions, self._generated)

    def _look_up(
        self, questions: Sequence[Question], read: Callable[[LogItem, Question, str], Answer]
    ) -> Answers:
        names = [_name(question, self.spec) for question in questions]
        missing = [
            (name, question)
            for name, question in zip(names, questions, strict=True)
            if _key(name) not in self._items
        ]
        if missing:
            self._refuse_other_conditions([name for name, _ in missing])
            raise MissingAnswersError(self.spec, [one for _, one in missing], len(questions), ())
        for place, (name, question) in enumerate(zip(names, questions, strict=True)):
            yield place, read(self._items[_key(name)], question, name.score)

    def _refuse_other_conditions(self, missing: Sequence[ItemName]) -> None:
        """Refuse documents that were answered under other conditions than the data have."""
        answered = {
            (item.name.conditions.task, item.name.document): item.name
            for item in self._items.values()
        }
        for name in missing:
            other = answered.get((name.conditions.task, name.document))
            if other is None:
                continue
            same = name.conditions == other.conditions
            raise ModelError(
                f"{self.spec} answered {other.conditions}{' with other prompts' if same else ''}, "
                f"and the data are {name.conditions}",
                expected="the same version, shots, filter, templates and prompts",
                fix="compare runs of the same task, or choose the conditions of the data: "
                f"{SCHEME}:PATH?{other.conditions.unlike(name.conditions)}",
            )

    def _choice(self, item: LogItem, question: Question, score: str) -> Answer:
        if item.words != content_key(question.text, question.options):
            raise self._wrong(item, "other words or options than the data", "the same options")
        values = normalized_log_likelihoods(item, question.options, score)
        choice = values.index(max(values))
        harness = item.scores.get(score)
        if None not in (harness, item.right) and harness != float(choice == item.right):
            raise self._wrong(
                item,
                f"`{score}` is {harness} where the option {choice} is chosen and the option "
                f"{item.right} is right, counted from 0",
                "1 for the right option, else 0",
            )
        weights = [math.exp(value - values[choice]) for value in values]
        total = math.fsum(weights)
        return Answer(choice=choice, probabilities=tuple(weight / total for weight in weights))

    def _generated(self, item: LogItem, question: Question, score: str) -> Answer:
        value = item.scores.get(score)
        if question.options or value not in (0, 1) or item.gold is None:
            raise self._wrong(
                item,
                f"the score `{score}` is {value} and the right answer {item.gold!r:.60}",
                "a generated answer, scored 0 or 1, with its target",
            )
        if value:
            return Answer(text=item.gold)
        same = item.answer is not None and sorted(item.answer.split()) == sorted(item.gold.split())
        return Answer(text=f"{item.answer} (scored 0)" if same else item.answer)

    def _wrong(self, item: LogItem, found: str, expected: str) -> DataError:
        return DataError(
            f"line {item.line} of {self._places[_key(item.name)]}: {found}",
            expected=expected,
            fix=f"choose another task or score: {SCHEME}:PATH?task=TASK&score=NAME",
        )


def _key(name: ItemName) -> str:
    return str(name._replace(score=""))


def _name(question: Question, spec: str) -> ItemName:
    name = ItemName.parse(question.id)
    if name is None:
        raise ModelError(
            f"the question `{question.id}` of other data, for the log {spec}",
            expected="data of a log, whose items name the conditions under which they were asked",
            fix=f"write --data {SCHEME}:PATH",
        )
    return name


def _fingerprint(files: Sequence[LogFile]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.conditions).encode())
        if file.path is not None:
            with file.path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]


def load(rest: str, options: ModelOptions) -> LogAnswers:
    """Read one model's logs.

    Raises
    ------
    DataError
        When there are none, several models and none is named, or a line cannot be read.
    """
    path, chosen, model = parse_log_spec(rest)
    files = log_files(path, chosen, model)
    names = sorted({file.model for file in files})
    if len(names) > 1:
        raise DataError(
            f"{len(names)} models in {SCHEME}:{rest}: {', '.join(names[:40])}",
            expected=f"{SCHEME}:PATH#MODEL with one of them",
            fix=f"add #MODEL, or #{ALL} for all of them",
        )
    return LogAnswers(f"{SCHEME}:{rest}", [one for one in files if one.readable])


def expand(rest: str) -> Iterator[str]:
    """The specs of all models that a spec means; ``PATH#*`` is every model of the folder."""
    path, chosen, model = parse_log_spec(rest)
    if model != ALL:
        yield f"{SCHEME}:{rest}"
        return
    where, query, _ = rest.partition("#")[0].partition("?")
    query = f"?{rest.partition('#')[0].partition('?')[2]}" if query else ""
    folders: dict[str, list[Path]] = {}
    for file in log_files(path, chosen, None):
        if file.path is not None:
            folders.setdefault(file.model, []).append(file.path.parent)
    for name, paths in sorted(folders.items()):
        # A model's own folder is searched quicker; its variants are told apart in the whole.
        own = where if name.endswith(")") else os.path.commonpath(paths)
        yield f"{SCHEME}:{own}{query}#{name}"


class EvaluationLogs(Scheme):
    """Logs of lm-evaluation-harness."""

    saved = True

    def expand(self, rest: str) -> Iterator[str]:
        """The specs of all models that a spec means; ``PATH#*`` is every model of the folder."""
        return expand(rest)


LOGS = EvaluationLogs("lm-eval", load)
