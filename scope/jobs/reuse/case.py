"""A case: all models' answers to the same questions, and one number of similarity for each model.

The joint statistic combines all kinds of evidence in one number for each model. The most
informative questions are the strongest evidence for reuse and against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.answer_matrix import AnswerMatrix, Scores
from scope.jobs.reuse.shared_mistakes import SharedMistakes
from scope.records import Estimate, InformativeItem, Undefined
from scope.statistics.conformal import NO_SPREAD, conformal_p_value, joint_statistic


class CaseItem(NamedTuple):
    """One question to all models, in words, with the answers of the reference and the suspect.

    ``unit`` is the id of the example that it belongs to; a missing answer is empty.
    """

    id: str
    unit: str
    text: str
    gold: str | None
    reference: str
    suspect: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One suspect, one reference, the controls, and their answers to the same questions.

    ``answers`` has the reference in row 0, the suspect in row 1 and the controls after them;
    ``pairs`` are the perturbations of the reference, a capability each, with the suspect and the
    controls as targets. ``hash`` is that of the questions, ``queries`` counts the questions to the
    suspect. The first ``representative`` questions are a random sample, independent of the
    reference's answers; None if all are. ``labels`` are those of classified texts.
    """

    reference: str
    suspect: str
    controls: tuple[str, ...]
    items: Sequence[CaseItem]
    answers: AnswerMatrix
    pairs: tuple[AuditedPairs, ...] = ()
    hash: str
    queries: int
    representative: int | None = None
    labels: tuple[str, ...] = ()

    @property
    def sample(self) -> AnswerMatrix:
        """The answers to the representative questions alone, which measure a model's skill."""
        if self.representative is None:
            return self.answers
        first, answers = slice(self.representative), self.answers
        options, chances = answers.options[first], answers.probabilities
        most = int(options.max(initial=0))
        return replace(
            answers,
            answers=answers.answers[:, first],
            options=options,
            gold=answers.gold[first],
            units=answers.units[first],
            probabilities=None if chances is None else chances[:, first, :most],
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the examples, in the order of their first question."""
        return tuple(dict.fromkeys(item.unit for item in self.items))


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of evidence on all models; ``copy`` is the value of a copy of the reference.

    ``most`` is the greatest possible value. ``suspect`` is the suspect's value with its interval,
    if there is a better one than that of the sum of its parts.
    """

    name: str
    capability: str | None = None
    scores: Scores
    copy: float = 1.0
    most: float = 1.0
    suspect: Estimate | Undefined | None = None
    decides: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class JointScores:
    """The joint statistic of the pool: the suspect first, then the controls.

    Attributes
    ----------
    values
        One number per model, greater if it is more similar to the reference, NaN if undefined.
    parts
        The contribution of each example; a model's value is their sum; shape (models, units).
    table
        The values of each kind of evidence; shape (kinds, models).
    copies
        The value of a copy of the reference, by each kind.
    """

    values: NDArray[np.float64]
    parts: NDArray[np.float64]
    table: NDArray[np.float64]
    copies: NDArray[np.float64]

    @property
    def ranked(self) -> NDArray[np.float64]:
        """The values of the controls that have one."""
        controls = self.values[1:]
        return np.asarray(controls[~np.isnan(controls)])

    def decisive_control(self, allowed: int | None) -> int | None:
        """The index, from 1, of the control that a related suspect must outrank.

        ``allowed`` controls may be as similar to the reference as a related suspect. If None, which
        means that there are too few, it is the most similar control.
        """
        known = np.flatnonzero(~np.isnan(self.values[1:])) + 1
        if not len(known):
            return None
        ordered = known[np.argsort(-self.values[known], kind="stable")]
        return int(ordered[allowed or 0])

    def detectable_share(self, allowed: int | None) -> float | None:
        """The least share of copied answers that would outrank all but the ``allowed`` controls.

        Each kind's value moves linearly, in steps of 0.01, to that of a copy. It starts at the
        value of an independent model: the median of the controls, or the suspect's own value if
        that is less. None if not even a copy has such a rank. The verdict takes two further
        tests, agreement and the paired one, and may miss such a share.
        """
        if np.isnan(self.values[0]) or allowed is None:
            return None
        begin = np.minimum(self.table[:, 0], np.nanmedian(self.table[:, 1:], axis=1))
        moved = self.table.copy()
        for share in np.arange(1, 101) / 100:
            moved[:, 0] = begin + share * (self.copies - begin)
            values = joint_statistic(moved)
            if (values[1:] >= values[0]).sum() <= allowed:
                return float(share)
        return None


def rank_p_value(values: NDArray[np.float64]) -> float | None:
    """The conformal p-value of the first value; None if it is NaN, or all others are."""
    controls = values[1:][~np.isnan(values[1:])]
    if np.isnan(values[0]) or not len(controls):
        return None
    return conformal_p_value(float(values[0]), controls)


def joint_scores(kinds: Sequence[Kind]) -> JointScores:
    """Combine the deciding kinds that suspect and controls have into one number per model."""
    deciding = [
        kind for kind in kinds if kind.decides and rank_p_value(kind.scores.values[1:]) is not None
    ]
    models = len(kinds[0].scores.values) - 1
    table = np.array([kind.scores.values[1:] for kind in deciding]).reshape(len(deciding), models)
    counts = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    parts = np.zeros((models, kinds[0].scores.parts.shape[1]))
    for kind, row in zip(deciding, table, strict=True):
        spread = float(np.nanstd(row))
        if spread > NO_SPREAD * float(np.nanmax(np.abs(row))):
            # The mean is subtracted, so that a model without this kind is not penalised.
            share = float(np.nanmean(row)) / parts.shape[1]
            has = ~np.isnan(row)
            parts[has] += (kind.scores.parts[1:][has] - share) / spread
    return JointScores(
        values=joint_statistic(table) if deciding else np.full(models, np.nan),
        parts=parts / counts[:, None],
        table=table,
        copies=np.array([kind.copy for kind in deciding]),
    )


FOR_REUSE, AGAINST = 15, 5
"""The number of questions shown for each side."""


def informative_items(case: Case, shared: SharedMistakes) -> tuple[InformativeItem, ...]:
    """The strongest evidence of each side, that for reuse first; of equals, the first asked.

    Only the reference's mistakes are evidence; without right answers, its answers that most models
    do not give. The same answer is evidence for reuse, and stronger if it is less probable for a
    model of the suspect's skill. Another answer is evidence against reuse, and stronger if the
    reference's answer is more probable.
    """
    answers = case.answers
    reference, suspect = answers.answers[0], answers.answers[1]
    mistaken = answers.given[0] & answers.given[1] & (reference != answers.expected_right())
    expected = shared.expected[1]
    weight = np.where(mistaken, (reference == suspect) - expected, 0.0)
    most, least = (np.argsort(order, kind="stable") for order in (-weight, weight))
    strongest = [place for place in most[:FOR_REUSE] if weight[place] > 0]
    strongest += [place for place in least[:AGAINST] if weight[place] < 0]
    return tuple(
        InformativeItem(
            id=item.id,
            text=item.text,
            gold=item.gold,
            reference=item.reference,
            suspect=item.suspect,
            expected=float(expected[place]),
            weight=float(weight[place]),
        )
        for place in strongest
        for item in [case.items[place]]
    )
