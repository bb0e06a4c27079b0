"""Asks each model for each item once and stores the answers.

`Answers.get` is the one way from a model to its predictions and replies: it removes duplicates,
looks up what this run and other runs know, asks for the rest, checks it, and keeps it as it comes.
A run knows a model by its fingerprint: its bytes and settings. The table that runs share knows it
by its identity: the fingerprint with all that computes its answers, such as processor and
libraries. Models without an identity are never shared.

Checks the answers of models before they are stored.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

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
from scope.errors import ModelError, RunError
from scope.metrics.arrays import is_distribution, normalized
from scope.printing import shown, writable
from scope.progress import Silent
from scope.protocols import METHODS, Classifier, Progress, Role, StreamingClassifier
from scope.records import Answer, Prediction, Question
from scope.untrusted import UntrustedCode

KEPT_AT_ONCE = 16
"""Answers between two writes: at most these, and those under way, are lost by a kill."""

SECONDS_BETWEEN_WRITES = 1.0
"""Longest time between two writes of answers."""

Row = TypeVar("Row")
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


class Answers:
    """The answers of models that a run keeps.

    ``asked_again`` and ``drifts`` are this session's: see `scope.answers.asking`.

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
    >>> answers = Answers(Table(Path(":memory:")))
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

    def get(
        self,
        model: Any,
        role: Role,
        items: Sequence[Any],
        *,
        own: bool = False,
        progress: Progress | None = None,
        title: str = "",
    ) -> list[Any]:
        """A model's answers to texts or questions, in their order.

        Known answers, of this session or an earlier one, are reused. Answers that
        came before a failure are kept.

        Parameters
        ----------
        role
            Texts are for classifiers, questions for all other roles.
        own
            Whether the model is the user's own code, which may fail in any way.
        progress, title
            Where to show how many different items are answered, and as what; nowhere by default.

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

        def keep(answers: Sequence[tuple[str, Any]]) -> None:
            self._keep(model.fingerprint, dict(answers))
            known.update(answers)
            advance(len(answers))

        shown = (progress or Silent()).task(title, len(distinct), len(known))
        with shown as advance, Keeper(keep) as keeper:
            for place, answer in checked(model, role, waiting, own=own):
                keeper.add((missing[place], answer))
        return in_order(model, items, [known.get(content) for content in contents])

    def known(
        self, fingerprint: str, items: Sequence[Any], role: Role = "classifier"
    ) -> dict[Any, Any]:
        """The answers of one model that are known, by text or question."""
        contents = {item: content_of(role, item) for item in items}
        known = self._known(fingerprint, role, dict.fromkeys(contents.values()))
        return {item: known[content] for item, content in contents.items() if content in known}

    def keep(self, fingerprint: str, answers: Mapping[Any, Any], role: Role = "classifier") -> None:
        """Keep answers by text or question; when this returns they survive a kill."""
        self._keep(
            fingerprint, {content_of(role, item): answer for item, answer in answers.items()}
        )

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

    def _known(self, fingerprint: str, role: Role, contents: Mapping[str, Any]) -> dict[str, Any]:
        read = partial(read_row, Prediction if role == "classifier" else Answer)
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


class Memory(Answers):
    """Answers that are kept as long as the process lives."""

    def __init__(self) -> None:
        self._by_content: dict[str, dict[str, Any]] = {}

    def _known(self, fingerprint: str, role: Role, contents: Mapping[str, Any]) -> dict[str, Any]:
        known = self._by_content.get(fingerprint, {})
        return {content: known[content] for content in contents if content in known}

    def _keep(self, fingerprint: str, answers: Mapping[str, Any]) -> None:
        self._by_content.setdefault(fingerprint, {}).update(answers)


class CachedClassifier:
    """A classifier whose answers come from a run where they are known already."""

    def __init__(self, classifier: Classifier, answers: Answers) -> None:
        self._classifier, self._answers = classifier, answers
        self.spec = classifier.spec
        self.fingerprint = classifier.fingerprint
        self.labels = classifier.labels

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, asking the model only for new ones, each once."""
        return self._answers.get(self._classifier, "classifier", texts)


class Keeper(Generic[Row]):
    """Gathers single answers and writes them together, at least once a second.

    At the end, also after a failure, the rest is written.

    Examples
    --------
    >>> written = []
    >>> with Keeper(written.append) as keeper:
    ...     for number in range(KEPT_AT_ONCE + 1):
    ...         keeper.add(number)
    >>> [len(rows) for rows in written]
    [16, 1]
    """

    def __init__(self, write: Callable[[Sequence[Row]], None]) -> None:
        self._write = write
        self._gathered: list[Row] = []
        self._written = time.monotonic()

    def __enter__(self) -> Keeper[Row]:
        return self

    def __exit__(self, *failure: object) -> None:
        self._write_gathered()

    def add(self, row: Row) -> None:
        """Take one answer."""
        self._gathered.append(row)
        late = time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES
        if late or len(self._gathered) >= KEPT_AT_ONCE:
            self._write_gathered()

    def _write_gathered(self) -> None:
        rows, self._gathered = self._gathered, []
        if rows:
            self._write(rows)
        self._written = time.monotonic()


def content_of(role: Role, item: str | Question) -> str:
    """What a model is asked in a role, which decides its answer: the id of a question does not."""
    parts = [item] if isinstance(item, str) else [item.text, item.context, item.options]
    return json.dumps([role, *parts])


def checked(
    model: Any, role: Role, items: Sequence[Any], *, own: bool = False
) -> Iterator[tuple[int, Any]]:
    """The model's checked answers as they come, each with its item's place; nothing is kept."""
    if not items:
        return
    if role == "classifier":
        yield from predictions(model, items)
        return
    answers = replies(model, role, items)
    if own:
        # Answers of foreign code may be of any class: they are checked inside the boundary, too.
        yield from UntrustedCode(model.spec).each(METHODS[role], answers)
    else:
        # An error in SCoPE's own code is a bug, which is not hidden.
        yield from answers


def in_order(model: Any, items: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
    """All answers; none may be missing."""
    missing = [item for item, answer in zip(items, answers, strict=True) if answer is None]
    if missing:
        kind = "texts" if isinstance(missing[0], str) else "questions"
        text = missing[0] if isinstance(missing[0], str) else missing[0].text
        raise ModelError(
            f"`{model.spec}` leaves {len(missing)} of {len(items)} {kind} without an answer, such "
            f"as {text[:80]!r}",
            expected="one answer to each; `Answer()` where there is none to a question",
            fix="fix the model, or choose another one",
        )
    return list(answers)


TEXTS_A_BATCH = 64
"""Texts in one call of a classifier: at most these, and `KEPT_AT_ONCE`, are lost by a kill."""

_PAIRS = "pairs, as they come: the question's number from 0, and its `scope.records.Answer`"


def predictions(model: Any, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
    """A classifier's predictions as they come, each with its text's place in the sequence.

    A classifier with a true ``asked_alone`` is given one text a call.

    Raises
    ------
    ModelError
        When it omits a text, answers one twice, or gives something other than a prediction.
    """
    alone = getattr(model, "asked_alone", False)
    streams = isinstance(model, StreamingClassifier) and not alone
    answers = model.stream(texts) if streams else _in_batches(model, texts, alone)
    count = 0
    for place, prediction in _each_once(model, "text", texts, answers):
        yield place, _checked_prediction(model, texts[place], prediction)
        count += 1
    _require_count(model, count, len(texts))


def replies(model: Any, role: Role, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
    """A model's answers as they come, each with its question's place in the sequence.

    Characters that cannot be written as UTF-8, halves of a pair of surrogates, and NUL are
    replaced by U+FFFD, as broken bytes are elsewhere: one such token among a thousand answers is
    the model's own, and no reason to give up.

    Raises
    ------
    ModelError
        When the model answers a question twice or gives an invalid answer.
    """
    answers = getattr(model, METHODS[role])(questions)
    if not isinstance(answers, Iterable):
        raise wrong(model, f"with a {type(answers).__name__}", _PAIRS)
    for place, answer in _each_once(model, "question", questions, answers):
        yield place, _checked_answer(model, questions[place], answer)


def _in_batches(model: Any, texts: Sequence[str], alone: bool) -> Iterator[tuple[int, Prediction]]:
    size = 1 if alone else TEXTS_A_BATCH
    for start in range(0, len(texts), size):
        batch = texts[start : start + size]
        answers = model.classify(batch)
        _require_count(model, len(answers), len(batch))
        yield from enumerate(answers, start)


def _require_count(model: Any, answers: int, texts: int) -> None:
    if answers != texts:
        raise ModelError(
            f"`{model.spec}` gives {answers} answers to {texts} texts",
            expected="one answer per text, in order",
            fix="fix the model, or choose another one",
        )


def _each_once(
    model: Any, kind: str, items: Sequence[Any], answers: Iterable[Any]
) -> Iterator[tuple[int, Any]]:
    """Each answer with its place, at most one to each item."""
    came: set[int] = set()
    for pair in answers:
        match pair:
            case (Integral() as number, answer):
                place = int(number)
            case _:
                raise wrong(model, f"with {shown(pair, 80)}", _PAIRS)
        if kind == "question" and not isinstance(answer, Answer):
            raise wrong(model, f"with {shown(pair, 80)}", _PAIRS)
        if not 0 <= place < len(items) or place in came:
            raise wrong(
                model,
                f"{kind} {place} of {len(items)}{' twice' if place in came else ''}",
                f"one answer to each {kind}, by its place",
            )
        came.add(place)
        yield place, answer


def _checked_prediction(model: Any, text: str, prediction: Prediction) -> Prediction:
    """The prediction; without probabilities where they are NaN, or the model gives a reason."""
    if any(map(math.isnan, prediction.probabilities)):
        return Prediction(probabilities=(), truncated=prediction.truncated, missing="no number")
    if prediction.missing and not prediction.probabilities:
        return prediction
    if model.labels:
        expected = f"{len(model.labels)} probabilities that sum to 1"
        values, count = prediction.probabilities, len(model.labels)
        good = not prediction.tokens and is_distribution(values, count)
    else:
        expected = (
            "different tokens, each with a probability, the likeliest first, whose sum is at most 1"
        )
        good = _names_tokens(prediction)
    if not good:
        named = str(prediction.probabilities)
        if prediction.tokens:
            named = f"the tokens {prediction.tokens} with {named}"
        raise wrong(model, f"{named[:300]} to the text {text[:80]!r}", expected)
    return prediction


def _names_tokens(prediction: Prediction) -> bool:
    """Whether it names what comes next; the first must be probable, or nothing is predicted."""
    values, tokens = prediction.probabilities, prediction.tokens
    return (
        0 < len(tokens) == len(values) == len(set(tokens))
        and values[0] > 0
        and is_distribution(values, len(tokens), part=True)
        and all(first >= second for first, second in pairwise(values))
    )


def _checked_answer(model: Any, question: Question, answer: Answer) -> Answer:
    if reason := _what_is_wrong(question, answer):
        raise wrong(
            model,
            f"{question.text[:80]!r} with {reason}",
            "a text, or where there are options the number of one of them, from 0, with a "
            "probability for each or none",
        )
    # Plain values: classes derived from them may do anything when they are used.
    return Answer(
        text=None if answer.text is None else _plain(answer.text),
        choice=answer.choice if type(answer.choice) is int else None,
        probabilities=tuple(normalized(answer.probabilities).tolist()),
        others=tuple(map(_plain, answer.others)),
        truncated=bool(answer.truncated),
        asked=bool(answer.asked),
        missing=answer.missing,
        reply=_plain(answer.reply),
        score=answer.score,
    )


def _what_is_wrong(question: Question, answer: Answer) -> str:
    """Why the answer to this question is invalid; empty if it is valid."""
    texts = [*([] if answer.text is None else [answer.text]), *answer.others]
    if strange := [text for text in texts if not isinstance(text, str)]:
        return f"{shown(strange[0], 80)}, which is no text"
    options, values = len(question.options), answer.probabilities
    if not isinstance(values, tuple | list) or (values and not is_distribution(values, options)):
        return f"the probabilities {shown(values, 100)} for {options} options"
    if not answer.given:
        return ""
    if not options:
        return "an option, where there are none" if answer.text is None else ""
    if type(answer.choice) is not int or not 0 <= answer.choice < options:
        return f"the option {shown(answer.choice)} of {options}"
    return ""


def _plain(text: str) -> str:
    return writable(str.__str__(text))


def wrong(model: Any, answered: str, expected: str) -> ModelError:
    """The error of a model that gives an invalid answer."""
    return ModelError(
        f"`{model.spec}` answers {answered}",
        expected=expected,
        fix="fix the model, or choose another one",
    )
