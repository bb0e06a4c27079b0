"""The pairs of an original and a changed text on which the reference is invariant, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.metrics import Metric, pair_values
from scope.records import Prediction, ScoredExample, ScoredPerturbation

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class InvariantPairs:
    """The pairs of one capability on which the reference is invariant, as arrays.

    ``reference`` holds the reference's probabilities before and after, ``targets`` those of each
    target, shapes (pairs, labels); ``example_ids`` names the example of each pair.
    """

    capability: str
    example_ids: tuple[str, ...]
    reference: tuple[Values, Values]
    targets: tuple[tuple[Values, Values], ...]

    def values(self, metric: Metric, target: int) -> Values:
        """The metric's value on each pair."""
        return pair_values(metric, *self.reference, *self.targets[target])


def invariant_pairs(
    capability: str,
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
) -> InvariantPairs:
    """Pick the capability's pairs that belong to I_R, in the order they come."""
    clean = {scored.example.id: scored for scored in examples}
    pairs = [
        (clean[scored.perturbation.example_id], scored)
        for scored in perturbations
        if scored.capability == capability
        and scored.reference is not None
        and scored.reference.label == clean[scored.perturbation.example_id].reference.label
    ]
    targets = range(len(examples[0].targets)) if examples else range(0)
    labels = len(examples[0].reference.probabilities) if examples else 0
    return InvariantPairs(
        capability=capability,
        example_ids=tuple(before.example.id for before, _ in pairs),
        reference=(
            _rows((before.reference for before, _ in pairs), labels),
            _rows((after.reference for _, after in pairs if after.reference), labels),
        ),
        targets=tuple(
            (
                _rows((before.targets[target] for before, _ in pairs), labels),
                _rows((after.targets[target] for _, after in pairs), labels),
            )
            for target in targets
        ),
    )


def _rows(predictions: Iterator[Prediction], labels: int) -> Values:
    rows = [prediction.probabilities for prediction in predictions]
    return np.array(rows, dtype=float).reshape(len(rows), labels)
