"""Inference of a test of reuse: the answers of each model, in one form for texts and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scope.answers import Run, answer_texts, ask
from scope.errors import ModelError
from scope.estimation.pairs import AuditedPairs, invariant_pairs
from scope.jobs.identity import NamedModel
from scope.jobs.reuse.answer_matrix import Response
from scope.jobs.reuse.label_matching import Matching, match_labels, matched_in_words, relabelled
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem, spelled_alike
from scope.models.labels import how_to_map
from scope.protocols import Progress, Task
from scope.records import (
    Answer,
    Example,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)


class Responses(Protocol):
    """The answers of the models of a test."""

    def answers(self, model: NamedModel, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""

    def words(self, response: Response, item: ReuseItem) -> str:
        """An answer in words; empty if there is none."""

    def pairs(self, items: ItemSet, models: Sequence[NamedModel]) -> tuple[AuditedPairs, ...]:
        """The perturbations that all of these models have answered; the reference is first."""

    def truncated(self) -> Mapping[str, int]:
        """How many questions were cut to a model's limit, by the model's name."""

    def warnings(self) -> tuple[str, ...]:
        """Warnings about how the answers were read."""


@dataclass(frozen=True, kw_only=True)
class TaskResponses:
    """The answers to the questions of a task."""

    task: Task
    run: Run
    progress: Progress
    cut: dict[str, set[str]] = field(default_factory=dict)

    def answers(self, model: NamedModel, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""
        questions = [one.question for one in items]
        answers = ask(
            model,
            self.task,
            questions,
            store=self.run,
            progress=self.progress,
        )
        self.cut.setdefault(model.name, set()).update(
            one.id for one, answer in zip(items, answers, strict=True) if answer.truncated
        )
        return list(map(_of_answer, answers, items))

    def words(self, response: Response, item: ReuseItem) -> str:
        """The words of the option, or of the answer."""
        if isinstance(response.choice, int):
            return item.question.options[response.choice]
        return response.choice or ""

    def pairs(self, items: ItemSet, models: Sequence[NamedModel]) -> tuple[AuditedPairs, ...]:
        """Empty: questions of tasks are not perturbed."""
        return ()

    def truncated(self) -> Mapping[str, int]:
        """How many questions were cut to a model's limit, by the model's name."""
        return {name: len(questions) for name, questions in self.cut.items()}

    def warnings(self) -> tuple[str, ...]:
        """Empty: answers to questions are used as they are."""
        return ()


def _of_answer(answer: Answer, item: ReuseItem) -> Response:
    if answer.choice is not None:
        return Response(answer.choice, answer.probabilities)
    if answer.text is None:
        return Response(None)
    words = spelled_alike(answer.text)
    return Response(item.key.gold if words in item.accepted else words)


@dataclass(frozen=True, kw_only=True)
class TextResponses:
    """The labels of texts, or the next tokens.

    ``matched`` has the models whose labels are matched by their answers.
    """

    labels: Sequence[str]
    examples: Sequence[Example]
    run: Run
    progress: Progress
    own_labels: Mapping[str, Sequence[str]]
    matched: Mapping[str, Matching] = field(default_factory=dict)
    known: dict[str, dict[str, Prediction]] = field(default_factory=dict)

    def answers(self, model: NamedModel, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""
        texts = [one.question.text for one in items]
        known = self.known.setdefault(model.name, {})
        # The plain texts are those of every reference.
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            found = answer_texts(model, new, self.run, self.progress)
            if matching := self.matched.get(model.name):
                found = {
                    text: relabelled(one, matching, len(self.labels)) for text, one in found.items()
                }
            known.update(found)
        return [_of_prediction(known[text]) for text in texts]

    def words(self, response: Response, item: ReuseItem) -> str:
        """The label, or the token."""
        if isinstance(response.choice, int):
            return self.labels[response.choice]
        return response.choice or ""

    def pairs(self, items: ItemSet, models: Sequence[NamedModel]) -> tuple[AuditedPairs, ...]:
        """The perturbations that all of these models have answered; the reference is first."""
        answered = [self.known.get(model.name, {}) for model in models]

        def predictions(text: str | None) -> tuple[Prediction, ...] | None:
            if text is None or any(text not in known for known in answered):
                return None
            return tuple(known[text] for known in answered)

        scored = [
            ScoredExample(example=example, reference=every[0], targets=every[1:])
            for example in self.examples
            if (every := predictions(example.text))
        ]
        asked = {one.example.id for one in scored}
        return tuple(
            invariant_pairs(
                found.outcome.capability,
                scored,
                [
                    ScoredPerturbation(
                        capability=found.outcome.capability,
                        perturbation=one,
                        reference=every[0],
                        targets=every[1:],
                    )
                    for one in found.perturbations
                    if one.example_id in asked and (every := predictions(one.text))
                ],
            )
            for found in items.sets
        )

    def truncated(self) -> Mapping[str, int]:
        """How many texts were cut to a model's limit, by the model's name."""
        return {
            name: sum(one.truncated for one in known.values()) for name, known in self.known.items()
        }

    def warnings(self) -> tuple[str, ...]:
        """The labels that were matched by the answers."""
        return tuple(
            f"the labels of {name} were matched by the answers of most controls: "
            f"{matched_in_words(matching, self.own_labels[name], self.labels)}"
            for name, matching in self.matched.items()
        )


def match_by_answers(
    models: ReuseModels,
    labels: Sequence[str],
    texts: Sequence[str],
    run: Run,
    progress: Progress,
) -> dict[str, Matching]:
    """For each model whose labels do not align by name, their match.

    Raises
    ------
    ModelError
        When the labels of no control align.
    """
    unaligned = [one for one in models.all if labels and one.model.labels != tuple(labels)]
    if not unaligned:
        return {}
    controls = [one for one in models.controls if one not in unaligned]
    if not controls:
        raise ModelError(
            f"no control with the labels {', '.join(labels)}",
            expected="at least one control whose labels align with the reference's",
            fix=f"map the labels: {how_to_map(unaligned[0].model.labels, labels, {})}",
        )
    others = [answer_texts(one, texts, run, progress) for one in controls]
    return {
        one.name: match_labels(answer_texts(one, texts, run, progress), others, len(labels))
        for one in unaligned
    }


def _of_prediction(prediction: Prediction) -> Response:
    if prediction.tokens:
        return Response(prediction.tokens[prediction.label])
    return Response(prediction.label, prediction.probabilities)
