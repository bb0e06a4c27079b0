"""The questions on which the suspect's answers speak most strongly, for reuse or against it."""

from __future__ import annotations

import numpy as np

from scope.decision.case import Case
from scope.evidence.shared_mistakes import SharedMistakes
from scope.records import InformativeItem

FOR_REUSE, AGAINST = 15, 5
"""How many of either side are shown."""


def informative_items(case: Case, shared: SharedMistakes) -> tuple[InformativeItem, ...]:
    """The strongest of either side, those for reuse first; of equals, the first asked.

    Only the reference's mistakes speak, or where no right answer is known what it answers and most
    models do not. An answer that was improbable for a model of the suspect's skill, and is the
    reference's, speaks for reuse; another one speaks against it, where the reference's was
    probable.
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
