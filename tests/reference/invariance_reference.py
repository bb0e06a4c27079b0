"""The audit's five metrics, straight from their formulas, one pair at a time, without numpy.

Slow and independent of `scope.metrics` on purpose: it shares no code with what it checks.
"""

from collections.abc import Sequence

Vector = Sequence[float]


def argmax(vector: Vector) -> int:
    """The first of the greatest."""
    return list(vector).index(max(vector))


def iid_agreement(reference: Sequence[Vector], target: Sequence[Vector]) -> list[float]:
    return [
        1.0 if argmax(one) == argmax(other) else 0.0
        for one, other in zip(reference, target, strict=True)
    ]


def iid_accuracy_gap(
    reference: Sequence[Vector], target: Sequence[Vector], gold: Sequence[int]
) -> float:
    def accuracy(answers: Sequence[Vector]) -> float:
        right = [argmax(answer) == label for answer, label in zip(answers, gold, strict=True)]
        return sum(right) / len(gold)

    return abs(accuracy(target) - accuracy(reference))


def invariant_pairs(clean: Sequence[Vector], perturbed: Sequence[Vector]) -> list[int]:
    """The positions in I_R: those where the label is kept."""
    return [place for place, kept in enumerate(hard_scope(clean, perturbed)) if kept]


def ood_agreement(
    reference_perturbed: Sequence[Vector], target_perturbed: Sequence[Vector]
) -> list[float]:
    return iid_agreement(reference_perturbed, target_perturbed)


def hard_scope(target_clean: Sequence[Vector], target_perturbed: Sequence[Vector]) -> list[float]:
    """A model agrees with itself."""
    return iid_agreement(target_clean, target_perturbed)


def credit(distance: float, tolerance: float, cutoff: float) -> float:
    """g: 1 up to the tolerance, 0 from the cutoff, a straight line between."""
    if distance <= tolerance:
        return 1.0
    if distance >= cutoff:
        return 0.0
    return 1.0 - (distance - tolerance) / (cutoff - tolerance)


def soft_scope(
    reference_clean: Sequence[Vector],
    reference_perturbed: Sequence[Vector],
    target_clean: Sequence[Vector],
    target_perturbed: Sequence[Vector],
    tolerance: float,
    cutoff: float,
) -> list[float]:
    values = []
    for row in range(len(target_clean)):
        distance = 0.0
        for label in range(len(target_clean[row])):
            reference_change = reference_clean[row][label] - reference_perturbed[row][label]
            target_change = target_clean[row][label] - target_perturbed[row][label]
            distance += abs(reference_change - target_change)
        kept = argmax(target_perturbed[row]) == argmax(target_clean[row])
        values.append(credit(distance, tolerance, cutoff) if kept else 0.0)
    return values


def mean_over_texts(values: Sequence[float], texts: Sequence[str]) -> float:
    """The mean over texts of the mean over each text's pairs."""
    of_texts = []
    for text in set(texts):
        own = [value for value, place in zip(values, texts, strict=True) if place == text]
        of_texts.append(sum(own) / len(own))
    return sum(of_texts) / len(of_texts)


# The same for language models, whose answers are tokens with their probabilities: what the
# probabilities lack to 1 is the mass of all tokens that are not named.

Tokens = dict[str, float]


def open_label(answer: Tokens) -> str:
    """The first in the alphabet of the greatest."""
    return max(sorted(answer), key=answer.__getitem__, default="")


def open_hard_scope(clean: Sequence[Tokens], perturbed: Sequence[Tokens]) -> list[float]:
    return [
        1.0 if open_label(before) == open_label(after) else 0.0
        for before, after in zip(clean, perturbed, strict=True)
    ]


def open_soft_scope(
    reference_clean: Sequence[Tokens],
    reference_perturbed: Sequence[Tokens],
    target_clean: Sequence[Tokens],
    target_perturbed: Sequence[Tokens],
    tolerance: float,
    cutoff: float,
) -> list[float]:
    values = []
    for row in range(len(target_clean)):
        four = (
            reference_clean[row],
            reference_perturbed[row],
            target_clean[row],
            target_perturbed[row],
        )
        named = set()
        for answer in four:
            named.update(answer)
        distance = 0.0
        for token in named:
            first, second, third, fourth = (answer.get(token, 0.0) for answer in four)
            distance += abs((first - second) - (third - fourth))
        first, second, third, fourth = (1.0 - sum(answer.values()) for answer in four)
        distance += abs((first - second) - (third - fourth))
        kept = open_label(target_clean[row]) == open_label(target_perturbed[row])
        values.append(credit(distance, tolerance, cutoff) if kept else 0.0)
    return values
