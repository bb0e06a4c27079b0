"""For authors of capabilities: proves that one keeps the rules that every audit relies on.

Give `check_capability` to your own tests; it needs no model and no network. The rules are those of
`scope.protocols.Capability`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from scope.errors import SpecError
from scope.protocols import Capability, SearchOptions
from scope.records import Example, Perturbation, Prediction

_SENTENCES = (
    "The actors were wonderful, but the story did not hold my attention until the end.",
    "I don't remember a funnier evening; we laughed for almost 2 hours!",
    "A slow and careful picture about an old sailor who isn't afraid of the sea.",
    "Nobody in the room could explain why the second half was so very dull.",
    "Her voice is beautiful. It's the only reason to buy a ticket in November 2019.",
    "We do not know what the children found under the broken bridge, and we cannot guess.",
    "Great!",
    "It is what it is.",
    "?!",
)

Found = dict[str, tuple[Perturbation, ...]]


class HashedWords:
    """A classifier made of nothing: each word pulls towards a label by its hash.

    It tells apart any two texts that differ in a word, also in its case or punctuation, and
    answers the same in every process. ``asked`` holds the texts of each call.

    Parameters
    ----------
    seed
        Another seed gives other weights.
    strength
        Greatest pull of a word, in log-odds; the smaller, the more changes are ignored.

    Examples
    --------
    >>> HashedWords().classify([" "])
    [Prediction(probabilities=(0.5, 0.5), truncated=False)]
    """

    spec = "python:scope.testing:HashedWords"
    labels = ("negative", "positive")

    def __init__(self, *, seed: int = 0, strength: float = 1.0) -> None:
        self.fingerprint = f"hashed words {seed} {strength}"
        self.asked: list[tuple[str, ...]] = []
        self._seed = seed
        self._strength = strength

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """The logistic function of the sum of the words' pulls, at six decimals."""
        self.asked.append(tuple(texts))
        return [Prediction(probabilities=self._probabilities(text)) for text in texts]

    def _probabilities(self, text: str) -> tuple[float, float]:
        odds = math.fsum(self._pull(word) for word in text.split())
        positive = round(1 / (1 + math.exp(-odds)), 6)
        return round(1 - positive, 6), positive

    def _pull(self, word: str) -> float:
        digest = hashlib.sha256(f"{self._seed} {word}".encode()).digest()
        return self._strength * (int.from_bytes(digest[:4]) / 2**31 - 1)


def check_capability(capability: Capability, examples: Sequence[Example] | None = None) -> None:
    """Prove that a capability keeps the rules; quiet when it does.

    It is described in plain words and settings, and searched for on a few sentences with 1 and
    7 slots, in two orders, and twice alike: every example gets all its trials, every text that is
    found is new and keeps the prediction, every failure has a reason, and nothing depends on slots,
    order or repetition.

    Parameters
    ----------
    capability
        The object itself, not its class.
    examples
        Texts in which the capability finds something to change; without them, some English
        sentences with contractions, numbers and names of months.

    Raises
    ------
    SpecError
        With the first rule that is broken, and how.

    Examples
    --------
    >>> check_capability("typo")
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    an object of class str without name, question, settings...
    expected: the members of `scope.protocols.Capability`
    to mend:  add what is missing
    """
    _check_members(capability)
    _check_description(capability)
    _check_settings(capability)
    texts = _made_up() if examples is None else tuple(examples)
    options = SearchOptions(slots=7)
    found = _search(capability, texts, options)
    for example in texts:
        _check_found(example, found[example.id], options)
    if not any(one.text is not None for trials in found.values() for one in trials):
        raise SpecError(
            f"`{capability.name}` found nothing in {len(texts)} examples",
            expected="at least one perturbation",
            mend="give `check_capability` examples that the capability can change",
        )
    for what, order, slots in (
        ("when it is repeated", texts, 7),
        ("with 1 slot instead of 7", texts, 1),
        ("when the examples come in reverse order", texts[::-1], 7),
    ):
        again = _search(capability, order, SearchOptions(slots=slots))
        _check_same(capability, found, again, what)


def _made_up() -> tuple[Example, ...]:
    return tuple(
        Example(id=f"sentence {number}", text=text) for number, text in enumerate(_SENTENCES, 1)
    )


def _check_members(capability: object) -> None:
    if isinstance(capability, type):
        raise SpecError(
            f"the class {capability.__name__}",
            expected="a capability, which is an object",
            mend=f"make one: {capability.__name__}()",
        )
    members = ("name", "question", "settings", "search")
    missing = [member for member in members if not hasattr(capability, member)]
    if missing:
        raise SpecError(
            f"an object of class {type(capability).__name__} without {', '.join(missing)}",
            expected="the members of `scope.protocols.Capability`",
            mend="add what is missing",
        )


def _check_description(capability: Capability) -> None:
    if not re.fullmatch("[a-z][a-z0-9]*", capability.name):
        raise SpecError(
            f"a capability called `{capability.name}`",
            expected="one lower-case word, of letters and digits",
            mend="choose a name such as `synonym`",
        )
    if not re.fullmatch(r"[A-Z].* .*\?", capability.question):
        raise SpecError(
            f"`{capability.name}` asks: `{capability.question}`",
            expected="a whole sentence, from a capital letter to a question mark",
            mend="write what is asked of the models, as the report is to show it",
        )


def _check_settings(capability: Capability) -> None:
    settings: object = capability.settings()
    if not isinstance(settings, Mapping):
        raise SpecError(
            f"`{capability.name}` has settings of class {type(settings).__name__}",
            expected="a mapping from names to values",
            mend="return a dict, an empty one where there is nothing to set",
        )
    for key, value in settings.items():
        plain = value is None or isinstance(value, str | int | float)
        finite = not isinstance(value, float) or math.isfinite(value)
        if not (isinstance(key, str) and plain and finite):
            raise SpecError(
                f"`{capability.name}` has the setting {key!r}: {value!r}",
                expected="a name with a text, a finite number, a truth value or None",
                mend="write the value as text",
            )


def _search(capability: Capability, examples: Sequence[Example], options: SearchOptions) -> Found:
    """What is found by example, after a look at what must hold for the search as a whole."""
    classifier = HashedWords()
    groups = list(capability.search(classifier, iter(examples), options))
    found = {group[0].example_id: group for group in groups if group}
    expected = sorted(example.id for example in examples)
    if sorted(group[0].example_id if group else "" for group in groups) != expected:
        raise SpecError(
            f"`{capability.name}` gave {len(groups)} results, for {sorted(found)}",
            expected=f"one for each of {expected}",
            mend="yield all trials of one example together, each example once",
        )
    asked = {text for texts in classifier.asked for text in texts}
    for one in (one for group in groups for one in group):
        if one.text is not None and (one.text not in asked or one.queries < 1):
            raise SpecError(
                f"{_which(one)}: {one.text!r} with {one.queries} queries",
                expected="a text that the classifier was asked for, and counted",
                mend="put every question through the classifier that the search is given",
            )
    return found


def _check_found(example: Example, trials: Sequence[Perturbation], options: SearchOptions) -> None:
    numbers = [(one.example_id, one.trial) for one in trials]
    if numbers != [(example.id, trial) for trial in range(1, options.trials + 1)]:
        raise SpecError(
            f"(example, trial) in this order: {numbers}",
            expected=f"trials 1 to {options.trials} of {example.id}",
            mend="number the trials from 1 and give a failure where nothing is found",
        )
    for one in trials:
        _check_one(example, one)
    texts = sorted(one.text for one in trials if one.text is not None)
    for first, second in pairwise(texts):
        if first == second:
            raise SpecError(
                f"two trials of {example.id} found {first!r}",
                expected="another text in every trial",
                mend="refuse what earlier trials have found",
            )


def _check_one(example: Example, one: Perturbation) -> None:
    if one.text is None:
        if not (one.failure and one.failure.strip()):
            raise SpecError(
                f"{_which(one)}: a failure without a reason",
                expected="the reason in words",
                mend="say why no text was found",
            )
        return
    original, changed = HashedWords().classify([example.text, one.text])
    if one.text == example.text or original.label != changed.label:
        flaw = "the original" if one.text == example.text else "another prediction for"
        raise SpecError(
            f"{_which(one)}: {flaw} {one.text!r}",
            expected="a changed text with the prediction of the original",
            mend="admit only texts that differ and leave the prediction alone",
        )
    if one.score is None or not 0 < one.score <= 1:
        raise SpecError(
            f"{_which(one)}: score {one.score}",
            expected="a score above 0, at most 1",
            mend="give 1 / (1 + distance between the classifier's two answers)",
        )


def _check_same(capability: Capability, found: Found, again: Found, what: str) -> None:
    for example_id, trials in found.items():
        for first, second in zip(trials, again[example_id], strict=False):
            if first != second:
                raise SpecError(
                    f"`{capability.name}` finds {second} {what}, before it was {first}",
                    expected="the same result",
                    mend="draw chance from a generator seeded by the run's seed, the example's id "
                    "and the trial alone, and sort what has no order",
                )


def _which(one: Perturbation) -> str:
    return f"{one.example_id}, trial {one.trial}"
