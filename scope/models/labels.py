"""Labels: those of models and data in one order, and language models that choose among them.

They are aligned by name, never by guess. A language model classifies texts by label words or, with
open labels, by the next token.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from scope.errors import ModelError, SpecError
from scope.models.checkpoint import fingerprint_with
from scope.models.options import ModelOptions, require_words
from scope.models.prompts import prompt_of, with_letters
from scope.models.questions import ask, in_order
from scope.models.replies import ranked
from scope.models.torch_setup import carry_mark
from scope.protocols import ChoiceScorer, Classifier, NextToken, Role
from scope.records import Answer, Example, Prediction, Question
from scope.records.text_parts import parts_of

LABELS_SHOWN = 10
LETTERS_SHOWN = 60
"""Most labels per side in a message, and most characters of each."""


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


class InAnotherRole:
    """A model in the role of classifier, with answers of its own role or other labels.

    Answers are converted as they come; other attributes are the wrapped model's.
    """

    role: Role = "classifier"

    def __init__(self, model: Any) -> None:
        self._model = model
        self.spec: str = model.spec
        self.thought_tokens: int = getattr(model, "thought_tokens", 0)
        carry_mark(self, model)

    @property
    def reproducible(self) -> str:
        """How equal the model's answers are; see `scope.records.ModelCard`."""
        return getattr(self._model, "reproducible", "")

    @property
    def served(self) -> str | None:
        """The id that a server gives the model; None where none answers."""
        return getattr(self._model, "served", None)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order."""
        return in_order(self, texts, self.stream(texts))

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """Answer every text as the model does: its index and the prediction."""
        for place, answer in ask(self._model, self.role, self._asked(texts)):
            yield place, self._converted(answer, texts[place])

    def _asked(self, texts: Sequence[str]) -> Sequence[Any]:
        return texts

    def _converted(self, answer: Any, text: str) -> Prediction:
        raise NotImplementedError


class AlignedClassifier(InAnotherRole):
    """A target whose probabilities are in the order of the reference's labels.

    Raises
    ------
    ModelError
        When the labels do not align by name.
    """

    def __init__(
        self, classifier: Classifier, labels: Sequence[str], label_map: Mapping[str, str]
    ) -> None:
        super().__init__(classifier)
        self._order = label_order(classifier.spec, classifier.labels, labels, label_map)
        self.prompts = getattr(classifier, "prompts", {})
        self.reading = getattr(classifier, "reading", None)
        self.words = getattr(classifier, "words", {})
        # Answers in another order are different answers, stored under another fingerprint.
        moved = self._order != sorted(self._order)
        order = f"-{'.'.join(map(str, self._order))}" if moved else ""
        self.fingerprint = classifier.fingerprint + order
        self.labels = tuple(labels)

    def _converted(self, answer: Prediction, text: str) -> Prediction:
        if not answer.given:
            return answer
        probabilities = tuple(answer.probabilities[index] for index in self._order)
        return replace(answer, probabilities=probabilities)


def label_order(
    spec: str, names: Sequence[str], labels: Sequence[str], label_map: Mapping[str, str]
) -> list[int]:
    """The index of each label among a model's label names.

    Raises
    ------
    ModelError
        When the labels do not align by name.
    """
    theirs = [canonical(label, label_map) for label in names]
    ours = [canonical(label, label_map) for label in labels]
    if sorted(theirs) != sorted(ours) or len(set(ours)) != len(ours):
        raise ModelError(
            f"labels that do not align:\n{_side_by_side(labels, names)}\n"
            f"  (left the reference, right `{spec}`)",
            expected="the same label names in both models, upper and lower case alike",
            fix=f"map each label that differs: {how_to_map(names, labels, label_map)}",
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


def how_to_map(theirs: Sequence[str], ours: Sequence[str], label_map: Mapping[str, str]) -> str:
    """An option for the first unmatched name; its meaning is not guessed.

    Examples
    --------
    >>> how_to_map(["0", "good"], ["bad", "good"], {})
    '--label-map 0=bad'
    >>> how_to_map(["so so", "+"], ["bad", "good"], {})
    "--label-map 'so so=NAME', where NAME is one of bad, good"
    """
    lonely = []
    for names, others in ((theirs, ours), (ours, theirs)):
        partners = {canonical(other, label_map) for other in others}
        lonely.append(
            [name for name in names if canonical(name, label_map) not in partners] or names
        )
    (old, *_), new = lonely
    if len(new) == 1:
        return f"--label-map {shlex.quote(f'{old}={new[0]}')}"
    names = ", ".join(new[:LABELS_SHOWN]) + (", …" if len(new) > LABELS_SHOWN else "")
    return f"--label-map {shlex.quote(f'{old}=NAME')}, where NAME is one of {names}"


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
    gold = sorted({example.label for example in examples if example.label is not None})
    if any(canonical(label, label_map) not in spelling for label in gold):
        raise ModelError(
            f"gold labels that do not align:\n{_side_by_side(labels, gold)}\n"
            "  (left the reference, right the data)",
            expected="gold labels by the names of the reference's labels",
            fix=f"map each label that differs: {how_to_map(gold, labels, label_map)}; or omit "
            "gold labels: --label-column none",
        )
    return tuple(
        example
        if example.label is None
        else replace(example, label=spelling[canonical(example.label, label_map)])
        for example in examples
    )


class LabelWordClassifier(InAnotherRole):
    """A choice scorer in the role of classifier, with a word for each label.

    A text's probabilities are those of the words as options of the prompt `classify`, which
    also lists the words. A scorer with its own prompt for questions gets this one instead; any
    other gets the whole prompt as a question.
    """

    role = "choice_scorer"

    def __init__(self, model: ChoiceScorer, options: ModelOptions) -> None:
        require_words(model.spec, options)
        self.labels = tuple(options.label_words)
        self._words = tuple(options.label_words.values())
        prompt = prompt_of("classify", options)
        self._prompt = with_letters(prompt) if options.ask == "letters" else prompt
        # A text must not be wrapped in one prompt inside another.
        self._takes_prompt = hasattr(model, "with_choice_prompt")
        asked: Any = model
        super().__init__(asked.with_choice_prompt(self._prompt) if self._takes_prompt else asked)
        prompts = getattr(self._model, "prompts", {}) if self._takes_prompt else {}
        # The prompt as the model uses it, for example with the options' letters at its end.
        self._name = next((name for name in ("choice_letters", "choice") if name in prompts), "")
        self.prompts = {"classify": str(prompts.get(self._name, self._prompt.template))}
        self.words = dict(options.label_words)
        self.form = getattr(self._model, "form", "")
        self.template = getattr(self._model, "template", None)
        settings = (self._prompt.template, *self.labels, *self._words)
        self.fingerprint = fingerprint_with(self._model.fingerprint, *settings)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A text in the prompt `classify`, as the model reads it."""
        asked = self._question(question.text)
        if not hasattr(self._model, "prompt_as_read"):
            return self._prompt.render(asked)
        return str(self._model.prompt_as_read(self._name, asked))

    def _asked(self, texts: Sequence[str]) -> Sequence[Question]:
        asked = [*map(self._question, texts)]
        if self._takes_prompt:
            return asked
        return [replace(question, text=self._prompt.render(question)) for question in asked]

    def _question(self, text: str) -> Question:
        """The text as a question; the first of two texts is its context."""
        *context, last = parts_of(text)
        if context and "{context}" not in self._prompt.template:
            raise ModelError(
                f"a text of {len(context) + 1} parts for `{self.spec}`, whose prompt has one text",
                expected="a model whose options name the parts",
                fix="name the model by its spec, or load it with ModelOptions(parts=...)",
            )
        # One id per text, in any batch.
        return Question(id=text, text=last, context="\n".join(context) or None, options=self._words)

    def _converted(self, answer: Answer, text: str) -> Prediction:
        if answer.missing:
            return Prediction(probabilities=(), truncated=answer.truncated, missing=answer.missing)
        if len(answer.probabilities) != len(self._words):
            raise ModelError(
                f"`{self.spec}` gives {len(answer.probabilities) or 'no'} probabilities for the "
                f"words {', '.join(self._words)} to the text {text[:80]!r}",
                expected="a probability for each word: without them only the models' "
                "choices can be compared",
                fix="choose a model that returns them, such as an hf: or gguf: one, or an "
                "endpoint with log-probabilities of the letters A, B, … that stand for the words",
            )
        return Prediction(probabilities=answer.probabilities, truncated=answer.truncated)


class NextTokenClassifier(InAnotherRole):
    """A language model in the role of classifier: the label is the likeliest next token.

    It has no list of labels, since every text has its own tokens, given in each prediction. Equally
    probable tokens are sorted by text, so that predictions never depend on the model's order.

    Parameters
    ----------
    model
        What is asked.
    most
        Number of tokens in a prediction; all others count as other tokens.
    """

    role, labels = "next_token", ()

    def __init__(self, model: NextToken, most: int) -> None:
        super().__init__(model)
        self._most = most
        # The same model names other tokens, and more of them, than its labels in another role.
        self.fingerprint = f"{model.fingerprint}-next-{most}"

    def _converted(self, answer: Prediction, text: str) -> Prediction:
        return ranked(answer, self._most)
