"""Brings the label names of models and data into one order, by name and never by guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from scope.errors import ModelError, SpecError
from scope.protocols import Classifier, StreamingClassifier
from scope.records import Example, Prediction

LABELS_SHOWN = 10
LETTERS_SHOWN = 60
"""Most labels of either side in a message, and letters of each."""


def parse_label_map(entries: Sequence[str]) -> dict[str, str]:
    """Names to use instead of a model's or a data set's own, keyed in lower case.

    Raises
    ------
    SpecError
        When an entry is not ``OLD=NEW``, or renames one label twice.

    Examples
    --------
    >>> parse_label_map(["LABEL_0=negative", "1=positive"])
    {'label_0': 'negative', '1': 'positive'}
    """
    names: dict[str, str] = {}
    for entry in entries:
        old, equals, new = (part.strip() for part in entry.partition("="))
        if not (old and equals and new) or names.get(old.casefold(), new) != new:
            raise SpecError(
                f"the label map `{entry}`",
                expected="OLD=NEW, each OLD once",
                fix="write for example --label-map LABEL_0=negative --label-map LABEL_1=positive",
            )
        names[old.casefold()] = new
    return names


def canonical(label: str, label_map: Mapping[str, str]) -> str:
    """A label's name under which it is compared: mapped, then in lower case."""
    return label_map.get(label.casefold(), label).casefold()


class AlignedClassifier:
    """A target whose probabilities are in the order of the reference's labels."""

    def __init__(
        self, classifier: Classifier, labels: Sequence[str], label_map: Mapping[str, str]
    ) -> None:
        self._classifier = classifier
        self._order = _order(classifier, labels, label_map)
        self.spec = classifier.spec
        self.prompts = getattr(classifier, "prompts", {})
        self.words = getattr(classifier, "words", {})
        # Answers in another order are other answers: kept under another name.
        moved = self._order != sorted(self._order)
        order = f"-{'.'.join(map(str, self._order))}" if moved else ""
        self.fingerprint = classifier.fingerprint + order
        self.labels = tuple(labels)
        self.reproducible = getattr(classifier, "reproducible", "")

    @property
    def served(self) -> str | None:
        """The id that a server gives the model; None where none answers."""
        return getattr(self._classifier, "served", None)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in the reference's order of labels."""
        return [self._aligned(prediction) for prediction in self._classifier.classify(texts)]

    def _aligned(self, prediction: Prediction) -> Prediction:
        probabilities = tuple(prediction.probabilities[index] for index in self._order)
        return replace(prediction, probabilities=probabilities)


class AlignedStream(AlignedClassifier):
    """The same for a target whose answers come one by one."""

    def __init__(
        self, classifier: StreamingClassifier, labels: Sequence[str], label_map: Mapping[str, str]
    ) -> None:
        super().__init__(classifier, labels, label_map)
        self._stream = classifier.stream

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """Answer every text as the target does, in the reference's order of labels."""
        for place, prediction in self._stream(texts):
            yield place, self._aligned(prediction)


def align(
    classifier: Classifier, labels: Sequence[str], label_map: Mapping[str, str]
) -> AlignedClassifier:
    """The target with its probabilities in the order of these labels.

    Raises
    ------
    ModelError
        When the labels do not align by name.
    """
    if isinstance(classifier, StreamingClassifier):
        return AlignedStream(classifier, labels, label_map)
    return AlignedClassifier(classifier, labels, label_map)


def _order(
    classifier: Classifier, labels: Sequence[str], label_map: Mapping[str, str]
) -> list[int]:
    theirs = [canonical(label, label_map) for label in classifier.labels]
    ours = [canonical(label, label_map) for label in labels]
    if sorted(theirs) != sorted(ours) or len(set(ours)) != len(ours):
        raise ModelError(
            f"labels that do not align:\n{_side_by_side(labels, classifier.labels)}\n"
            f"  (left the reference, right `{classifier.spec}`)",
            expected="the same label names in both models, upper and lower case alike",
            fix="map each label "
            f"that differs: --label-map {_first_entry(classifier.labels, labels, label_map)}",
        )
    return [theirs.index(label) for label in ours]


def _side_by_side(left: Sequence[str], right: Sequence[str]) -> str:
    pairs = list(zip_longest(left, right, fillvalue=""))
    shown = [[f"{name:.{LETTERS_SHOWN}}" for name in pair] for pair in pairs[:LABELS_SHOWN]]
    width = max(len(name) for name, _ in shown)
    lines = [f"  {ours:<{width}}  |  {theirs}" for ours, theirs in shown]
    if left_out := len(pairs) - len(shown):
        lines.append(f"  … and {left_out} more")
    return "\n".join(lines)


def _first_entry(theirs: Sequence[str], ours: Sequence[str], label_map: Mapping[str, str]) -> str:
    """An entry for the first names on either side that lack a partner."""
    lonely = []
    for names, others in ((theirs, ours), (ours, theirs)):
        partners = {canonical(other, label_map) for other in others}
        lonely.append(next((n for n in names if canonical(n, label_map) not in partners), names[0]))
    return "=".join(lonely)


def align_examples(
    examples: Sequence[Example], labels: Sequence[str], label_map: Mapping[str, str]
) -> tuple[Example, ...]:
    """The examples with gold labels spelled as the reference spells its labels.

    Raises
    ------
    ModelError
        When the data has a label that is none of the reference's.
    """
    spelling = {canonical(label, label_map): label for label in labels}
    found = sorted({example.label for example in examples if example.label is not None})
    if any(canonical(label, label_map) not in spelling for label in found):
        raise ModelError(
            f"gold labels that do not align:\n{_side_by_side(labels, found)}\n"
            "  (left the reference, right the data)",
            expected="gold labels by the names of the reference's labels",
            fix="map each label "
            f"that differs: --label-map {_first_entry(found, labels, label_map)}; or omit gold "
            "labels: --label-column none",
        )
    return tuple(
        example
        if example.label is None
        else replace(example, label=spelling[canonical(example.label, label_map)])
        for example in examples
    )
