"""Asks a classifier for each text once, and keeps the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scope.protocols import Advance, Classifier, PredictionStore
from scope.records import Prediction

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
            answers = dict(zip(portion, self._classifier.classify(portion), strict=True))
            self._store.put(self.fingerprint, answers)
            known.update(answers)
            if advance:
                advance(len(portion))
        return [known[text] for text in texts]


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
