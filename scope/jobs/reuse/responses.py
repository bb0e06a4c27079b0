"""The questions of a test of reuse, and the answers of each model to them, for texts and tasks.

The questions are fixed by the reference alone, before the suspect is asked.

Labels of different names are matched by the answers: a model's label with the label that most
controls give to the same texts. The reference's answers are not used, so the match cannot make a
model look like the reference.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scope.answers import Run, answer_questions, answer_texts
from scope.errors import DataError, ModelError
from scope.estimation.pairs import AuditedPairs, invariant_pairs
from scope.jobs.answering_models import unanswered
from scope.jobs.perturbing import PerturbationSet, scored_examples, scored_perturbations
from scope.jobs.reuse.evidence import Case, CaseItem
from scope.jobs.reuse.pool import AnswerKey, Response, ReuseModels, answer_matrix
from scope.models.labels import how_to_map
from scope.models.scheme import Model
from scope.protocols import Progress, Task
from scope.records import Example, Item, Prediction, Question

Matching = tuple[int, ...]
"""For each of a model's labels, the index of the matched label."""


@dataclass(frozen=True, kw_only=True)
class Responses(ABC):
    """The answers of the models of a test; ``labels`` are empty if texts are not classified.

    ``replies`` are the answers so far, by model and question, or text.
    """

    run: Run
    progress: Progress
    labels: tuple[str, ...] = ()
    replies: dict[str, dict[str, Any]] = field(default_factory=dict)

    @abstractmethod
    def answers(self, model: Model, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""

    def words(self, response: Response, item: ReuseItem) -> str:
        """An answer in words: the option, the label, the token or the text; empty if none."""
        if isinstance(response.choice, int):
            return (self.labels or item.question.options)[response.choice]
        return response.choice or ""

    def pairs(self, items: ItemSet, models: Sequence[Model]) -> tuple[AuditedPairs, ...]:
        """The perturbations, with the answers of these models; the reference is first."""
        return ()

    def warnings(self) -> tuple[str, ...]:
        """Warnings about how the answers were read."""
        return ()


@dataclass(frozen=True, kw_only=True)
class TaskResponses(Responses):
    """The answers to the questions of a task."""

    task: Task

    def answers(self, model: Model, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""
        questions = [item.question for item in items]
        answers = answer_questions(model, self.task, questions, self.run, self.progress)
        replies = self.replies.setdefault(model.name, {})
        responses = []
        for item, answer in zip(items, answers, strict=True):
            replies[item.id] = answer
            if answer.choice is not None:
                responses.append(Response(answer.choice, answer.probabilities))
            elif answer.text is None:
                responses.append(Response(None, asked=answer.asked and not answer.leaves_out))
            else:
                words, gold = spelled_alike(answer.text), item.key.gold
                is_right = words in item.accepted or (gold is not None and answer.score == 1)
                responses.append(Response(gold if is_right else words))
        return responses


@dataclass(frozen=True, kw_only=True)
class TextResponses(Responses):
    """The labels of texts, or the next tokens.

    ``matched`` has the models whose labels are matched by their answers.
    """

    examples: Sequence[Example]
    own_labels: Mapping[str, Sequence[str]]
    matched: Mapping[str, Matching] = field(default_factory=dict)

    def answers(self, model: Model, items: Sequence[ReuseItem]) -> list[Response]:
        """The answers of a model to these questions, in their order."""
        texts = [item.question.text for item in items]
        known = self.replies.setdefault(model.name, {})
        # The plain texts are those of every reference.
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            matching, labels = self.matched.get(model.name), len(self.labels)
            known |= answer_texts(model, new, self.run, self.progress)
            for text in new:
                if matching is not None and known[text].given:
                    known[text] = relabelled(known[text], matching, labels)
        return [
            Response(each.tokens[each.label])
            if each.tokens
            else Response(each.label if each.given else None, each.probabilities)
            for each in (known[text] for text in texts)
        ]

    def pairs(self, items: ItemSet, models: Sequence[Model]) -> tuple[AuditedPairs, ...]:
        """The perturbations, with the answers of these models; the reference is first."""
        if not items.sets:
            return ()
        answers = [self.replies[model.name] for model in models]
        failed = unanswered(self.replies, models[0].name)
        kept = [example for example in self.examples if example.text not in failed]
        ids = {example.id for example in kept}
        sets = [
            replace(
                perturbed,
                perturbations=tuple(
                    each
                    for each in perturbed.perturbations
                    if each.text not in failed and each.example_id in ids
                ),
            )
            for perturbed in items.sets
        ]
        examples, scored = scored_examples(kept, answers), scored_perturbations(sets, answers)
        return tuple(invariant_pairs(each.outcome.capability, examples, scored) for each in sets)

    def warnings(self) -> tuple[str, ...]:
        """The labels that were matched by the answers."""
        return tuple(
            f"the labels of {name} were matched by the answers of most controls: "
            + ", ".join(
                f"{' '.join(label.split())} as {self.labels[place]}"
                for label, place in zip(self.own_labels[name], matching, strict=True)
            )
            for name, matching in self.matched.items()
        )


def match_by_answers(
    models: ReuseModels, labels: Sequence[str], texts: Sequence[str], run: Run, progress: Progress
) -> dict[str, Matching]:
    """The match of the labels of each model whose labels do not align by name.

    Raises
    ------
    ModelError
        When the labels of no control align.
    """
    unaligned = [model for model in models.all if labels and model.adapter.labels != tuple(labels)]
    if not unaligned:
        return {}
    controls = [model for model in models.controls if model not in unaligned]
    if not controls:
        raise ModelError(
            f"no control with the labels {', '.join(labels)}",
            expected="at least one control whose labels align with the reference's",
            fix=f"map the labels: {how_to_map(unaligned[0].adapter.labels, labels, {})}",
        )
    others = [answer_texts(model, texts, run, progress) for model in controls]
    return {
        model.name: match_labels(answer_texts(model, texts, run, progress), others, len(labels))
        for model in unaligned
    }


def match_labels(
    predictions: Mapping[str, Prediction], others: Sequence[Mapping[str, Prediction]], labels: int
) -> Matching:
    """Match each label of a model with one of the ``labels`` labels of the other models.

    With equal numbers of labels, the match is one to one and maximises agreement; otherwise a label
    is matched with the label that co-occurs most often, the first of equals. A label that the model
    never gives is matched with the first that is left, or the first.

    Examples
    --------
    >>> def sure(*rows):
    ...     return {str(n): Prediction(probabilities=row) for n, row in enumerate(rows)}
    >>> ours = sure((1, 0), (0, 1), (0, 1))
    >>> theirs = sure((0, 1), (1, 0), (1, 0))
    >>> match_labels(theirs, [ours], 2)
    (1, 0)
    """
    from scipy.optimize import linear_sum_assignment

    answers = {text: each for text, each in predictions.items() if each.given}
    together = np.zeros((len(next(iter(answers.values())).probabilities), labels))
    for text, prediction in answers.items():
        votes = np.zeros(labels)
        for other in others:
            votes[other[text].label] += other[text].given
        together[prediction.label, int(votes.argmax())] += 1
    if together.shape[0] == labels:
        return tuple(int(place) for place in linear_sum_assignment(-together)[1])
    return tuple(int(place) for place in together.argmax(axis=1))


def relabelled(prediction: Prediction, matching: Matching, labels: int) -> Prediction:
    """The prediction over the matched labels.

    Examples
    --------
    >>> relabelled(Prediction(probabilities=(0.5, 0.3, 0.2)), (1, 0, 0), 2).probabilities
    (0.5, 0.5)
    """
    sums = np.bincount(matching, weights=prediction.probabilities, minlength=labels)
    return replace(prediction, probabilities=tuple(float(share) for share in sums))


FEWEST_ITEMS = 30
"""With fewer questions no two models can be distinguished."""


def make_case(
    models: ReuseModels, reference: Model, item_set: ItemSet, responses: Responses
) -> Case:
    """Ask all models the questions of one reference, the suspect last.

    Raises
    ------
    DataError
        When the reference answers too few questions, or gives one answer to all.
    ModelError
        When a model cannot answer.
    """
    # Perturbations are selected such that the reference keeps its answer. The answers to them are
    # no evidence; only whether other models keep theirs is.
    questions = [item for item in item_set.items if item.id == item.unit]
    perturbed = [item for item in item_set.items if item.id != item.unit]

    def answers_of(model: Model) -> list[Response]:
        return responses.answers(model, [*questions, *perturbed])[: len(questions)]

    of_reference = answers_of(reference)
    _require_answers(reference, questions, of_reference, responses)
    others = (*models.controls, *models.derivatives, models.suspect)
    asked, rows = _answered(questions, [of_reference, *map(answers_of, others)], responses)
    of_reference, *of_others, of_suspect = rows
    of_controls = of_others[: len(models.controls)]
    keys = [item.key for item in asked]
    questions_asked = [item.question for item in (*asked, *perturbed)]
    items = []
    for item, *of_both in zip(asked, of_reference, of_suspect, strict=True):
        words = [responses.words(response, item) for response in of_both]
        items.append(CaseItem(item.id, item.unit, item.question.text, item.gold, *words))
    return Case(
        reference=reference.name,
        suspect=models.suspect.name,
        controls=tuple(model.name for model in models.controls),
        items=items,
        answers=answer_matrix(keys, [of_reference, of_suspect, *of_controls]),
        derivatives={
            model.name: answer_matrix(keys, [of_reference, row, *of_controls])
            for model, row in zip(models.derivatives, of_others[len(of_controls) :], strict=True)
        },
        pairs=responses.pairs(item_set, (reference, models.suspect, *models.controls)),
        hash=item_set.hash,
        labels=responses.labels,
        # Questions of equal content are asked once.
        queries=len({(each.text, each.context, each.options) for each in questions_asked}),
    )


def _answered(
    questions: Sequence[ReuseItem], rows: Sequence[Sequence[Response]], responses: Responses
) -> tuple[list[ReuseItem], list[list[Response]]]:
    """The questions that no model's server failed to answer, and the rows of answers to them."""
    failed = unanswered(responses.replies)
    kept = [
        place
        for place, item in enumerate(questions)
        if failed.keys().isdisjoint((item.id, item.question.text))
    ]
    return [questions[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _require_answers(
    reference: Model,
    questions: Sequence[ReuseItem],
    answers: Sequence[Response],
    responses: Responses,
) -> None:
    """Check that the reference answers enough questions, with different answers."""
    choices = [response.choice for response in answers if response.choice is not None]
    if len(choices) < FEWEST_ITEMS:
        raise DataError(
            f"{len(questions)} questions, of which the reference `{reference.name}` answers "
            f"{len(choices)}",
            expected=f"at least {FEWEST_ITEMS} answers of the reference, better several hundred",
            fix="use a larger data set, or a larger --n",
        )
    if len(set(choices)) == 1:
        words = {responses.words(*pair) for pair in zip(answers, questions, strict=True)} - {""}
        # Options with other words in each question are numbered from 1, as in a verdict.
        always = f"{words.pop()[:60]!r}" if len(words) == 1 else f"option {int(choices[0]) + 1}"
        raise DataError(
            f"the reference `{reference.name}` answers {always} to all of {len(choices)} questions",
            expected="a reference whose answers differ between questions",
            fix="use other data, or check that the reference works",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReuseItem:
    """One question to every model, with its right answer if known.

    ``unit`` is the id of its example; a perturbation has that of its original. ``accepted`` are
    further right answers in words.
    """

    id: str
    unit: str
    question: Question
    key: AnswerKey
    gold: str | None
    accepted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSet:
    """The questions of one reference, which all models answer."""

    items: tuple[ReuseItem, ...]
    sets: tuple[PerturbationSet, ...] = ()

    @property
    def hash(self) -> str:
        """Hash of the words of all questions, in their order; sixteen hexadecimal digits."""
        words = [
            [item.id, item.question.text, item.question.context, item.question.options]
            for item in self.items
        ]
        text = json.dumps(words, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def failures(self, searched: str) -> Iterator[str]:
        """A warning for each search of this model that failed: it adds no questions."""
        for perturbed in self.sets:
            outcome = perturbed.outcome
            if outcome.status == "failed":
                yield (
                    f"the search of {searched} for {outcome.capability} failed "
                    f"({outcome.reason}); its perturbations are left out"
                )


def task_items(items: Sequence[Item]) -> ItemSet:
    """The unchanged questions of a task."""
    questions = []
    for item in items:
        asked, spelled = item.question, list(map(spelled_alike, item.gold))
        right = item.right if asked.options else next(iter(spelled), None)
        gold = next(iter(item.gold), None) if item.right is None else asked.options[item.right]
        key = AnswerKey(unit=asked.id, gold=right, options=len(asked.options) or None)
        accepted = tuple(spelled[1:])
        questions.append(
            ReuseItem(
                id=asked.id, unit=asked.id, question=asked, key=key, gold=gold, accepted=accepted
            )
        )
    return ItemSet(items=tuple(questions))


def spelled_alike(answer: str) -> str:
    """An answer in words, without case, extra spaces and marks around it; marks alone are kept.

    Examples
    --------
    >>> spelled_alike("  The Red  house.")
    'the red house'
    """
    words = " ".join(answer.casefold().split())
    return words.strip(" .,;:!?'\"") or words


def text_items(
    examples: Sequence[Example], sets: Sequence[PerturbationSet], labels: Sequence[str]
) -> ItemSet:
    """All original texts, then the perturbations that the search found.

    ``labels`` are empty for language models, whose answers are tokens.
    """
    number = {label: place for place, label in enumerate(labels)}
    by_id = {example.id: example for example in examples}
    texts = [(example.id, example, example.text) for example in examples]
    for perturbed in sets:
        for each in perturbed.perturbations:
            if each.text is not None:
                name = f"{each.example_id}~{perturbed.outcome.capability}{each.trial}"
                texts.append((name, by_id[each.example_id], each.text))
    items = []
    for name, example, text in texts:
        gold = None if example.label is None else number.get(example.label)
        key = AnswerKey(unit=example.id, gold=gold, options=len(labels) or None)
        asked = Question(id=name, text=text)
        items.append(
            ReuseItem(id=name, unit=example.id, question=asked, key=key, gold=example.label)
        )
    return ItemSet(items=tuple(items), sets=tuple(sets))
