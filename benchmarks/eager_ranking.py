"""The ranked search that asks about all swaps of all words before it takes one.

The baselines of search_speed.py search in this way, as the paper's code and TextAttack do; SCoPE's
own search finds the same with fewer queries.
"""

from __future__ import annotations

import math
from itertools import chain, islice
from typing import Any

from perturbations.search import DECIMALS, GreedyInvariantSwap, best_admissible


class EagerInvariantSwap(GreedyInvariantSwap):
    """Weighs every word, then goes through the words in this order to the first admissible swap.

    Parameters
    ----------
    word_by_word
        Rank the words by TextAttack's own code, which asks about one word after the other.
    """

    def __init__(self, *, word_by_word: bool = False) -> None:
        super().__init__(stop_at_first=True)
        self._word_by_word = word_by_word

    def perform_search(self, initial_result: Any) -> Any:
        """The text after the first admissible swap, or the original where there is none."""
        original = initial_result.attacked_text
        ranking = self._get_index_order(original)[0] if self._word_by_word else self._all(original)
        for index in map(int, ranking):
            results = self._results(self._swaps(original, original, index))
            if best := best_admissible(results):
                return best
        return initial_result

    def _all(self, original: Any) -> list[int]:
        """Positions of the words by weighted saliency, greatest first, after a single question."""
        indices = sorted(self.get_indices_to_order(original)[1])
        without = [original.replace_word_at_index(index, self.unk_token) for index in indices]
        swaps = [self._swaps(original, original, index) for index in indices]
        results = self._results([*without, *chain.from_iterable(swaps)])
        scores = iter([result.score for result in results])
        saliency = list(islice(scores, len(without)))
        best = [max(islice(scores, len(texts)), default=0.0) for texts in swaps]
        weights = {
            index: round(math.exp(salient) * score, DECIMALS)
            for index, salient, score in zip(indices, saliency, best, strict=True)
        }
        return sorted(indices, key=lambda index: (-weights[index], index))
