"""How candidates are gone through: search methods that keep only what leaves the answer alone."""

from __future__ import annotations

import math
from itertools import chain, islice
from typing import Any

from perturbations.goal import DECIMALS
from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.goal_function_results import GoalFunctionResultStatus  # noqa: E402
from textattack.search_methods import GreedyWordSwapWIR, SearchMethod  # noqa: E402


class BestCandidate(SearchMethod):
    """All candidates of one transformation; the admissible one that moves the answer least wins."""

    def perform_search(self, initial_result: Any) -> Any:
        """The best admissible candidate, or the original where there is none."""
        original = initial_result.attacked_text
        candidates = self.get_transformations(original, original_text=original)
        if not candidates:
            return initial_result
        results, _ = self.get_goal_results(candidates)
        return best_admissible(results) or initial_result

    @property
    def is_black_box(self) -> bool:
        """True: only the model's answers are used."""
        return True


class GreedyInvariantSwap(GreedyWordSwapWIR):
    """Goes through the words by weighted saliency, swapping where the answer stays.

    TextAttack's own method takes the candidate with the best score even if it changes the
    prediction, and builds on it; this one, as the paper's published code, takes admissible
    candidates only.

    Parameters
    ----------
    stop_at_first
        End with the first admissible swap, as in the paper; otherwise go on through the ranking,
        each swap on top of the ones before, for as many words as the constraints allow.
    """

    def __init__(self, *, stop_at_first: bool) -> None:
        super().__init__(wir_method="weighted-saliency")
        self._stop_at_first = stop_at_first

    def perform_search(self, initial_result: Any) -> Any:
        """The text after the last admissible swap, or the original where there is none."""
        original = initial_result.attacked_text
        current = initial_result
        for index in self._ranking(original):
            candidates = self.get_transformations(
                current.attacked_text, original_text=original, indices_to_modify=[index]
            )
            if not candidates:
                continue
            results, _ = self.get_goal_results(candidates)
            best = best_admissible(results)
            current = best or current
            if best and self._stop_at_first:
                break
        return current

    def _ranking(self, original: Any) -> list[int]:
        """Positions of the words by weighted saliency, greatest first; the first of equals.

        That is softmax(score without the word) times the best score of its swaps. The softmax's
        denominator is the same for all words and left out. TextAttack's own ranking leaves the
        order of equals, which are common, to a sort that differs between processors.
        """
        indices = sorted(self.get_indices_to_order(original)[1])
        without = [original.replace_word_at_index(index, self.unk_token) for index in indices]
        swaps = [
            self.get_transformations(original, original_text=original, indices_to_modify=[index])
            for index in indices
        ]
        # One question for all of it; TextAttack's own ranking asks once for each word.
        results, _ = self.get_goal_results([*without, *chain.from_iterable(swaps)])
        scores = iter([result.score for result in results])
        saliency = list(islice(scores, len(without)))
        best = [max(islice(scores, len(texts)), default=0.0) for texts in swaps]
        weights = {
            index: round(math.exp(salient) * score, DECIMALS)
            for index, salient, score in zip(indices, saliency, best, strict=True)
        }
        return sorted(indices, key=lambda index: (-weights[index], index))


def best_admissible(results: list[Any]) -> Any | None:
    """The result of highest score among those that reach the goal; the first text of equals."""
    admissible = [one for one in results if one.goal_status == GoalFunctionResultStatus.SUCCEEDED]
    return min(admissible, key=lambda one: (-one.score, one.attacked_text.text), default=None)
