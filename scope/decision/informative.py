"""The most informative questions: the strongest evidence for reuse and against it."""

from __future__ import annotations

import numpy as np

from scope.decision.case import Case
from scope.evidence.shared_mistakes import SharedMistakes
from scope.records import InformativeItem

FOR_REUSE, AGAINST = 15, 5
"""The number of questions shown for each side."""


def informative_items(case: Case, shared: SharedMistakes) -> tuple[InformativeItem, ...]:
    """The strongest evidence of each side, that for reuse first; of equals, the first asked.

    Only the reference's mistakes are evidence, or if no right answer is known its answers that
    most models do not give. To give the reference's answer is evidence for reuse, the stronger the
    less probable the answer is for a model of the suspect's skill; to give another one is evidence
    against it, the stronger the more probable the reference's answer is.
    """
    answers = case.answers
    reference, suspect = answers.answers[0], answers.answers[1]
    mistaken = answers.given[0] & answers.given[1] & (reference != answers.expected_right())
    expected = shared.expected[1]
    weight = np.where(mistaken, (reference == suspect) - expected, 0.0)
    most, least = (np.argsort(one, kind="stable") for one in (-weight, weight))
    strongest = [place for place in most[:FOR_REUSE] if weight[place] > 0]
    strongest += [place for place in least[:AGAINST] if weight[place] < 0]
    return tuple(
        InformativeItem(
            id=case.items[place].id,
            text=case.items[place].text,
            gold=case.items[place].gold,
            reference=case.items[place].reference,
            suspect=case.items[place].suspect,
            expected=float(expected[place]),
            weight=float(weight[place]),
        )
        for place in strongest
    )
