"""Whether a model answers at all as its texts demand, or gives one answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from scope.records import AnswerShares, Estimate, Undefined
from scope.statistics import mean_estimate

ONE_ANSWER = 0.95
"""A model is degenerate whose most frequent answer makes up so much of its answers,"""

SKEWED = 0.80
"""unless one is so frequent among the gold labels (without them: the reference's answers)."""

FEWEST = 5
"""Of fewer texts, or labels, nothing is said: a few may well have one answer."""

LEAST_KAPPA = 0.2
ENOUGH_LABELS = 50
"""With so many labelled texts a model is also degenerate whose κ with gold lies below, surely."""

_NO_LABELS = "no text has a gold label"


def answer_shares(
    model: str,
    answers: Mapping[str, str],
    gold: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
) -> AnswerShares:
    """How often a model gives each answer, how often rightly, and whether it is degenerate.

    Parameters
    ----------
    model
        Its name.
    answers
        Its answer to each example, by the example's id.
    gold
        The gold labels that are known, by the same ids.
    reference
        The reference's answers, which stand for gold where no label is known; None for the
        reference itself, which then must give two answers at least.

    Examples
    --------
    A model that calls everything good, where half of the texts are not:

    >>> gold = {"1": "good", "2": "bad", "3": "good", "4": "bad", "5": "good", "6": "bad"}
    >>> found = answer_shares("m", dict.fromkeys(gold, "good"), gold)
    >>> print(found.accuracy)
    0.500 [0.188, 0.812]
    >>> found.degenerate
    'it answers `good` to 6 of 6 texts, while no gold label exceeds 3 of 6'
    """
    counts = dict(Counter(answers.values()).most_common())
    right = {one: float(answers[one] == label) for one, label in gold.items()}
    accuracy = mean_estimate(list(right.values()), list(right), empty=_NO_LABELS)
    return AnswerShares(
        model=model,
        counts=counts,
        accuracy=accuracy,
        degenerate=gives_one_answer(answers, gold, reference)
        or _no_better_than_chance(accuracy, {one: answers[one] for one in gold}, gold),
    )


def gives_one_answer(
    answers: Mapping[str, str],
    gold: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
) -> str | None:
    """Why a model's answers are nearly all the same, though what is asked is not; or nothing.

    The parameters are those of `answer_shares`. Whether the answers are right plays no part.

    Examples
    --------
    >>> texts = [str(place) for place in range(10)]
    >>> gives_one_answer(dict.fromkeys(texts, "A"), dict(zip(texts, "ABABABABAB")))
    'it answers `A` to 10 of 10 texts, while no gold label exceeds 5 of 10'
    """
    counts = dict(Counter(answers.values()).most_common())
    of_gold = len(gold) >= FEWEST or reference is None
    of_whom = ("gold label", gold) if of_gold else ("answer of the reference", reference or {})
    others = "whose gold label is another" if of_gold else "that the reference answers otherwise"
    return (
        _one_answer(counts, *of_whom)
        or _blind_to_others(counts, answers, of_whom[1], others)
        or _never_another(counts, of_whom[1])
    )


def _one_answer(counts: Mapping[str, int], of_whom: str, expected: Mapping[str, str]) -> str | None:
    """Why one answer is too frequent; nothing where there is nothing to hold it against."""
    if sum(counts.values()) < FEWEST or len(expected) < FEWEST:
        return None
    answer, times = next(iter(counts.items()))
    most = max(Counter(expected.values()).values())
    if times < ONE_ANSWER * sum(counts.values()) or most > SKEWED * len(expected):
        return None
    return (
        f"it answers `{answer}` to {times} of {sum(counts.values())} texts, while no {of_whom} "
        f"exceeds {most} of {len(expected)}"
    )


def _blind_to_others(
    counts: Mapping[str, int], answers: Mapping[str, str], expected: Mapping[str, str], whose: str
) -> str | None:
    """Why one answer is too frequent where others are rarely expected: these get it, too."""
    if not counts:
        return None
    answer, times = next(iter(counts.items()))
    others = [one for one, label in expected.items() if label != answer and one in answers]
    if (
        times < ONE_ANSWER * sum(counts.values())
        or len(others) < FEWEST
        or any(answers[one] != answer for one in others)
    ):
        return None
    return f"it answers `{answer}` to all {len(others)} texts {whose}"


def _never_another(counts: Mapping[str, int], expected: Mapping[str, str]) -> str | None:
    """Why a single answer says nothing where too few labels are known to show that it is right."""
    texts = sum(counts.values())
    if len(counts) != 1 or texts < FEWEST or len(expected) >= FEWEST:
        return None
    known = f"only {len(expected)} of them" if expected else "none of them"
    return f"it answers `{next(iter(counts))}` to all {texts} texts, and {known} has a gold label"


def _no_better_than_chance(
    accuracy: Estimate | Undefined, answers: Mapping[str, str], gold: Mapping[str, str]
) -> str | None:
    """Why its answers have next to nothing to do with gold.

    κ is bounded by the accuracy's interval, with the agreement by chance as it was seen.
    """
    if not isinstance(accuracy, Estimate) or len(gold) < ENOUGH_LABELS:
        return None
    given, wanted = Counter(answers.values()), Counter(gold.values())
    chance = sum(given[one] * wanted[one] for one in given) / len(gold) ** 2
    if chance == 1 or (accuracy.high - chance) / (1 - chance) >= LEAST_KAPPA:
        return None
    highest = (accuracy.high - chance) / (1 - chance)
    below = accuracy.high < chance
    return (
        f"its accuracy of {accuracy} on {len(gold)} labelled texts is "
        f"{'below' if below else 'hardly better than'} chance, {chance:.3f}: Cohen's kappa is at "
        f"most {highest:.2f}{'; look whether labels are mixed up (`--label-map`)' if below else ''}"
    )


def shares_of_models(
    models: Sequence[str], answers: Sequence[Mapping[str, str]], gold: Mapping[str, str]
) -> tuple[AnswerShares, ...]:
    """The same for a reference, which comes first, and for each target."""
    reference, *targets = zip(models, answers, strict=True)
    return (
        answer_shares(*reference, gold),
        *(answer_shares(*target, gold, reference[1]) for target in targets),
    )
