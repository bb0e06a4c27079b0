"""How a search goes through the changes of a text, to one that keeps the reference's answer.

With the searches of TextAttack's recipes, which look for the same.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal
from unittest.mock import patch

import numpy as np

from perturbations.lexicon import wordnet
from perturbations.textattack_gate import load_textattack
from perturbations.transformations import WordReplacements
from scope.errors import SpecError
from scope.metrics.arrays import open_rows
from scope.records import Prediction

load_textattack()

from textattack.goal_function_results import GoalFunctionResultStatus, TextToTextGoalFunctionResult  # noqa: E402
from textattack.goal_functions import ClassificationGoalFunction  # noqa: E402
from textattack.search_methods import GreedyWordSwapWIR, SearchMethod  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.shared.validators import MODELS_BY_GOAL_FUNCTION  # noqa: E402


class FewestChanges(SearchMethod):
    """All single changes, then further changes of the best, until one is admissible.

    The best admissible text of a step wins. Where a step has none, as those of earlier trials do
    not count, the next one builds on its best text. TextAttack's ``GreedySearch`` looks at the
    best text of a step alone, admissible or not.

    Parameters
    ----------
    steps
        How many changes a text may take.
    """

    def __init__(self, *, steps: int = 4) -> None:
        self._steps = steps

    def perform_search(self, initial_result: Any) -> Any:
        """The first admissible text, or the original where there is none."""
        original = initial_result.attacked_text
        current = original
        for _ in range(self._steps):
            candidates = self.get_transformations(current, original_text=original)
            results = self.get_goal_results(candidates)[0] if candidates else []
            if best := best_admissible(results):
                return best
            furthest = _best(results)
            if furthest is None:
                break
            current = furthest.attacked_text
        return initial_result

    @property
    def is_black_box(self) -> bool:
        """True: only the model's answers are used."""
        return True


class BestCandidate(FewestChanges):
    """All candidates of one transformation; the admissible one that moves the answer least wins."""

    def __init__(self) -> None:
        super().__init__(steps=1)


class GreedyInvariantSwap(GreedyWordSwapWIR):
    """Goes through the words by weighted saliency, swapping where the answer stays.

    TextAttack's own method takes the candidate with the best score even if it changes the
    prediction, and builds on it; this one, as the paper's published code, takes admissible
    candidates only. It asks about no more swaps than the result depends on; see `WordsByWeight`.

    Parameters
    ----------
    stop_at_first
        End with the first admissible swap, as in the paper; otherwise go on through the ranking,
        each swap on top of the ones before, for as many words as the constraints allow.

    Attributes
    ----------
    queries_saved
        Queries of the latest search that a ranking of all words would have asked, too.
    """

    def __init__(self, *, stop_at_first: bool) -> None:
        super().__init__(wir_method="weighted-saliency")
        self._stop_at_first = stop_at_first
        self.queries_saved = 0

    def perform_search(self, initial_result: Any) -> Any:
        """The text after the last admissible swap, or the original where there is none."""
        words = self.words_by_weight(initial_result.attacked_text)
        result = self._first_found(initial_result, words)
        self.queries_saved = words.queries_saved
        return result

    def words_by_weight(self, original: Any) -> WordsByWeight:
        """The words of a text in their order, and the results of their swaps."""
        indices = sorted(self.get_indices_to_order(original)[1])
        swaps = {index: self._swaps(original, original, index) for index in indices}
        swapped = [index for index in indices if swaps[index]]
        without = [original.replace_word_at_index(index, self.unk_token) for index in swapped]
        saliency = [result.score for result in self._results(without)]
        return WordsByWeight(swaps, dict(zip(swapped, saliency, strict=True)), self._results)

    def _first_found(self, initial_result: Any, words: WordsByWeight) -> Any:
        original, current = initial_result.attacked_text, initial_result
        for index, swapped in words:
            results = swapped
            if current is not initial_result:
                if not any(
                    self._swaps(current.attacked_text, original, place) for place in words.left
                ):
                    break
                results = self._results(self._swaps(current.attacked_text, original, index))
            best = best_admissible(results)
            if best and self._stop_at_first:
                return best
            current = best or current
        return current

    def _swaps(self, text: Any, original: Any, index: int) -> list[Any]:
        swaps: list[Any] = self.get_transformations(
            text, original_text=original, indices_to_modify=[index]
        )
        return swaps

    def _results(self, texts: list[Any]) -> list[Any]:
        results: list[Any] = self.get_goal_results(texts)[0] if texts else []
        return results


class WordsByWeight:
    """The words of a text by weighted saliency, greatest first; the first of equals.

    The weight of a word is softmax(score without the word) times the best score of its swaps. The
    softmax's denominator is the same for all words and left out. TextAttack's own ranking leaves
    the order of equals, which are common, to a sort that differs between processors.

    No score exceeds 1, so exp(score without the word) bounds the weight of a word whose swaps have
    not been asked about. Words are asked about one by one, by falling bound, and a word is given
    once no bound that is left could put another before it: the order is that of all weights, and
    whoever ends early has asked less. A word without swaps weighs 0, whatever the text is without
    it.

    Parameters
    ----------
    swaps
        The changed texts of each word, by its place.
    saliency
        The score of the text without the word, for every word that has swaps.
    judge
        From texts to their results, in one question.

    Attributes
    ----------
    left
        Places of the words that have not been given, that of the latest among them.
    """

    def __init__(
        self,
        swaps: Mapping[int, list[Any]],
        saliency: Mapping[int, float],
        judge: Callable[[list[Any]], list[Any]],
    ) -> None:
        self._swaps = swaps
        self._judge = judge
        self._factor = {index: math.exp(salient) for index, salient in saliency.items()}
        bounds = [(-round(factor, DECIMALS), index) for index, factor in self._factor.items()]
        self._unasked = sorted(bounds, reverse=True)
        self._asked = [(0.0, index) for index in swaps if index not in saliency]
        self._results: dict[int, list[Any]] = {index: [] for _, index in self._asked}
        self.left = set(swaps)

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """Each word's place with the results of its swaps."""
        while self._asked or self._unasked:
            if self._unasked and not (self._asked and min(self._asked) < self._unasked[-1]):
                self._ask()
                continue
            weight = min(self._asked)
            self._asked.remove(weight)
            yield weight[1], self._results[weight[1]]
            self.left.discard(weight[1])

    def _ask(self) -> None:
        """Ask about the swaps of the word of greatest bound."""
        _, index = self._unasked.pop()
        results = self._judge(self._swaps[index])
        best = max(result.score for result in results)
        self._results[index] = results
        self._asked.append((-round(self._factor[index] * best, DECIMALS), index))

    @property
    def queries_saved(self) -> int:
        """Queries that a ranking of all words asks and this one has not asked."""
        never = [index for index in self._swaps if index not in self._factor]
        return len(never) + sum(len(self._swaps[index]) for _, index in self._unasked)


def best_admissible(results: list[Any]) -> Any | None:
    """The result of highest score among those that reach the goal; the first text of equals."""
    return _best(
        result for result in results if result.goal_status == GoalFunctionResultStatus.SUCCEEDED
    )


def _best(results: Iterable[Any]) -> Any | None:
    return min(results, key=lambda result: (-result.score, result.attacked_text.text), default=None)


def admissible_changes(attack: Any, text: str) -> list[AttackedText]:
    """The admissible changes of a text, ordered by their texts."""
    original = AttackedText(text)
    if not original.words:
        return []
    return sorted(
        attack.get_transformations(original, original),
        key=lambda transformation: str(transformation.text),
    )


def grown(attack: Any, text: AttackedText, generator: random.Random) -> AttackedText:
    """The text after a random change of each further word that the constraints let change."""
    original = text.attack_attrs["previous_attacked_text"]
    places = list(range(len(original.words)))
    generator.shuffle(places)
    for place in places:
        changes = attack.get_transformations(text, original, indices_to_modify=[place])
        if changes:
            text = generator.choice(sorted(changes, key=lambda change: str(change.text)))
    return text


Distance = Literal["l1", "kl"]
Goal = Literal["formula", "released"]
DECIMALS = 6
"""Scores are compared at this precision; what is equal then is ordered by text."""

_SMALLEST = 10.0**-DECIMALS

MOST_STEPS = 20_000
"""Steps of one search. Those that come with TextAttack take at most some hundred for a text of
ordinary length; one that changes words back and forth would never end."""

STEPS_TO_GROW = 100
"""A search that has taken more steps must not have made a text several times as long."""


def distance_between(original: Any, changed: Any, distance: Distance) -> float:
    """How far an answer moved: L1 norm of the difference (0 to 2), or KL divergence in nats.

    For KL, probabilities of 0 count as the smallest that predictions can hold, 1e-6.

    Examples
    --------
    >>> distance_between([0.9, 0.1], [0.7, 0.3], "l1")
    0.4
    """
    p, q = np.asarray(original, dtype=float), np.asarray(changed, dtype=float)
    if distance == "l1":
        return round(float(np.abs(p - q).sum()), DECIMALS)
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    return round(max(0.0, float((p * np.log(p / q)).sum())), DECIMALS)


class KeepsPrediction(ClassificationGoalFunction):
    """Reached by a new text on which the model predicts what it predicts on the original.

    The score is s(x') = 1 / (1 + distance) and 0 for the original itself. The paper's published
    code asks the model for the original again with every candidate; here it is asked once.

    A language model predicts its likeliest next token. Its answers name other tokens for every
    text: each candidate is compared with the original over the tokens that either names, and the
    rest, which never is the prediction.

    Parameters
    ----------
    model
        From a list of texts to one row of probabilities, or one `Prediction`, a text.
    distance
        L1 as in the paper, or KL.
    goal
        ``formula``: the distance of the paper's text. ``released``: as in the paper's published
        code, which applies a second softmax to the answer on the changed text, not to that on the
        original; where the model is sure of the original, the surest candidate wins. For labels
        alone.
    taken
        Texts that do not count as new: the perturbations of earlier trials.

    Attributes
    ----------
    tried
        Whether the search has come up with any changed text; what it asks only to rank the
        words does not count.
    """

    def __init__(
        self,
        model: Callable[[list[str]], Sequence[Any]],
        *,
        distance: Distance = "l1",
        goal: Goal = "formula",
        taken: Sequence[str] = (),
    ) -> None:
        # All of a step's candidates in one question: TextAttack's default would cut it in 32s.
        super().__init__(_Wrapped(model), model_batch_size=2**30)
        self._distance: Distance = distance
        self._goal: Goal = goal
        self._taken = frozenset(taken)
        self.tried = False

    def init_attack_example(self, attacked_text: AttackedText, ground_truth_output: int) -> Any:
        """Start on a new original; its answer is asked for here, and only here."""
        self._original_text = attacked_text.text
        self._original = self._call_model([attacked_text])[0]
        self._steps = 0
        return super().init_attack_example(attacked_text, ground_truth_output)

    def get_results(
        self, attacked_text_list: list[AttackedText], check_skip: bool = False
    ) -> tuple[list[Any], bool]:
        """Judge these texts; the flag says whether a budget of queries is used up."""
        self._steps += 1
        longest = max((len(text.text) for text in attacked_text_list), default=0)
        grows = self._steps > STEPS_TO_GROW and longest > 4 * len(self._original_text) + 1_000
        if self._steps > MOST_STEPS or grows:
            text = f", with a text of {longest:,} characters" if grows else ""
            raise SpecError(
                f"a search that has not ended after {self._steps - 1} steps{text}",
                expected="a search that runs out of changes",
                fix="add the constraint RepeatModification, or choose a search that takes few "
                "steps, such as FewestChanges or BestCandidate",
            )
        # Only a transformation leaves this mark; a ranking replaces or deletes words itself.
        changed = ("last_transformation" in text.attack_attrs for text in attacked_text_list)
        self.tried = self.tried or any(changed)
        results, used_up = super().get_results(attacked_text_list, check_skip=check_skip)
        return results, used_up

    def _is_goal_complete(self, model_output: Any, attacked_text: AttackedText) -> bool:
        return bool(
            _predicted(model_output) == _predicted(self._original)
            and attacked_text.text != self._original_text
            and attacked_text.text not in self._taken
        )

    def _get_score(self, model_output: Any, attacked_text: AttackedText) -> float:
        if attacked_text.text == self._original_text:
            return 0.0
        original, changed = self._original, model_output
        if not isinstance(changed, Prediction) and not len(changed):
            return 0.0
        if isinstance(changed, Prediction) and None not in (original.support, changed.support):
            moved = abs(changed.support - original.support) / max(1, original.scored_tokens)
            return round(float(1 / (1 + moved)), DECIMALS)
        if isinstance(changed, Prediction):
            original, changed = open_rows([original, changed])
        elif self._goal == "released":
            changed = np.exp(changed) / np.exp(changed).sum()
        moved = distance_between(original, changed, self._distance)
        return round(1 / (1 + moved), DECIMALS)

    def _process_model_outputs(self, inputs: Any, scores: Sequence[Any]) -> list[Any]:
        # The answers are probabilities already; TextAttack would apply a softmax to any row whose
        # rounded sum is not 1 to the last digit.
        return [row if isinstance(row, Prediction) else np.asarray(row, float) for row in scores]

    def _get_displayed_output(self, raw_output: Any) -> int | str | float:
        return _predicted(raw_output)

    def _goal_function_result_type(self) -> Any:
        # A token is shown as it stands; TextAttack would look for its number in a row.
        if isinstance(self._original, Prediction):
            return TextToTextGoalFunctionResult
        return super()._goal_function_result_type()


# TextAttack's list of the models that a goal can judge: these take any. A goal that is not on the
# list is warned about twice in every attack.
MODELS_BY_GOAL_FUNCTION[KeepsPrediction] = [".*"]


class _Wrapped:
    """The shape in which TextAttack expects a model."""

    def __init__(self, model: Callable[[list[str]], Sequence[Any]]) -> None:
        self.model = model

    def __call__(self, texts: list[str]) -> list[Any]:
        return [_plain(answer) for answer in self.model(texts)]


def _plain(answer: Any) -> Any:
    """A language model's prediction as it is, and all else as a list of probabilities."""
    if isinstance(answer, Prediction):
        if answer.tokens:
            return answer
        answer = answer.probabilities
    # A list: TextAttack would join rows that are arrays into one.
    return np.asarray(answer, dtype=float).tolist()


def _predicted(answer: Any) -> int | str | float:
    """The token, or the place of the most probable label; the first of equals; -1 without any."""
    if isinstance(answer, Prediction):
        return answer.choice
    return int(np.argmax(answer)) if len(answer) else -1


class StableWordRanking(GreedyWordSwapWIR):
    """TextAttack's method, but words of equal rank in the order of the text.

    Its own ranking leaves these to a sort that differs between processors.
    """

    def _get_index_order(self, initial_text: Any, max_len: int = -1) -> tuple[list[int], bool]:
        indices = sorted(self.get_indices_to_order(initial_text)[1])
        without = [
            initial_text.replace_word_at_index(
                index, "" if self.wir_method == "delete" else self.unk_token
            )
            for index in indices
        ]
        results, over = self.get_goal_results(without)
        rank = {index: result.score for index, result in zip(indices, results, strict=False)}
        if self.wir_method == "weighted-saliency":
            rank = {
                index: math.exp(rank[index]) * self._best_swap(initial_text, index)
                for index in rank
            }
        return sorted(rank, key=lambda index: (-round(rank[index], DECIMALS), index)), over

    def _best_swap(self, text: Any, index: int) -> float:
        swaps = self.get_transformations(text, original_text=text, indices_to_modify=[index])
        results = self.get_goal_results(swaps)[0] if swaps else []
        return max((result.score for result in results), default=0.0)


def recipe_parts(class_name: str) -> tuple[Any, list[Any], Any]:
    """The transformation, constraints and search method of TextAttack's recipe, for one search.

    What depends on the process or the processor is exchanged for what finds the same words: the
    synonyms of ``WordSwapWordNet`` come in a fixed order, and words of equal rank in that of the
    text.
    """
    attack = _built(class_name)
    search = attack.search_method
    if isinstance(search, GreedyWordSwapWIR):
        search = StableWordRanking(wir_method=search.wir_method, unk_token=search.unk_token)
    constraints = [*attack.constraints, *attack.pre_transformation_constraints]
    return copy.copy(attack.transformation), list(map(copy.copy, constraints)), copy.copy(search)


@cache
def _built(class_name: str) -> Any:
    """The recipe as TextAttack builds it, once: some load models."""
    import textattack.attack_recipes

    # Of those listed, PWWS alone uses that class, which downloads a corpus when it is made.
    # The check of the model that the goal asks warns, as there is none.
    with (
        patch(
            "textattack.attack_recipes.pwws_ren_2019.WordSwapWordNet",
            lambda: WordReplacements(wordnet().synonyms),
        ),
        patch("textattack.shared.validators.validate_model_goal_function_compatibility"),
    ):
        return getattr(textattack.attack_recipes, class_name).build(_NoModel())


class _NoModel:
    """Stands where a recipe expects the model that its goal asks."""

    model = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Never asked: the goal is exchanged."""
        return [[0.5, 0.5] for _ in texts]
