"""For authors of capabilities: checks the rules that every audit relies on.

Give `check_capability` to your own tests; it needs no model and no network. The rules are those of
`scope.protocols.Capability`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from scope.errors import SpecError
from scope.protocols import Capability, DrawsRandom, SearchOptions, Swap
from scope.records import Example, Perturbation, Prediction
from scope.registry import plain_settings, require_members

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SENTENCES = (
    "The actors were wonderful, but the story did not hold my attention until the end.",
    "I don't remember a funnier evening; we laughed for almost 2 hours!",
    "A slow and careful picture about an old sailor who isn't afraid of the sea.",
    "Nobody in the room could explain why the second half was so very dull.",
    "Her voice is beautiful. It's the only reason to buy a ticket in November 2019.",
    "We do not know what the children found under the broken bridge, and we cannot guess.",
    "Emily Carter flew to Paris in May, and her brother stayed in Boston.",
    "The sailors were asleep in the harbour.",
    "Great!",
    "It is what it is.",
    "?!",
)

TRIALS = 3

_Trials = tuple[Perturbation, ...]

Found = dict[str, _Trials]
"""All trials of each example, by its id."""


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
    [Prediction(probabilities=(0.5, 0.5), truncated=False, tokens=())]
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
        words = (f"{self._seed} {word}".encode() for word in text.split())
        hashes = (int.from_bytes(hashlib.sha256(word).digest()[:4]) for word in words)
        odds = math.fsum(self._strength * (number / 2**31 - 1) for number in hashes)
        positive = round(1 / (1 + math.exp(-odds)), 6)
        return round(1 - positive, 6), positive


class AlikeWords:
    """An encoder made of nothing: every word fits every place.

    Examples
    --------
    >>> AlikeWords().encode(["a film"]).tolist(), AlikeWords().compare_words([]).tolist()
    ([[1.0]], [])
    """

    spec = "python:scope.testing:AlikeWords"
    fingerprint = "alike words"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The same vector for every text."""
        import numpy as np

        return np.ones((len(texts), 1))

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """1 for every swap."""
        import numpy as np

        return np.ones(len(swaps))


def check_capability(capability: Capability, examples: Sequence[Example] | None = None) -> None:
    """Check that a capability keeps the rules; silent when it does.

    It is described in plain words and settings, and searched for on a few sentences with 1 and
    7 texts at once, in two orders, and twice alike: every example gets all its trials, every text
    that is found is new and keeps the prediction, every failure has a reason, and nothing
    depends on how many, order or repetition. The same holds for random candidates, where the
    capability draws them.

    Parameters
    ----------
    capability
        The object itself, not its class.
    examples
        Texts in which the capability finds something to change; without them, some English
        sentences with contractions, numbers and names.

    Raises
    ------
    SpecError
        With the first rule that is broken, and how.

    Examples
    --------
    >>> check_capability(str)
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the class str
    expected: a capability or task, which is an object
    fix:      make an object of it: str()
    """
    require_members(capability, ("name", "question", "settings", "search"))
    _check_description(capability)
    plain_settings(capability.name, capability.settings())
    sample = examples or [Example(id=f"s{n}", text=text) for n, text in enumerate(_SENTENCES, 1)]
    kept = _check_searches(capability, sample, capability.search, TRIALS)
    _require(
        any(trial.text is not None for trials in kept.values() for trial in trials),
        found=f"`{capability.name}` found nothing in {len(sample)} examples",
        expected="at least one perturbation",
        fix="give `check_capability` examples that the capability can change",
    )
    if isinstance(capability, DrawsRandom):
        draw = capability.draw_random
        candidates = SearchOptions().candidates
        _check_searches(
            capability,
            sample,
            lambda _, examples, options: draw(examples, options),
            candidates,
            asks=False,
        )


def _check_description(capability: Capability) -> None:
    _require(
        re.fullmatch("[a-z][a-z0-9]*(:[a-z0-9]+)?", capability.name),
        found=f"a capability called `{capability.name}`",
        expected="one lower-case word, of letters and digits",
        fix="choose a name such as `synonym`",
    )
    _require(
        re.fullmatch(r"[A-Z].* .*\?", capability.question),
        found=f"`{capability.name}` asks: `{capability.question}`",
        expected="a whole sentence, from a capital letter to a question mark",
        fix="write it as the report should show it",
    )


_Search = Callable[[HashedWords, Iterator[Example], SearchOptions], Iterable[_Trials]]
"""A search for kept pairs, or for random candidates."""


def _check_searches(
    capability: Capability,
    sample: Sequence[Example],
    search: _Search,
    trials: int,
    *,
    asks: bool = True,
) -> Found:
    """The results of one kind of search, after checks that circumstances do not change them.

    ``asks`` says whether it asks the classifier, and keeps the prediction.
    """

    def results(examples: Sequence[Example], parallel_texts: int) -> Found:
        classifier = HashedWords()
        options = SearchOptions(encoder=AlikeWords(), trials=TRIALS, parallel_texts=parallel_texts)
        groups = list(search(classifier, iter(examples), options))
        expected = sorted(example.id for example in examples)
        ids = sorted(group[0].example_id if group else "(nothing)" for group in groups)
        _require(
            ids == expected,
            found=f"`{capability.name}` gives results for {', '.join(ids) or 'no example'}",
            expected=f"one for each of {', '.join(expected)}",
            fix="yield all trials of one example together, each example once",
        )
        asked = {text for texts in classifier.asked for text in texts}
        for trial in (trial for group in groups for trial in group):
            _require(
                trial.text is None or not asks or (trial.text in asked and trial.queries > 0),
                found=f"{_which(trial)}: {trial.text!r} with {trial.queries} queries",
                expected="a text that was sent to the classifier and counted",
                fix="send every query through the classifier that the search is given",
            )
        return {group[0].example_id: group for group in groups}

    first = results(sample, 7)
    for example in sample:
        _check_trials(example, first[example.id], trials, asks)
    for circumstances, examples, parallel_texts in (
        ("when the search is repeated", sample, 7),
        ("with 1 text at once instead of 7", sample, 1),
        ("with the examples in reverse order", sample[::-1], 7),
    ):
        again = results(examples, parallel_texts)
        for example_id, group in first.items():
            texts = [[trial.text for trial in other] for other in (group, again[example_id])]
            _require(
                group == again[example_id],
                found=f"`{capability.name}` gives another result {circumstances}: "
                f"{texts[0]} became {texts[1]}",
                expected="the same result",
                fix="use only a generator seeded by the run's seed, the "
                "example's id and the trial, and sort unordered collections",
            )
    return first


def _check_trials(example: Example, group: _Trials, trials: int, asks: bool) -> None:
    numbers = [trial.trial for trial in group if trial.example_id == example.id]
    _require(
        numbers == list(range(1, trials + 1)),
        found=f"trials {numbers} of {example.id}",
        expected=f"trials 1 to {trials}, in order",
        fix="number the trials from 1, and give a failure where nothing is found",
    )
    for number, trial in enumerate(group):
        if trial.text is None:
            _require(
                trial.failure and trial.failure.strip(),
                found=f"{_which(trial)}: a failure without a reason",
                expected="the reason in words",
                fix="say why no text was found",
            )
            continue
        _require(
            trial.text != example.text,
            found=f"{_which(trial)}: the original {trial.text!r}",
            expected="a changed text",
            fix="admit only texts that differ",
        )
        if asks:
            _check_kept(example, trial, trial.text)
        _require(
            trial.text not in [earlier.text for earlier in group[:number]],
            found=f"{_which(trial)}: {trial.text!r} once more",
            expected="another text in every trial",
            fix="refuse what earlier trials have found",
        )


def _check_kept(example: Example, trial: Perturbation, text: str) -> None:
    original, changed = HashedWords().classify([example.text, text])
    _require(
        original.label == changed.label,
        found=f"{_which(trial)}: another prediction for {text!r}",
        expected="a changed text with the prediction of the original",
        fix="admit only texts that leave the prediction alone",
    )
    _require(
        trial.score is not None and 0 < trial.score <= 1,
        found=f"{_which(trial)}: score {trial.score}",
        expected="a score above 0, at most 1",
        fix="give 1 / (1 + distance between the classifier's two answers)",
    )


def _which(trial: Perturbation) -> str:
    return f"{trial.example_id}, trial {trial.trial}"


def _require(kept: object, *, found: str, expected: str, fix: str) -> None:
    if not kept:
        raise SpecError(found, expected=expected, fix=fix)
