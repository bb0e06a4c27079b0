"""The part of the cache that one run reads and writes, beside the run's own database.

The run knows a model by its fingerprint: its bytes and settings. The cache knows it by its
identity: the fingerprint with all that computes its answers, such as processor and libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from scope.errors import RunError
from scope.protocols import Role
from scope.records import Answer, Prediction, Question
from scope.store.database import Database, Held, as_row, content_of, read_record
from scope.store.entries import EntryFile, EntryKind

_NONE: Mapping[str, str] = MappingProxyType({})


class SharedAnswers:
    """Answers and searches of other runs, and of this one for others.

    Whatever is wrong with the cache is noted in ``trouble``, and the run goes on without it.

    Parameters
    ----------
    identities
        Of each model whose answers may be shared, by its fingerprint: all that decides them,
        beside what is asked. Others are never shared.
    opened
        Opens the cache; nothing is shared without it.

    Examples
    --------
    >>> SharedAnswers().get("answers", "model", ["good"])
    {}
    """

    def __init__(
        self,
        identities: Mapping[str, str] = _NONE,
        opened: Callable[[], EntryFile] | None = None,
    ) -> None:
        self._identities = identities if opened else _NONE
        self._file: EntryFile | None = None
        self.trouble = ""
        self.reused = Held(0, 0)
        with self._without_fail():
            self._file = opened() if opened else None

    def identity(self, fingerprint: str) -> str | None:
        """All that decides a model's answers; None where they are not shared."""
        return self._identities.get(fingerprint)

    def get(self, kind: EntryKind, owner: str, contents: Iterable[str]) -> dict[str, str]:
        """What other runs know; nothing where the cache cannot be read."""
        with self._without_fail():
            return self._file.get(kind, owner, contents) if self._file else {}
        return {}

    def put(self, kind: EntryKind, owner: str, values: Mapping[str, str]) -> None:
        """Keep values for other runs."""
        with self._without_fail():
            if self._file:
                self._file.put(kind, owner, values)

    def close(self, afterwards: Callable[[], None]) -> None:
        """Close the cache, and bring it back to its limit."""
        with self._without_fail():
            if self._file:
                self._file.close()
                afterwards()

    def count(self, *, searches: int = 0, answers: int = 0) -> None:
        """Count what the run has taken from the cache."""
        self.reused = Held(self.reused.searches + searches, self.reused.answers + answers)

    @contextmanager
    def _without_fail(self) -> Iterator[None]:
        try:
            yield
        except RunError as error:
            self.trouble = error.found
            file, self._file = self._file, None
            if file:
                file.abandon()


class SharingStore:
    """A run's store of answers that knows those of other runs, and keeps its own for them.

    It is a ``PredictionStore`` and an ``AnswerStore``. What it takes from the cache is kept in the
    run, too.
    """

    def __init__(self, database: Database, shared: SharedAnswers) -> None:
        self._database = database
        self.shared = shared

    def _keeps(self) -> None:
        """Called before anything is kept."""

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions of one model that are known, by text."""
        known = self._database.get(fingerprint, texts)
        owner = self.shared.identity(fingerprint)
        missing = [text for text in texts if text not in known]
        if owner is None or not missing:
            return known
        by_content = {content_of("classifier", text): text for text in missing}
        rows = self.shared.get("answers", owner, by_content)
        if not rows:
            return known
        found = {by_content[key]: read_record(Prediction, row) for key, row in rows.items()}
        self._database.put(fingerprint, found, owner)
        self.shared.count(answers=len(found))
        return known | found

    def computed_here(self, fingerprint: str) -> bool:
        """Whether all predictions of a model in the run are as this session computes them."""
        owner = self.shared.identity(fingerprint)
        return owner is not None and self._database.is_computed(fingerprint, owner)

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep predictions; when this returns they survive a kill."""
        self._keeps()
        owner = self.shared.identity(fingerprint)
        self._database.put(fingerprint, predictions, owner or "")
        if owner:
            rows = {content_of("classifier", one): as_row(predictions[one]) for one in predictions}
            self.shared.put("answers", owner, rows)

    def get_answers(
        self, model: str, role: Role, questions: Sequence[Question]
    ) -> dict[int, Answer]:
        """The answers of one model that are known, by the question's place in the sequence."""
        known = self._database.get_answers(model, role, questions)
        owner = self.shared.identity(model)
        missing = [one for place, one in enumerate(questions) if place not in known]
        if owner is None or not missing:
            return known
        by_content = {content_of(role, one): one for one in missing}
        rows = self.shared.get("answers", owner, by_content)
        if not rows:
            return known
        found = [(by_content[key], read_record(Answer, row)) for key, row in rows.items()]
        self._database.put_answers(model, role, found)
        self.shared.count(answers=len(found))
        return self._database.get_answers(model, role, questions)

    def put_answers(
        self, model: str, role: Role, answers: Sequence[tuple[Question, Answer]]
    ) -> None:
        """Keep answers; when this returns they survive a kill."""
        self._keeps()
        self._database.put_answers(model, role, answers)
        if owner := self.shared.identity(model):
            rows = {content_of(role, question): as_row(answer) for question, answer in answers}
            self.shared.put("answers", owner, rows)
