"""The questions of a test of reuse: fixed by the reference alone, before the suspect is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scope.jobs.perturbing import PerturbationSet
from scope.jobs.reuse.answer_matrix import AnswerKey
from scope.records import Example, Item, Question


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
    return ItemSet(
        items=tuple(
            ReuseItem(
                id=item.question.id,
                unit=item.question.id,
                question=item.question,
                key=AnswerKey(
                    unit=item.question.id,
                    gold=item.right
                    if item.question.options
                    else next(map(spelled_alike, item.gold), None),
                    options=len(item.question.options) or None,
                ),
                gold=next(iter(item.gold), None)
                if item.right is None
                else item.question.options[item.right],
                accepted=tuple(map(spelled_alike, item.gold[1:])),
            )
            for item in items
        )
    )


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
    examples: Sequence[Example],
    sets: Sequence[PerturbationSet],
    labels: Sequence[str],
) -> ItemSet:
    """All original texts, then the perturbations that the search found.

    ``labels`` are empty for language models, whose answers are tokens.
    """
    number: Mapping[str, int] = {label: place for place, label in enumerate(labels)}
    options = len(labels) or None
    by_id = {example.id: example for example in examples}
    texts = [(example.id, example, example.text) for example in examples]
    texts += [
        (
            f"{changed.example_id}~{perturbed.outcome.capability}{changed.trial}",
            by_id[changed.example_id],
            changed.text,
        )
        for perturbed in sets
        for changed in perturbed.perturbations
        if changed.text is not None
    ]
    return ItemSet(
        items=tuple(
            ReuseItem(
                id=name,
                unit=example.id,
                question=Question(id=name, text=text),
                key=AnswerKey(
                    unit=example.id,
                    gold=None if example.label is None else number.get(example.label),
                    options=options,
                ),
                gold=example.label,
            )
            for name, example, text in texts
        ),
        sets=tuple(sets),
    )
