"""Asks each model for each item once and stores the answers.

`AnswerStore.get` is the one way from a model to its predictions and replies: it removes duplicates,
looks up what this run and other runs know, asks for the rest, checks it, and keeps it as it comes.
A run knows a model by its fingerprint: its bytes and settings. The table that runs share knows it
by its identity: the fingerprint with all that computes its answers, such as processor and
libraries. Models without an identity are never shared.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.answers.table import (
    Held,
    Kind,
    Table,
    Value,
    as_row,
    enforce_limit,
    read_row,
    shared_table,
)
from scope.errors import RunError
from scope.models.questions import KINDS, ask, unanswered
from scope.progress import Silent
from scope.protocols import Classifier, Progress, Role
from scope.records import GivenAnswer, Prediction, Question

KEPT_AT_ONCE = 16
"""Answers between two writes: at most these, and those under way, are lost by a kill."""

SECONDS_BETWEEN_WRITES = 1.0
"""Longest time between two writes of answers."""

_NONE: Mapping[str, str] = MappingProxyType({})


class Shared:
    """Answers and searches of other runs, and of this one for others.

    Errors of the table are noted in ``trouble``, and the run continues without it.

    Parameters
    ----------
    identities
        Of each model whose answers may be shared, by its fingerprint: all that decides them,
        beside what is asked. Others are never shared.
    folder
        SCoPE's cache folder; nothing is shared without it.

    Examples
    --------
    >>> Shared().get("answers", "model", ["good"], str)
    {}
    """

    def __init__(self, identities: Mapping[str, str] = _NONE, folder: Path | None = None) -> None:
        self._identities = identities if folder else _NONE
        self._folder = folder
        self._table: Table | None = None
        self.trouble = ""
        self.reused = Held(0, 0)
        if folder:
            with self._without_fail():
                self._table = shared_table(folder)

    def identity(self, fingerprint: str) -> str | None:
        """All that decides a model's answers; None where they are not shared."""
        return self._identities.get(fingerprint)

    def get(
        self, kind: Kind, owner: str, contents: Iterable[str], read: Callable[[str], Value]
    ) -> dict[str, Value]:
        """What other runs know; nothing where the table cannot be read."""
        with self._without_fail():
            return self._table.get(kind, owner, contents, read) if self._table else {}
        return {}

    def put(self, kind: Kind, owner: str, values: Mapping[str, str]) -> None:
        """Keep values for other runs."""
        with self._without_fail():
            if self._table:
                self._table.put(kind, owner, values)

    def count(self, *, searches: int = 0, answers: int = 0) -> None:
        """Count what the run has taken from other runs."""
        self.reused = Held(self.reused.searches + searches, self.reused.answers + answers)

    def close(self, limit: int) -> None:
        """Close the table, and bring the cache back to its limit."""
        with self._without_fail():
            if self._table and self._folder:
                self._table.close()
                enforce_limit(self._folder, limit)

    @contextmanager
    def _without_fail(self) -> Iterator[None]:
        try:
            yield
        except RunError as error:
            self.trouble = error.found
            table, self._table = self._table, None
            if table:
                table.abandon()


class AnswerStore:
    """The answers of models that a run keeps.

    ``asked_again`` and ``drifts`` are this session's: see `scope.answers.asking`. Answers that a
    result will hold are remembered, so that they are read once.

    Parameters
    ----------
    table
        The run's own.
    shared
        What it has in common with other runs. What it takes from there is kept in ``table``, too.

    Examples
    --------
    >>> class Guess:
    ...     spec, fingerprint, labels = "python:example:Guess", "guess-1", ("no", "yes")
    ...     def classify(self, texts):
    ...         print("asked:", *texts)
    ...         return [Prediction(probabilities=(0.25, 0.75)) for _ in texts]
    >>> answers = AnswerStore(Table(Path(":memory:")))
    >>> [one.choice for one in answers.get(Guess(), "classifier", ["good", "bad", "good"])]
    asked: bad good
    [1, 1, 1]
    >>> len(answers.get(Guess(), "classifier", ["good"]))
    1
    """

    def __init__(self, table: Table, shared: Shared | None = None) -> None:
        self.table = table
        self.shared = shared or Shared()
        self.asked_again = 0
        self.drifts: list[str] = []
        self._computed: set[str] = set()
        self._remembered: dict[tuple[str, Role], dict[Any, Any]] = defaultdict(dict)

    def get(
        self,
        model: Any,
        role: Role,
        items: Sequence[Any],
        *,
        progress: Progress | None = None,
        title: str = "",
        remember: bool = True,
    ) -> list[Any]:
        """A model's answers to texts or questions, in their order.

        Known answers, of this session or an earlier one, are reused. Answers that
        came before a failure are kept.

        Parameters
        ----------
        role
            Texts are for classifiers, questions for all other roles.
        progress, title
            Where to show how many different items are answered, and as what; nowhere by default.
        remember
            Whether the answers stay in memory, too; a search asks far more than a result holds.

        Raises
        ------
        ModelError
            When the model gives an answer twice, no answer, or an invalid one.
        """
        contents = [content_of(role, item) for item in items]
        distinct: dict[str, Any] = {}
        for content, item in zip(contents, items, strict=True):
            distinct.setdefault(content, item)
        known = self._known(model.fingerprint, role, distinct)
        missing = [content for content in distinct if content not in known]
        if role == "classifier":
            # Texts of similar length make full batches; the order does not change the answers.
            missing.sort(key=lambda content: len(distinct[content]))
        waiting = [distinct[content] for content in missing]
        with (progress or Silent()).task(title, len(distinct), len(known)) as advance:
            for answers in _gathered(ask(model, role, waiting)):
                by_content = {missing[place]: answer for place, answer in answers.items()}
                self._keep(model.fingerprint, by_content)
                known |= by_content
                advance(len(answers))
        if remember:
            answered = {distinct[content]: answer for content, answer in known.items()}
            self._remember(model.fingerprint, role, answered)
        if left := [item for content, item in distinct.items() if content not in known]:
            raise unanswered(model, left, items)
        return [known[content] for content in contents]

    def known(
        self, fingerprint: str, items: Sequence[Any], role: Role = "classifier"
    ) -> dict[Any, Any]:
        """The answers of one model that are known, by text or question."""
        contents = {item: content_of(role, item) for item in items}
        by_content = self._known(fingerprint, role, {key: item for item, key in contents.items()})
        known = {item: by_content[key] for item, key in contents.items() if key in by_content}
        self._remember(fingerprint, role, known)
        return known

    def keep(self, fingerprint: str, answers: Mapping[Any, Any], role: Role = "classifier") -> None:
        """Keep answers by text or question; when this returns they survive a kill."""
        by_content = {content_of(role, item): answer for item, answer in answers.items()}
        self._keep(fingerprint, by_content)
        self._remember(fingerprint, role, answers)

    def _remember(self, fingerprint: str, role: Role, answers: Mapping[Any, Any]) -> None:
        # What a server failed to answer is asked again.
        answered = {item: answer for item, answer in answers.items() if answer.missing != "server"}
        self._remembered[fingerprint, role].update(answered)

    def keeps(self) -> None:
        """Called before anything is kept."""

    def fact(self, name: str, fingerprint: str) -> str | None:
        """What was noted of a model under a name, such as the id that its server gave."""
        return self.table.get("facts", name, [fingerprint], str).get(fingerprint)

    def keep_fact(self, name: str, fingerprint: str, value: str) -> None:
        """Note something of a model."""
        self.table.put("facts", name, {fingerprint: value})

    def computed_here(self, fingerprint: str) -> bool:
        """Whether all answers of a model in the run are as this session computes them.

        A run may have been begun on another machine, or by another release.
        """
        identity = self.shared.identity(fingerprint)
        return identity is not None and not self.table.contains_other(
            "facts", f"{fingerprint}\n", f"{fingerprint}\n{identity}"
        )

    def _known(self, fingerprint: str, role: Role, items: Mapping[str, Any]) -> dict[str, Any]:
        """The known answers to items, which are given and named by their contents."""
        remembered = self._remembered[fingerprint, role]
        known = {key: remembered[item] for key, item in items.items() if item in remembered}
        missing = [content for content in items if content not in known]
        return known | self._stored(fingerprint, role, missing) if missing else known

    def _stored(self, fingerprint: str, role: Role, contents: Sequence[str]) -> dict[str, Any]:
        read = partial(read_row, KINDS[role].record)
        known: dict[str, Any] = self.table.get("answers", fingerprint, contents, read)
        identity = self.shared.identity(fingerprint)
        missing = [content for content in contents if content not in known]
        if identity is None or not missing:
            return known
        shared = self.shared.get("answers", identity, missing, read)
        if shared:
            self._keep_own(fingerprint, {key: as_row(answer) for key, answer in shared.items()})
            self.shared.count(answers=len(shared))
        return known | shared

    def _keep(self, fingerprint: str, answers: Mapping[str, Any]) -> None:
        self.keeps()
        # What a server failed to answer is asked again when the run is resumed.
        rows = {
            content: as_row(answer)
            for content, answer in answers.items()
            if getattr(answer, "missing", "") != "server"
        }
        self._keep_own(fingerprint, rows)
        if identity := self.shared.identity(fingerprint):
            self.shared.put("answers", identity, rows)

    def _keep_own(self, fingerprint: str, rows: Mapping[str, str]) -> None:
        if fingerprint not in self._computed:
            self._computed.add(fingerprint)
            computed = f"{fingerprint}\n{self.shared.identity(fingerprint) or ''}"
            self.table.put("facts", "computed", {computed: computed})
        self.table.put("answers", fingerprint, rows)


class Memory(AnswerStore):
    """Answers that are kept as long as the process lives."""

    def __init__(self) -> None:
        self._remembered = defaultdict(dict)
        self._by_content: dict[str, dict[str, Any]] = defaultdict(dict)

    def _stored(self, fingerprint: str, role: Role, contents: Sequence[str]) -> dict[str, Any]:
        known = self._by_content[fingerprint]
        return {content: known[content] for content in contents if content in known}

    def _keep(self, fingerprint: str, answers: Mapping[str, Any]) -> None:
        self._by_content[fingerprint].update(answers)


class CachedClassifier:
    """A classifier whose answers come from a run where they are known already."""

    def __init__(self, classifier: Classifier, answers: AnswerStore) -> None:
        self._classifier, self._answers = classifier, answers
        self.spec = classifier.spec
        self.fingerprint = classifier.fingerprint
        self.labels = classifier.labels

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, asking the model only for new ones, each once."""
        return self._answers.get(self._classifier, "classifier", texts, remember=False)


def _gathered(answers: Iterable[tuple[int, Any]]) -> Iterator[dict[int, Any]]:
    """Answers that are written together, at least once a second; all that came before a failure.

    Examples
    --------
    >>> [len(answers) for answers in _gathered(enumerate("a" * (KEPT_AT_ONCE + 1)))]
    [16, 1]
    """
    gathered: dict[int, Any] = {}
    written = time.monotonic()
    try:
        for place, answer in answers:
            gathered[place] = answer
            late = time.monotonic() - written >= SECONDS_BETWEEN_WRITES
            if late or len(gathered) >= KEPT_AT_ONCE:
                ready, gathered, written = gathered, {}, time.monotonic()
                yield ready
    finally:
        # A failure is raised again when these are kept.
        if gathered:
            yield gathered


def content_of(role: Role, item: str | Question | GivenAnswer) -> str:
    """What a model is asked in a role, which decides its answer: the id of a question does not."""
    if isinstance(item, str):
        return json.dumps([role, item])
    question = item.question if isinstance(item, GivenAnswer) else item
    answer = [item.answer] if isinstance(item, GivenAnswer) else []
    earlier = [question.messages] if question.messages else []
    drawn = [{"seed": question.seed}] if question.seed is not None else []
    asked = (question.text, question.context, question.options)
    return json.dumps([role, *asked, *earlier, *answer, *drawn])
