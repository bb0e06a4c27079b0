"""Asks a classifier for each text once, and keeps the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scope.errors import ModelError
from scope.protocols import Advance, Classifier, PredictionStore
from scope.records import Prediction

SUMS_TO_ONE = 1e-4
"""How far from 1 the sum of a text's probabilities may lie."""

KEPT_AT_ONCE = 512
"""Texts answered between two writes: what a kill can cost at most."""


class CachedClassifier:
    """A classifier whose answers come from a store where they are known already."""

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

        ``advance`` is told of every text that had to be asked for, when its answer is safe.
        """
        distinct = list(dict.fromkeys(texts))
        known = self._store.get(self.fingerprint, distinct)
        # Neighbours in length make full batches; the order has no bearing on the answers.
        missing = sorted((text for text in distinct if text not in known), key=len)
        for start in range(0, len(missing), KEPT_AT_ONCE):
            portion = missing[start : start + KEPT_AT_ONCE]
            answers = self._ask(portion)
            self._store.put(self.fingerprint, answers)
            known.update(answers)
            if advance:
                advance(len(portion))
        return [known[text] for text in texts]

    def _ask(self, texts: Sequence[str]) -> dict[str, Prediction]:
        predictions = self._classifier.classify(texts)
        for text, prediction in zip(texts, predictions, strict=False):
            values = prediction.probabilities
            if len(values) != len(self.labels) or not abs(sum(values) - 1) <= SUMS_TO_ONE:
                raise ModelError(
                    f"`{self.spec}` answers {values} to the text {text[:80]!r}",
                    expected=f"{len(self.labels)} probabilities that sum to 1",
                    mend="mend the model, or name another one",
                )
        if len(predictions) != len(texts):
            raise ModelError(
                f"`{self.spec}` gives {len(predictions)} answers to {len(texts)} texts",
                expected="one answer a text, in order",
                mend="mend the model, or name another one",
            )
        return dict(zip(texts, predictions, strict=True))


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
