"""Puts the probes to the models of a test of reuse, and keeps what they answer.

There are two ways of asking: texts, for labels or the tokens that follow, and the questions of a
task. Both give each model's answers in one form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scope.errors import ModelError
from scope.estimation.pairs import InvariantPairs, invariant_pairs
from scope.evidence.interning import Response
from scope.jobs.inference import ask
from scope.jobs.reuse.items import ItemSet, ReuseItem, spelled_alike
from scope.jobs.reuse.label_matching import Matching, match_labels, matched_in_words, relabelled
from scope.jobs.reuse.models import ReuseModel, ReuseModels
from scope.jobs.scoring import answer_texts
from scope.protocols import Progress, Task
from scope.records import (
    Answer,
    Example,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)
from scope.store import Run


class Responses(Protocol):
    """A way of asking."""

    def answers(self, member: ReuseModel, questions: Sequence[ReuseItem]) -> list[Response]:
        """What a model answers to these probes, in their order."""

    def words(self, given: Response, question: ReuseItem) -> str:
        """An answer in words; empty where there is none."""

    def pairs(self, probes: ItemSet, members: Sequence[ReuseModel]) -> tuple[InvariantPairs, ...]:
        """The perturbations that all of these members were asked about, the reference first."""

    def truncated(self) -> Mapping[str, int]:
        """How many questions were cut to a model's limit, by the model's name."""

    def warnings(self) -> tuple[str, ...]:
        """What a reader must know of how the answers were read."""


@dataclass(frozen=True, kw_only=True)
class TaskResponses:
    """Asks the questions of a task."""

    task: Task
    run: Run
    progress: Progress
    cut: dict[str, set[str]] = field(default_factory=dict)

    def answers(self, member: ReuseModel, questions: Sequence[ReuseItem]) -> list[Response]:
        """What a model answers to these probes, in their order."""
        answers = ask(
            member.answering_model(),
            self.task,
            [one.question for one in questions],
            store=self.run,
            progress=self.progress,
        )
        self.cut.setdefault(member.name, set()).update(
            one.id for one, answer in zip(questions, answers, strict=True) if answer.truncated
        )
        return list(map(_of_answer, answers, questions))

    def words(self, given: Response, question: ReuseItem) -> str:
        """The option's words, or the answer's."""
        if isinstance(given.choice, int):
            return question.question.options[given.choice]
        return given.choice or ""

    def pairs(self, probes: ItemSet, members: Sequence[ReuseModel]) -> tuple[InvariantPairs, ...]:
        """None: questions of tasks are not perturbed."""
        return ()

    def truncated(self) -> Mapping[str, int]:
        """How many questions were cut to a model's limit, by the model's name."""
        return {name: len(questions) for name, questions in self.cut.items()}

    def warnings(self) -> tuple[str, ...]:
        """None: answers to questions need no reading."""
        return ()


def _of_answer(answer: Answer, question: ReuseItem) -> Response:
    if answer.choice is not None:
        return Response(answer.choice, answer.probabilities)
    if answer.text is None:
        return Response(None)
    words = spelled_alike(answer.text)
    return Response(question.asked.gold if words in question.accepted else words)


@dataclass(frozen=True, kw_only=True)
class TextResponses:
    """Asks for the labels of texts, or for the tokens that follow them."""

    labels: Sequence[str]
    examples: Sequence[Example]
    run: Run
    progress: Progress
    own_labels: Mapping[str, Sequence[str]]
    matched: Mapping[str, Matching] = field(default_factory=dict)
    known: dict[str, dict[str, Prediction]] = field(default_factory=dict)

    def answers(self, member: ReuseModel, questions: Sequence[ReuseItem]) -> list[Response]:
        """What a model answers to these probes, in their order."""
        texts = [one.question.text for one in questions]
        known = self.known.setdefault(member.name, {})
        # With several references the plain texts come again.
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            found = raw_answers(member, new, run=self.run, progress=self.progress)
            if matching := self.matched.get(member.name):
                found = {
                    text: relabelled(one, matching, len(self.labels)) for text, one in found.items()
                }
            known.update(found)
        return [_of_prediction(known[text]) for text in texts]

    def words(self, given: Response, question: ReuseItem) -> str:
        """The label, or the token."""
        if isinstance(given.choice, int):
            return self.labels[given.choice]
        return given.choice or ""

    def pairs(self, probes: ItemSet, members: Sequence[ReuseModel]) -> tuple[InvariantPairs, ...]:
        """The perturbations that all of these members were asked about, the reference first."""
        answered = [self.known.get(member.name, {}) for member in members]

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
            for found in probes.sets
        )

    def truncated(self) -> Mapping[str, int]:
        """How many texts were cut to a model's limit, by the model's name."""
        return {
            name: sum(one.truncated for one in known.values()) for name, known in self.known.items()
        }

    def warnings(self) -> tuple[str, ...]:
        """Which labels were matched by the answers."""
        return tuple(
            f"the labels of {name} were matched by what most controls answer: "
            f"{matched_in_words(matching, self.own_labels[name], self.labels)}"
            for name, matching in self.matched.items()
        )


def raw_answers(
    member: ReuseModel, texts: Sequence[str], *, run: Run, progress: Progress
) -> dict[str, Prediction]:
    """What a model answers to texts, over its own labels."""
    return answer_texts(member.named(), texts, run=run, progress=progress)


def match_by_answers(
    tested: ReuseModels, labels: Sequence[str], texts: Sequence[str], run: Run, progress: Progress
) -> dict[str, Matching]:
    """For each model whose labels did not align by name, what they stand for.

    Raises
    ------
    ModelError
        When the labels of no control align, so that nobody says what a label means.
    """
    strangers = [one for one in tested.members if labels and one.model.labels != tuple(labels)]
    if not strangers:
        return {}
    controls = [one for one in tested.controls if one not in strangers]
    if not controls:
        raise ModelError(
            f"no control with the labels {', '.join(labels)}",
            expected="at least one control whose labels align with the reference's",
            fix=f"say what corresponds: --label-map {strangers[0].model.labels[0]}={labels[0]}",
        )
    others = [raw_answers(one, texts, run=run, progress=progress) for one in controls]
    return {
        one.name: match_labels(
            raw_answers(one, texts, run=run, progress=progress), others, len(labels)
        )
        for one in strangers
    }


def _of_prediction(prediction: Prediction) -> Response:
    if prediction.tokens:
        return Response(prediction.tokens[prediction.label])
    return Response(prediction.label, prediction.probabilities)
