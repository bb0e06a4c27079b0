"""The greedy synonym search and the search for the best candidate, in plain loops.

Written from DESIGN and the paper without TextAttack. A text is a list of words joined by blanks;
`probabilities` answers one text.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence

Probabilities = Callable[[str], Sequence[float]]


def score(probabilities: Probabilities, original: str, changed: str) -> float:
    if changed == original:
        return 0.0
    pairs = zip(probabilities(original), probabilities(changed), strict=True)
    distance = sum(abs(p - q) for p, q in pairs)
    return round(1 / (1 + round(distance, 6)), 6)


def label(probabilities: Probabilities, text: str) -> int:
    answer = list(probabilities(text))
    return answer.index(max(answer))


def best_of(
    probabilities: Probabilities, original: str, candidates: Sequence[str], taken: Collection[str]
) -> str | None:
    """The admissible candidate of greatest score, the first in the alphabet among equals."""
    best = None
    for candidate in sorted(candidates):
        if candidate == original or candidate in taken:
            continue
        if label(probabilities, candidate) != label(probabilities, original):
            continue
        if best is None or score(probabilities, original, candidate) > score(
            probabilities, original, best
        ):
            best = candidate
    return best


def greedy_swap(
    words: Sequence[str],
    table: Mapping[str, Sequence[str]],
    probabilities: Probabilities,
    taken: Collection[str] = (),
    most: int | None = None,
) -> str | None:
    """The text after the first admissible swap, or after up to ``most`` of them."""
    original = " ".join(words)
    weights = []
    for index, word in enumerate(words):
        without = score(probabilities, original, _with(words, index, "[UNK]"))
        swaps = [_with(words, index, other) for other in table.get(word, ())]
        best = max((score(probabilities, original, swap) for swap in swaps), default=0.0)
        weights.append(round(math.exp(without) * best, 6))
    # Equals stay in their order.
    order = sorted(range(len(words)), key=lambda index: -weights[index])
    current, swapped = list(words), 0
    for index in order:
        candidates = [_with(current, index, other) for other in table.get(words[index], ())]
        best_text = best_of(probabilities, original, candidates, taken)
        if best_text is None or swapped == (most or 1):
            continue
        current, swapped = best_text.split(" "), swapped + 1
    return " ".join(current) if swapped else None


def _with(words: Sequence[str], index: int, other: str) -> str:
    return " ".join([*words[:index], other, *words[index + 1 :]])
