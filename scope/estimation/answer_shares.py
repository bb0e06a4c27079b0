"""Detects degenerate models, such as those that give one answer to everything.

Whether a model answers a task's questions at all, or gives one answer to everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from scope.records import (
    GOLD,
    Answer,
    AnswerShares,
    Estimate,
    Item,
    Measurement,
    TaskAnswers,
    TaskShares,
    Undefined,
)
from scope.records.estimates import FEWEST_TEXTS, UNANSWERABLE, brief
from scope.records.examples import Prediction
from scope.statistics.intervals import mean_estimate

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

NO_LABELS = "no text has a known right answer"


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
    return mean_estimate(list(alike.values()), list(alike), empty=NO_LABELS)


def gives_one_answer(
    answers: Mapping[str, str],
    gold: Mapping[str, str],
    reference: Mapping[str, str] | None = None,
    texts: tuple[str, str] = ("texts", "gold label"),
) -> str | None:
    """The reason why a model's answers are nearly all the same; None if they are not.

    The parameters are those of `answer_shares`, and what is asked and right in words. The accuracy
    of the answers is not considered.

    Examples
    --------
    >>> texts = [str(place) for place in range(10)]
    >>> gives_one_answer(dict.fromkeys(texts, "A"), dict(zip(texts, "ABABABABAB")))
    'it answers `A` to 10 of 10 texts, while no gold label exceeds 5 of 10'
    """
    of_gold = len(gold) >= FEWEST or reference is None
    expected = gold if of_gold else reference or {}
    asked, known, (questions, right) = len(answers), len(expected), texts
    answer, times = Counter(answers.values()).most_common(1)[0] if answers else ("", 0)
    if not answers or times < ONE_ANSWER * asked:
        return None
    most = max(Counter(expected.values()).values(), default=0)
    if min(asked, known) >= FEWEST and most <= SKEWED * known:
        whose = right if of_gold else "answer of the reference"
        opening = f"it answers `{answer}` to {times} of {asked} {questions}"
        return f"{opening}, while no {whose} exceeds {most} of {known}"
    others = [
        answers[example]
        for example, label in expected.items()
        if label != answer and example in answers
    ]
    if len(others) >= FEWEST and set(others) == {answer}:
        whose = f"whose {right} is another" if of_gold else "that the reference answers otherwise"
        return f"it answers `{answer}` to all {len(others)} {questions} {whose}"
    if times == asked >= FEWEST > known:
        few = f"only {known} of them" if known else "none of them"
        return f"it answers `{answer}` to all {asked} {questions}, and {few} has a {right}"
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


SILENT = 0.25
"""A model that leaves more questions, or texts, without an answer is degenerate, and no control."""

FREQUENT = 0.10
"""A warning names an answer in words that makes up more of a model's answers,"""

FEWEST_REPEATS = 3
"""if it is given so often: of few answers, two may well be the same."""


class Named(NamedTuple):
    """Answers by name: one mapping a model, and the right ones, by the questions' ids."""

    what: str
    models: Mapping[str, Mapping[str, str]]
    gold: Mapping[str, Collection[str]]


def task_shares(
    answers: TaskAnswers, models: Sequence[str], measured: Sequence[Measurement]
) -> tuple[TaskShares, ...]:
    """How often each model gives each answer, and whether it is degenerate.

    A choice has two names: its letter, since a model may always choose the first option, and,
    where all questions have the same options, its text, since their order may differ. Cohen's κ
    is that of letters; texts are not drawn from a fixed set, and have none.

    Parameters
    ----------
    answers
        The items, and one row of answers a model.
    models
        The models' names, in the order of the rows.
    measured
        The measurements of the task, among them each model's accuracy or exact match.
    """
    every = list(_names(answers, models))
    has_options = every[0].what == "option"
    accuracies = {
        row.target: row.estimate
        for row in measured
        if row.against == GOLD and row.subset is None and row.metric in ("accuracy", "exact_match")
    }
    shares = []
    for model, row in zip(models, answers.answers, strict=True):
        asked = sum(answer.asked for answer in row)
        counts = Counter(every[-1].models[model].values())
        accuracy = accuracies[model]
        reasons = (
            *(_one_answer(named, model) for named in every),
            silent(row),
            _may_only_guess(accuracy, every[0], model) if has_options else None,
        )
        shares.append(
            TaskShares(
                task=answers.task,
                model=model,
                counts=dict(counts.most_common()),
                asked=asked,
                accuracy=accuracy,
                degenerate=next(filter(None, reasons), None),
                warning=None if has_options else _frequent(every[-1], model),
            )
        )
    return tuple(shares)


def _names(answers: TaskAnswers, models: Sequence[str]) -> Iterator[Named]:
    """The answers by every name that they have."""

    def named(
        what: str, name: Callable[[Item, Answer], str], right: Callable[[Item], Collection[str]]
    ) -> Named:
        rows = (
            {
                item.question.id: name(item, answer)
                for item, answer in zip(answers.items, row, strict=True)
                if answer.given
            }
            for row in answers.answers
        )
        gold = {item.question.id: right(item) for item in answers.items}
        known = {id_: names for id_, names in gold.items() if names}
        return Named(what, dict(zip(models, rows, strict=True)), known)

    def of_options(words: Callable[[Item, int], str]) -> Named:
        return named(
            "option",
            lambda item, answer: "" if answer.choice is None else words(item, answer.choice),
            lambda item: () if item.right is None else (words(item, item.right),),
        )

    if not any(item.question.options for item in answers.items):
        yield named(
            "answer",
            lambda item, answer: (
                (item.gold[0] if item.gold and answer.score == 1 else answer.text) or UNANSWERABLE
            ),
            lambda item: [text or UNANSWERABLE for text in item.gold],
        )
        return
    yield of_options(lambda _, option: chr(ord("A") + option))
    if len({frozenset(item.question.options) for item in answers.items}) == 1:
        yield of_options(lambda item, option: item.question.options[option])


def _most_common(names: Mapping[str, str]) -> tuple[str, int]:
    return Counter(names.values()).most_common(1)[0]


def _one_answer(named: Named, model: str) -> str | None:
    """Why one answer is too frequent, compared with how often it is right.

    Where gold is skewed, it is if all questions with other right answers are answered with it.
    Where too few right answers are known, it shows nothing: models that give one answer each agree
    by that alone, and what others answer does not show whether it is right.
    """
    answers = named.models[model]
    if not answers or _most_common(answers)[1] < ONE_ANSWER * len(answers):
        return None
    (answer, times), asked, known = _most_common(answers), len(answers), len(named.gold)
    right = Counter(chain.from_iterable(map(set, named.gold.values())))
    most = max(right.values(), default=0)
    # Words may be right in another spelling; an option is right or it is not.
    expected = right[answer] if named.what == "option" else most
    opening = f"it gives the {named.what} `{brief(answer)}` to"
    if min(asked, known) >= FEWEST and expected <= SKEWED * known:
        opening += f" {times} of {asked} questions"
        if most > SKEWED * known:
            return f"{opening}, and is right for {expected} of {known} with it"
        return f"{opening}, while no right {named.what} exceeds {most} of {known}"
    others = [
        answers[item]
        for item, names in named.gold.items()
        if item in answers
        if answer not in names
    ]
    if len(others) >= FEWEST and set(others) == {answer}:
        return f"{opening} all {len(others)} questions to which another is right"
    if asked >= FEWEST > known:
        of_whole = f"all {times}" if times == asked else f"{times} of {asked}"
        of_gold = f"only {known} of them have" if known else "none of them has"
        return f"{opening} {of_whole} questions, and {of_gold} a known right answer"
    return None


def silent(row: Sequence[Answer | Prediction], questions: str = "questions") -> str | None:
    """Why a model answers too little, with the reasons that are known."""
    counted = [answer for answer in row if getattr(answer, "asked", True)]
    asked, missing = len(counted), [answer.missing for answer in counted if not answer.given]
    if asked < FEWEST or len(missing) <= SILENT * asked:
        return None
    reasons = ", ".join(f"{why} {n}" for why, n in Counter(filter(None, missing)).most_common())
    opening = f"it gives no answer to {len(missing)} of {asked} {questions}"
    opening += f" ({reasons})" if reasons else ""
    return f"{opening}; {cut}" if (cut := cut_thoughts(row)) else opening


IN_A_THOUGHT = "replies end inside a thought"


def cut_thoughts(row: Sequence[Answer | Prediction]) -> str:
    """What to do where more than a quarter of the replies end inside a thought; or empty."""
    asked = sum(getattr(answer, "asked", True) for answer in row)
    cut = sum(answer.missing == "thought not finished" for answer in row)
    words = f"{cut} of {asked} {IN_A_THOUGHT}: serve the model without thinking, or "
    words += "use --thinking on or, for answers in words, a larger --max-answer-tokens"
    return words if cut > SILENT * asked else ""


def _may_only_guess(accuracy: object, named: Named, model: str) -> str | None:
    """Why its choices have next to nothing to do with gold.

    κ is bounded by the accuracy's interval, with the agreement by chance as it was seen; a choice
    that was not made is wrong.
    """
    if not isinstance(accuracy, Estimate) or accuracy.n < ENOUGH_LABELS:
        return None
    counts = Counter(
        named.models[model][item] for item in named.gold if item in named.models[model]
    )
    right = Counter(chain.from_iterable(named.gold.values()))
    chance = sum(counts[name] * right[name] for name in counts) / (accuracy.n * len(named.gold))
    return near_chance(accuracy, chance, "accuracy", f"{accuracy.n} questions")


def _frequent(named: Named, model: str) -> str | None:
    """Which answer is given too often, and mostly wrongly.

    Questions that a model correctly calls unanswerable are left out.
    """
    kept = {
        item: answer
        for item, answer in named.models[model].items()
        if answer != UNANSWERABLE or UNANSWERABLE not in named.gold.get(item, ())
    }
    if not kept:
        return None
    answer, times = _most_common(kept)
    if times < FEWEST_REPEATS or times <= FREQUENT * len(kept):
        return None
    known = [named.gold[item] for item in kept if kept[item] == answer if item in named.gold]
    right = sum(answer in names for names in known)
    if 2 * right >= times:
        return None
    told = f", and is right for {right}" if known else ""
    apart = len(named.models[model]) - len(kept)
    return (
        f"`{brief(answer)}` makes up {times} of {len(kept)} answers "
        f"({100 * times / len(kept):.0f} %){told}"
        + (f"; {apart} more are correctly unanswerable" if apart else "")
    )
