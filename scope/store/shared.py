"""The part of the cache that one run reads and writes, beside the run's own database.

The run knows a model by its fingerprint: its bytes and settings. The cache knows it by its
identity: the fingerprint with all that computes its answers, such as processor and libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

from scope.errors import RunError
from scope.protocols import Role
from scope.records import Answer, Prediction, Question
from scope.store.database import Answered, Database, Held, as_row, content_of, read_record
from scope.store.entries import EntryFile, EntryKind, Value

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
    >>> SharedAnswers().get("answers", "model", ["good"], str)
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

    def get(
        self, kind: EntryKind, owner: str, contents: Iterable[str], read: Callable[[str], Value]
    ) -> dict[str, Value]:
        """What other runs know; nothing where the cache cannot be read."""
        with self._without_fail():
            return self._file.get(kind, owner, contents, read) if self._file else {}
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
        contents = {content_of("classifier", text): text for text in texts}
        known = self._known(fingerprint, contents, Prediction)
        return {contents[content]: prediction for content, prediction in known.items()}

    def computed_here(self, fingerprint: str) -> bool:
        """Whether all answers of a model in the run are as this session computes them."""
        owner = self.shared.identity(fingerprint)
        return owner is not None and self._database.is_computed(fingerprint, owner)

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep predictions; when this returns they survive a kill."""
        answers = {content_of("classifier", text): one for text, one in predictions.items()}
        self._keep(fingerprint, answers)

    def get_answers(
        self, model: str, role: Role, questions: Sequence[Question]
    ) -> dict[int, Answer]:
        """The answers of one model that are known, by the question's place in the sequence.

        Questions are known by what they say, not by their id: the same words have one answer.
        """
        contents = [content_of(role, one) for one in questions]
        known = self._known(model, dict.fromkeys(contents), Answer)
        return {place: known[one] for place, one in enumerate(contents) if one in known}

    def put_answers(
        self, model: str, role: Role, answers: Sequence[tuple[Question, Answer]]
    ) -> None:
        """Keep answers; when this returns they survive a kill."""
        self._keep(model, {content_of(role, question): answer for question, answer in answers})

    def _known(
        self, model: str, contents: Collection[str], kind: type[Answered]
    ) -> dict[str, Answered]:
        """The answers by what was asked: those of the run, and of the cache all others."""
        known = self._database.get(model, contents, kind)
        owner = self.shared.identity(model)
        missing = [content for content in contents if content not in known]
        if owner is None or not missing:
            return known
        found = self.shared.get("answers", owner, missing, partial(read_record, kind))
        if found:
            self._database.put(model, found, owner)
            self.shared.count(answers=len(found))
        return known | found

    def _keep(self, model: str, answers: Mapping[str, Answer | Prediction]) -> None:
        self._keeps()
        owner = self.shared.identity(model)
        self._database.put(model, answers, owner or "")
        if owner:
            rows = {content: as_row(answer) for content, answer in answers.items()}
            self.shared.put("answers", owner, rows)
