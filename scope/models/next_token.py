"""A language model as a classifier of texts by what comes next: its labels are open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.models.ranking import ranked
from scope.protocols import NextToken, StreamingNextToken
from scope.records import Prediction


class NextTokenClassifier:
    """A language model in the role of classifier: the label is the likeliest next token.

    It has no list of labels, since every text has tokens of its own; they stand in each
    prediction. Of equally probable tokens the first by text comes first, so that what is
    predicted never depends on how the model orders them.

    Parameters
    ----------
    model
        What is asked.
    most
        How many tokens a prediction names; what a model names beyond them counts as other tokens.
    """

    labels: tuple[str, ...] = ()

    def __init__(self, model: NextToken, most: int) -> None:
        self._model = model
        self._most = most
        self.spec = model.spec
        self.reproducible = getattr(model, "reproducible", "")
        # The same model names other tokens, and more of them, than its labels in another role.
        self.fingerprint = f"{model.fingerprint}-next-{most}"

    @property
    def served(self) -> str | None:
        """The id that a server gives the model; None where none answers."""
        return getattr(self._model, "served", None)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """The most likely next tokens of every text, in order."""
        return [self._ordered(prediction) for prediction in self._model.predict_next(texts)]

    def _ordered(self, prediction: Prediction) -> Prediction:
        if len(prediction.tokens) != len(prediction.probabilities):
            return prediction  # refused by whoever checks it
        return ranked(prediction, self._most)


class NextTokenStream(NextTokenClassifier):
    """The same of a model whose answers come one by one."""

    _model: StreamingNextToken

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """The most likely next tokens of every text, as they come."""
        for place, prediction in self._model.stream_next(texts):
            yield place, self._ordered(prediction)


def next_token_classifier(model: NextToken, most: int) -> NextTokenClassifier:
    """The model as a classifier, which streams if the model does."""
    streams = isinstance(model, StreamingNextToken)
    return NextTokenStream(model, most) if streams else NextTokenClassifier(model, most)
