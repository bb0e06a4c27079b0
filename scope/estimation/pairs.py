"""The pairs of texts on which models are compared, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from scope.metrics import Metric
from scope.metrics.arrays import open_rows, widened
from scope.records import Prediction, ScoredExample, ScoredPerturbation

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedPairs:
    """The pairs of one capability: those on which the reference keeps its label, or random ones.

    ``reference`` holds the reference's probabilities before and after, ``targets`` those of each
    target, shapes (pairs, labels); ``example_ids`` and ``trials`` say which pair it is. With an
    ``open_vocabulary`` each pair has its own labels, the tokens that any model predicts there,
    and the last column is the mass of all others. ``similarities``, of shape (pairs,), are those by
    which the changed texts were admitted, not a number where there is none.
    """

    capability: str
    example_ids: tuple[str, ...]
    trials: tuple[int, ...]
    reference: tuple[Values, Values]
    targets: tuple[tuple[Values, Values], ...]
    similarities: Values
    open_vocabulary: bool = False

    def values(self, metric: Metric, target: int) -> Values:
        """The metric's value on each pair."""
        predictions = (*self.reference, *self.targets[target])
        return metric.pair_values(*predictions, open_vocabulary=self.open_vocabulary)


def invariant_pairs(
    capability: str,
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
) -> AuditedPairs:
    """Select the capability's pairs that belong to I_R, in their order."""
    return _selected(capability, examples, perturbations, kept=True)


def candidate_pairs(
    capability: str,
    examples: Sequence[ScoredExample],
    candidates: Sequence[ScoredPerturbation],
) -> AuditedPairs:
    """The pairs of a text with each of its random candidates, whatever the reference answers."""
    return _selected(capability, examples, candidates, kept=None)


def _selected(
    capability: str,
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    *,
    kept: bool | None,
) -> AuditedPairs:
    clean = {scored.example.id: scored for scored in examples}
    pairs = [
        (before, scored, scored.reference)
        for scored in perturbations
        if scored.capability == capability and scored.reference is not None
        for before in [clean[scored.perturbation.example_id]]
        if kept in (None, scored.reference.choice == before.reference.choice)
    ]
    answers = [
        (before.reference, reference, *chain(*zip(before.targets, after.targets, strict=True)))
        for before, after, reference in pairs
    ]
    first = examples[0] if examples else None
    open_vocabulary = first is not None and bool(first.reference.tokens)
    columns = len(first.reference.probabilities) if first else 0
    models = 1 + (len(first.targets) if first else 0)
    rows = _open(answers, models) if open_vocabulary else _closed(answers, models, columns)
    both = [(rows[2 * model], rows[2 * model + 1]) for model in range(models)]
    return AuditedPairs(
        capability=capability,
        example_ids=tuple(before.example.id for before, *_ in pairs),
        trials=tuple(after.perturbation.trial for _, after, _ in pairs),
        reference=both[0],
        targets=tuple(both[1:]),
        # NumPy makes nan of None.
        similarities=np.array([one.perturbation.similarity for _, one, _ in pairs], dtype=float),
        open_vocabulary=open_vocabulary,
    )


Answers = Sequence[Sequence[Prediction]]
"""The predictions of every model before and after, the reference first, for each pair."""


def _closed(answers: Answers, models: int, labels: int) -> Values:
    """Shape (2 * models, pairs, labels)."""
    rows = [[one[place].probabilities for one in answers] for place in range(2 * models)]
    return np.array(rows, dtype=float).reshape(2 * models, len(answers), labels)


def _open(answers: Answers, models: int) -> Values:
    """As for closed labels, over each pair's own tokens; as wide as the widest pair needs."""
    # Tokens that only another target names are 0 in all four rows that a metric takes.
    every = [open_rows(one) for one in answers]
    columns = max((rows.shape[1] for rows in every), default=2)
    alike = [widened(rows, columns) for rows in every]
    return np.array(alike).reshape(len(answers), 2 * models, columns).swapaxes(0, 1).copy()
