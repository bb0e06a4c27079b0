"""A language model as a classifier that chooses among label words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from scope.errors import ModelError
from scope.models.heads import fingerprint_with
from scope.models.options import ModelOptions
from scope.models.prompts import Prompt, prompt_of
from scope.protocols import ChoiceScorer
from scope.records import Answer, Prediction, Question


@runtime_checkable
class PromptedScorer(ChoiceScorer, Protocol):
    """A choice scorer that puts questions with a prompt, and can be given another one."""

    def with_choice_prompt(self, prompt: Prompt) -> ChoiceScorer:
        """The same model, asked to choose with this prompt."""


class LabelWordClassifier:
    """A choice scorer in the role of classifier, with a word for each label.

    A text's probabilities are those of the words as options of the prompt `classify`, which
    also lists the words. A scorer that has a prompt of its own for questions is given this one
    in its stead; any other is asked the whole prompt as a question.
    """

    def __init__(self, model: ChoiceScorer, options: ModelOptions) -> None:
        _require_words(model, options)
        self.labels = tuple(options.label_words)
        self.spec = model.spec
        self._words = tuple(options.label_words.values())
        self._prompt = prompt_of("classify", options)
        # A text must not be wrapped in one prompt inside another.
        self._takes_prompt = isinstance(model, PromptedScorer)
        self._model = (
            model.with_choice_prompt(self._prompt) if isinstance(model, PromptedScorer) else model
        )
        self.prompts = {"classify": self._asked_with()}
        self.words = dict(options.label_words)
        self.reproducible = getattr(model, "reproducible", "")
        self.fingerprint = fingerprint_with(
            self._model.fingerprint, self._prompt.template, *self.labels, *self._words
        )

    @property
    def served(self) -> str | None:
        """The id that a server gives the model; None where none answers."""
        return getattr(self._model, "served", None)

    def _asked_with(self) -> str:
        """The prompt as the model puts it, such as with the options' letters behind it."""
        own = getattr(self._model, "prompts", {}) if self._takes_prompt else {}
        return str(own.get("choice_letters") or own.get("choice") or self._prompt.template)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order.

        Raises
        ------
        ModelError
            When the model leaves a text out, or gives no probabilities.
        """
        answers = dict(self.stream(texts))
        if len(answers) != len(texts):
            raise ModelError(
                f"`{self.spec}` answers {len(answers)} of {len(texts)} texts",
                expected="one answer per text",
                fix="fix the model, or choose another one",
            )
        return [answers[index] for index in range(len(texts))]

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """Answer every text as the model does: its index and the prediction."""
        for index, answer in self._model.choose([self._question(text) for text in texts]):
            yield index, self._prediction(answer, texts[index])

    def _question(self, text: str) -> Question:
        # One id for one text, whatever stands beside it.
        question = Question(id=text, text=text, options=self._words)
        if self._takes_prompt:
            return question
        return replace(question, text=self._prompt.render(question))

    def _prediction(self, answer: Answer, text: str) -> Prediction:
        if len(answer.probabilities) != len(self._words):
            raise ModelError(
                f"`{self.spec}` gives {len(answer.probabilities) or 'no'} probabilities for the "
                f"words {', '.join(self._words)} to the text {text[:80]!r}",
                expected="a probability for each word: without them only the models' "
                "choices can be compared",
                fix="choose a model that returns them, such as an hf: or gguf: one, or an endpoint "
                "with log-probabilities",
            )
        return Prediction(probabilities=answer.probabilities, truncated=answer.truncated)


def _require_words(model: ChoiceScorer, options: ModelOptions) -> None:
    words = {label: word.strip() for label, word in options.label_words.items()}
    counts = Counter(words.values())
    if len(words) < 2:
        found = f"{len(words)} label word{'s' * (len(words) != 1)}"
    elif not all(words.values()):
        found = f"the label words {words}, one of them empty"
    elif max(counts.values()) > 1:
        found = f"the word `{counts.most_common(1)[0][0]}` for more than one label"
    else:
        return
    raise ModelError(
        f"`{model.spec}` as a classifier with {found}",
        expected="a language model with a word of its own for each of at least two labels",
        fix="add --label-word LABEL=WORD for every label, such as --label-word positive=good "
        "--label-word negative=bad",
    )
