"""Detects degenerate models, such as those that give one answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from scope.records import AnswerShares, Estimate, Undefined
from scope.records.estimates import FEWEST_TEXTS
from scope.statistics import mean_estimate

ONE_ANSWER = 0.95
"""A model is degenerate if its most frequent answer has at least this share,"""

SKEWED = 0.80
"""unless a gold label (without them: an answer of the reference) has more than this share."""

FEWEST = FEWEST_TEXTS
"""With fewer texts, or labels, no model is called degenerate."""

LEAST_KAPPA = 0.2
ENOUGH_LABELS = 50
"""With this many labelled texts a model is also degenerate if its κ with gold is significantly
below `LEAST_KAPPA`; with fewer labels, but as many texts, if its κ with the reference is."""

_OF_GOLD = ("accuracy", "labelled texts", "")
_OF_REFERENCE = (
    "share of the reference's answers",
    "texts",
    ", so that its answers have next to nothing to do with the reference's",
)
"""Words of a message: the share, of what, and its end."""

MOST_ANSWERS = 20
"""With a reference of more distinct answers, such as next tokens, good models may agree rarely."""

_NO_LABELS = "no text has a gold label"


def answer_shares(
    model: str,
    answers: Mapping[str, str],
    gold: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
) -> AnswerShares:
    """The frequency of each answer of a model, its accuracy, and whether it is degenerate.

    Parameters
    ----------
    model
        Its name.
    answers
        Its answer to each example, by the example's id.
    gold
        The gold labels that are known, by the same ids.
    reference
        The reference's answers, used as gold if too few labels are known; None for the reference
        itself, which must give at least two different answers.

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
    by_reference = reference is not None and len(gold) < ENOUGH_LABELS
    whole, words = (reference or {}, _OF_REFERENCE) if by_reference else (gold, _OF_GOLD)
    if by_reference and len(set(whole.values())) > MOST_ANSWERS:
        whole = {}
    expected = {example: label for example, label in whole.items() if example in answers}
    return AnswerShares(
        model=model,
        counts=dict(Counter(answers.values()).most_common()),
        accuracy=_share_alike(answers, gold),
        degenerate=gives_one_answer(answers, gold, reference)
        or _no_better_than_chance(answers, expected, *words),
    )


def _share_alike(answers: Mapping[str, str], expected: Mapping[str, str]) -> Estimate | Undefined:
    """The share of answers that are the expected ones."""
    alike = {example: float(answers[example] == label) for example, label in expected.items()}
    return mean_estimate(list(alike.values()), list(alike), empty=_NO_LABELS)


def gives_one_answer(
    answers: Mapping[str, str],
    gold: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
) -> str | None:
    """The reason why a model's answers are nearly all the same; None if they are not.

    The parameters are those of `answer_shares`. The accuracy of the answers is not considered.

    Examples
    --------
    >>> texts = [str(place) for place in range(10)]
    >>> gives_one_answer(dict.fromkeys(texts, "A"), dict(zip(texts, "ABABABABAB")))
    'it answers `A` to 10 of 10 texts, while no gold label exceeds 5 of 10'
    """
    of_gold = len(gold) >= FEWEST or reference is None
    expected = gold if of_gold else reference or {}
    texts, known = len(answers), len(expected)
    answer, times = Counter(answers.values()).most_common(1)[0] if answers else ("", 0)
    if not answers or times < ONE_ANSWER * texts:
        return None
    most = max(Counter(expected.values()).values(), default=0)
    if min(texts, known) >= FEWEST and most <= SKEWED * known:
        whose = "gold label" if of_gold else "answer of the reference"
        opening = f"it answers `{answer}` to {times} of {texts} texts"
        return f"{opening}, while no {whose} exceeds {most} of {known}"
    others = [
        answers[example]
        for example, label in expected.items()
        if label != answer and example in answers
    ]
    if len(others) >= FEWEST and set(others) == {answer}:
        whose = "whose gold label is another" if of_gold else "that the reference answers otherwise"
        return f"it answers `{answer}` to all {len(others)} texts {whose}"
    if times == texts >= FEWEST > known:
        labelled = f"only {known} of them" if known else "none of them"
        return f"it answers `{answer}` to all {texts} texts, and {labelled} has a gold label"
    return None


def _no_better_than_chance(
    answers: Mapping[str, str], expected: Mapping[str, str], alike: str, texts: str, end: str
) -> str | None:
    """Why its agreement with gold, or with the reference, is no better than chance.

    κ is bounded by the interval of the agreement, with the observed agreement by chance.
    """
    share = _share_alike(answers, expected)
    if not isinstance(share, Estimate) or len(expected) < ENOUGH_LABELS:
        return None
    counts, wanted = Counter(answers[example] for example in expected), Counter(expected.values())
    chance = sum(counts[answer] * wanted[answer] for answer in counts) / len(expected) ** 2
    reason = near_chance(share, chance, alike, f"{len(expected)} {texts}")
    mixed_up = "; look whether labels are mixed up (`--label-map`)" * (share.high < chance)
    return reason and f"{reason}{end}{mixed_up}"


def near_chance(share: Estimate, chance: float, alike: str, answers: str) -> str | None:
    """Why an agreement is near chance; None if κ may be 0.2 or more.

    The upper bound of Cohen's κ is that of the agreement; 1 if chance agreement is 1.

    Examples
    --------
    >>> share = Estimate(value=0.5, low=0.4, high=0.58, n=96, method="Wilson")
    >>> near_chance(share, 0.5, "accuracy", "96 texts").partition(" is ")[2]
    "hardly better than chance, 0.500: Cohen's kappa is at most 0.16"
    """
    highest = 1.0 if chance == 1 else round((share.high - chance) / (1 - chance), 6)
    if highest >= LEAST_KAPPA:
        return None
    return (
        f"its {alike} of {share} on {answers} is "
        f"{'below' if share.high < chance else 'hardly better than'} chance, {chance:.3f}: Cohen's "
        f"kappa is at most {highest:.2f}"
    )


def shares_of_models(
    models: Sequence[str], answers: Sequence[Mapping[str, str]], gold: Mapping[str, str]
) -> tuple[AnswerShares, ...]:
    """The answer shares of the reference, which is first, and of each target."""
    reference, *targets = zip(models, answers, strict=True)
    return (
        answer_shares(*reference, gold),
        *(answer_shares(*target, gold, reference[1]) for target in targets),
    )
