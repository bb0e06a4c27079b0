"""Asks a classifier for each text once, and keeps the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

from scope.errors import ModelError
from scope.metrics.arrays import is_distribution
from scope.protocols import Advance, Classifier, PredictionStore, StreamingClassifier
from scope.records import Prediction

KEPT_AT_ONCE = 64
"""Texts answered between two writes: what a kill can cost at most."""

STREAMED_AT_ONCE = 16
"""Answers that came one by one between two writes: what a kill can cost at most, beside those that
are on their way."""

SECONDS_BETWEEN_WRITES = 1.0
"""Longest time between two writes of answers that come one by one."""

_Keep = Callable[[Mapping[str, Prediction]], None]
Row = TypeVar("Row")


class Keeper(Generic[Row]):
    """Gathers answers that come one by one and writes them together: at most a second's worth.

    At the end what was gathered is written, too, also where a failure is the end.

    Examples
    --------
    >>> written = []
    >>> with Keeper(written.append) as keeper:
    ...     for number in range(STREAMED_AT_ONCE + 1):
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
        if late or len(self._gathered) >= STREAMED_AT_ONCE:
            self._write_gathered()

    def _write_gathered(self) -> None:
        rows, self._gathered = self._gathered, []
        if rows:
            self._write(rows)
        self._written = time.monotonic()


class CachedClassifier:
    """A classifier whose answers come from a store where they are known already.

    A classifier with a true ``asked_alone`` is given one text a call.
    """

    def __init__(self, classifier: Classifier, store: PredictionStore) -> None:
        self._classifier = classifier
        self._store = store
        self.spec = classifier.spec
        self.fingerprint = classifier.fingerprint
        self.labels = classifier.labels

    def count_known(self, texts: Sequence[str]) -> int:
        """How many of the distinct texts need not be asked for."""
        return len(self._store.get(self.fingerprint, list(dict.fromkeys(texts))))

    def classify(self, texts: Sequence[str], advance: Advance | None = None) -> list[Prediction]:
        """Answer every text, asking the model only for new ones, each once.

        ``advance`` counts every new text once its answer is stored.

        Raises
        ------
        ModelError
            When the model leaves a text out, or answers with what is no prediction.
        """
        distinct = list(dict.fromkeys(texts))
        known = self._store.get(self.fingerprint, distinct)
        # Neighbours in length make full batches; the order has no bearing on the answers.
        missing = sorted((text for text in distinct if text not in known), key=len)

        def keep(answers: Mapping[str, Prediction]) -> None:
            self._store.put(self.fingerprint, answers)
            known.update(answers)
            if advance:
                advance(len(answers))

        alone = getattr(self._classifier, "asked_alone", False)
        size = 1 if alone else KEPT_AT_ONCE
        if isinstance(self._classifier, StreamingClassifier) and not alone:
            self._stream(self._classifier, missing, keep)
        else:
            for start in range(0, len(missing), size):
                keep(self._ask(missing[start : start + size]))
        return [known[text] for text in texts]

    def _stream(self, classifier: StreamingClassifier, texts: Sequence[str], keep: _Keep) -> None:
        """Ask for all texts; whatever came before a failure is kept."""
        came: set[int] = set()
        with Keeper[tuple[str, Prediction]](lambda answers: keep(dict(answers))) as keeper:
            for place, prediction in classifier.stream(texts) if texts else ():
                if not 0 <= place < len(texts) or place in came:
                    raise self._wrong(
                        f"text {place} of {len(texts)}{' twice' if place in came else ''}",
                        "one answer per text, by its place",
                    )
                self._check(texts[place], prediction)
                came.add(place)
                keeper.add((texts[place], prediction))
        self._require_all(len(came), len(texts))

    def _ask(self, texts: Sequence[str]) -> dict[str, Prediction]:
        predictions = self._classifier.classify(texts)
        for text, prediction in zip(texts, predictions, strict=False):
            self._check(text, prediction)
        self._require_all(len(predictions), len(texts))
        return dict(zip(texts, predictions, strict=True))

    def _require_all(self, answers: int, texts: int) -> None:
        if answers != texts:
            raise ModelError(
                f"`{self.spec}` gives {answers} answers to {texts} texts",
                expected="one answer per text, in order",
                fix="fix the model, or choose another one",
            )

    def _check(self, text: str, prediction: Prediction) -> None:
        if self.labels:
            expected = f"{len(self.labels)} probabilities that sum to 1"
            values, count = prediction.probabilities, len(self.labels)
            good = not prediction.tokens and is_distribution(values, count)
        else:
            expected = (
                "different tokens, each with a probability, the likeliest first, whose sum is at "
                "most 1"
            )
            good = _names_tokens(prediction)
        if not good:
            shown = str(prediction.probabilities)
            if prediction.tokens:
                shown = f"the tokens {prediction.tokens} with {shown}"
            raise self._wrong(f"{shown[:300]} to the text {text[:80]!r}", expected)

    def _wrong(self, found: str, expected: str) -> ModelError:
        return ModelError(
            f"`{self.spec}` answers {found}",
            expected=expected,
            fix="fix the model, or choose another one",
        )


def _names_tokens(prediction: Prediction) -> bool:
    """Whether it names what comes next; the first must be probable, or nothing is predicted."""
    values, tokens = prediction.probabilities, prediction.tokens
    return (
        0 < len(tokens) == len(values) == len(set(tokens))
        and values[0] > 0
        and is_distribution(values, len(tokens), part=True)
        and all(first >= second for first, second in pairwise(values))
    )


class MemoryStore:
    """Keeps predictions as long as the process lives."""

    def __init__(self) -> None:
        self._predictions: dict[tuple[str, str], Prediction] = {}

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions that are known, by text."""
        found = ((text, self._predictions.get((fingerprint, text))) for text in texts)
        return {text: prediction for text, prediction in found if prediction is not None}

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep these predictions."""
        self._predictions.update(
            {(fingerprint, text): prediction for text, prediction in predictions.items()}
        )
