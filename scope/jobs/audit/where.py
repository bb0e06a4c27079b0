"""Where a target answers otherwise than the reference: by its confidence, and the worst slice.

A slice is a part of the unchanged texts: by the reference's confidence and label, the gold label,
the length of the text, and the columns of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.records import ScoredExample, are_clustered

FEWEST = 20
"""Texts that a slice, and all others together, have at least."""

_CUT, _SURE = 0.75, 0.95

Mask = NDArray[np.bool_]


class Slice(NamedTuple):
    """A slice, its texts, and the share of same answers in it.

    ``expected`` is the yardstick's share there, or else that of the target's other texts of the
    same confidence; ``p_value`` is that of a share this much lower by chance in any of the
    ``slices``, 1 for texts in clusters.
    """

    name: str
    texts: int
    same: float
    expected: float
    p_value: float
    slices: int


def same_answers(examples: Sequence[ScoredExample], place: int) -> Mask:
    """Whether a target's answer to each text is the reference's."""
    return np.array([text.targets[place].choice == text.reference.choice for text in examples])


def confidence_of(examples: Sequence[ScoredExample]) -> NDArray[np.float64]:
    """The probability of the reference's answer to each text."""
    return np.array([max(text.reference.probabilities, default=0.0) for text in examples])


def unsure_below(confidence: NDArray[np.float64]) -> float | None:
    """The confidence up to which the reference is unsure: .75, or else the lower quartile.

    None where neither leaves enough texts on both sides.

    Examples
    --------
    >>> unsure_below(np.linspace(0.5, 1, 101)), unsure_below(np.linspace(0.9, 1, 101))
    (0.75, 0.925)
    """
    for cut in (_CUT, round(float(np.quantile(confidence, 0.25)), 3)):
        if FEWEST <= (confidence <= cut).sum() <= len(confidence) - FEWEST:
            return cut
    return None


def slices_of(examples: Sequence[ScoredExample], labels: Sequence[str]) -> Mapping[str, Mask]:
    """The texts of each slice by its name."""
    confidence = confidence_of(examples)
    lengths = np.array([len(text.example.text) for text in examples])
    short, long = np.quantile(lengths, [1 / 3, 2 / 3])
    masks = {f"texts of up to {short:.0f} characters": lengths <= short}
    masks[f"texts above {long:.0f} characters"] = lengths > long
    if cut := unsure_below(confidence):
        masks[f"texts on which the reference's confidence is ≤ {cut:g}"] = confidence <= cut
        masks[f"texts on which the reference's confidence is above {cut:g}"] = confidence > cut
    names = [list(_names(text, labels)) for text in examples]
    for name in dict.fromkeys(name for row in names for name in row):
        masks[name] = np.array([name in row for row in names])
    few = len(examples) - FEWEST
    return {name: mask for name, mask in masks.items() if FEWEST <= mask.sum() <= few}


def _names(text: ScoredExample, labels: Sequence[str]) -> Iterator[str]:
    if text.reference.given and not text.reference.tokens:
        yield f"texts that the reference labels {labels[text.reference.label]}"
    if text.example.label is not None:
        yield f"texts with the right label {text.example.label}"
    yield from text.example.slices


def worst_slice(
    examples: Sequence[ScoredExample], labels: Sequence[str], place: int, yardstick: int | None
) -> Slice | None:
    """The slice in which a target differs most beyond the yardstick.

    Without a yardstick it is compared with the target's other texts of the same confidence. None
    where it differs in no slice more than that.
    """
    same, slices = same_answers(examples, place), slices_of(examples, labels)
    usual = None if yardstick is None else same_answers(examples, yardstick)
    bands = np.digitize(confidence_of(examples), [_CUT, _SURE], right=True)
    clustered = are_clustered(text.example.id for text in examples)
    rows = []
    for name, mask in slices.items():
        among = _among_others(same, bands, mask)
        expected, p_value = among if usual is None else _against(same[mask], usual[mask])
        p_value = 1.0 if clustered else min(1.0, p_value * len(slices))
        share = float(same[mask].mean())
        rows.append(Slice(name, int(mask.sum()), share, expected, p_value, len(slices)))
    worst = max(rows, key=lambda row: row.expected - row.same, default=None)
    return worst if worst is not None and worst.same < worst.expected else None


def _against(same: Mask, usual: Mask) -> tuple[float, float]:
    """The yardstick's share, and the sign test on the texts on which only one of both differs."""
    worse, better = int((usual & ~same).sum()), int((same & ~usual).sum())
    both = worse + better
    tail = sum(math.comb(both, count) for count in range(worse, both + 1))
    return float(usual.mean()), tail / 2**both


def _among_others(same: Mask, bands: NDArray[np.int_], mask: Mask) -> tuple[float, float]:
    """The share among other texts of the same confidence, and the Mantel-Haenszel test."""
    expected = mean = variance = 0.0
    for band in np.unique(bands[mask]):
        here = bands == band
        inside, total, differ = (here & mask).sum(), here.sum(), (here & ~same).sum()
        others = same[here & ~mask] if total > inside else same[here]
        expected += inside * others.mean()
        mean += inside * differ / total
        spread = inside * differ * (total - differ) * (total - inside)
        variance += spread / (total**2 * max(1, total - 1))
    deviation = math.sqrt(variance)
    above = (~same[mask]).sum() - mean - 0.5
    z = above / deviation if deviation else -math.inf
    return float(expected / mask.sum()), math.erfc(z / math.sqrt(2)) / 2
