"""How much models disagree on each item of a task."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from scope.jobs.compare.task_estimates import TaskEstimates
from scope.records import Answer, TaskAnswers


def disagreements(numbers: TaskEstimates, answers: TaskAnswers) -> list[float]:
    """One number per item, from 0 where all models answer alike to 1 where no two do.

    Free-text answers: one minus the mean word F1 of the pairs of models. Choices, and answers of
    which no word F1 is kept: the share of pairs that answer differently.
    """
    different = [
        share_of_different_pairs(_words_or_choice(row[place]) for row in answers.answers)
        for place in range(len(answers.items))
    ]
    if numbers.choice:
        return different
    overlaps = _mean_overlaps(numbers)
    return [
        1 - overlaps[item.question.id] if item.question.id in overlaps else fallback
        for item, fallback in zip(answers.items, different, strict=True)
    ]


def _words_or_choice(answer: Answer) -> Hashable:
    return answer.choice if answer.text is None else " ".join(answer.text.split())


def _mean_overlaps(numbers: TaskEstimates) -> dict[str, float]:
    """The mean word F1 over the pairs that both answered, by item."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in numbers.between("word_f1").values():
        if row.values:
            for item_id, value in zip(row.example_ids, row.values, strict=True):
                found[item_id].append(value)
    return {item_id: sum(values) / len(values) for item_id, values in found.items()}


def share_of_different_pairs(answers: Iterable[Hashable]) -> float:
    """The share of pairs of given answers that differ; 0 where there is no pair.

    >>> share_of_different_pairs(["a", "a", "b", None])
    0.6666666666666666
    """
    counts = Counter(answer for answer in answers if answer is not None)
    given = counts.total()
    pairs = given * (given - 1) // 2
    alike = sum(count * (count - 1) // 2 for count in counts.values())
    return (pairs - alike) / pairs if pairs else 0.0
