"""A case: all models' answers to the same questions, and one number of similarity for each pair.

The joint statistic combines all kinds of evidence that decide in one number for each pair of
models. The most informative questions are the strongest evidence for a relation and against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.answer_matrix import AnswerMatrix, Square, Values
from scope.jobs.reuse.shared_mistakes import SharedMistakes
from scope.records import Estimate, InformativeItem, Undefined
from scope.statistics.conformal import joint_statistic


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
    ``derivatives`` has the same for each known derivative of the reference by its name, in the
    suspect's row. ``pairs`` are the perturbations of the reference, a capability each, with the
    suspect and the controls as targets. ``hash`` is that of the questions, ``queries`` counts the
    questions to the suspect. ``labels`` are those of classified texts.
    """

    reference: str
    suspect: str
    controls: tuple[str, ...]
    items: Sequence[CaseItem]
    answers: AnswerMatrix
    derivatives: Mapping[str, AnswerMatrix] = field(default_factory=dict)
    pairs: tuple[AuditedPairs, ...] = ()
    hash: str
    queries: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of evidence: the similarity of each model to the reference, which is row 0.

    ``suspect`` is the suspect's value with its interval. A kind decides if it has the similarity of
    all ``pairs`` of models.
    """

    name: str
    capability: str | None = None
    values: Values
    suspect: Estimate | Undefined
    pairs: Square | None = None


def joint_pairs(kinds: Sequence[Square], counted: NDArray[np.bool_]) -> Square:
    """The joint statistic of every pair of the models that are counted, NaN for other pairs.

    A kind that the pair of reference and suspect lacks is left out.

    Examples
    --------
    Reference and suspect are most similar by both kinds; the last control is not counted:

    >>> first = np.array([[0, 5, 1, 2], [5, 0, 1, 2], [1, 1, 0, 9], [2, 2, 9, 0]])
    >>> joint_pairs([first, first / 10], np.array([True, True, True, False]))[0].round(2).tolist()
    [nan, 1.41, -0.71, nan]
    """
    rows, columns = np.triu_indices(len(counted), 1)
    known = counted[rows] & counted[columns]
    deciding = [kind for kind in kinds if not np.isnan(kind[0, 1])]
    table = [np.where(known, kind[rows, columns], np.nan) for kind in deciding]
    joint = np.full((len(counted), len(counted)), np.nan)
    if table:
        joint[rows, columns] = joint[columns, rows] = joint_statistic(table)
    return joint


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
