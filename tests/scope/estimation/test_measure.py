"""The numbers of an audit on predictions made by hand, and by chance."""

from dataclasses import replace

import pytest

from scope.estimation.audits import MORE_SIMILAR, measure
from scope.metrics.catalog import METRICS
from scope.records import Prediction, Undefined
from scope.statistics.intervals import mean_estimate

LABELS = ("negative", "positive")


def prediction(positive):
    return Prediction(probabilities=(1 - positive, positive))


def measured(examples, perturbations):
    return measure(
        examples,
        perturbations,
        capabilities=["typo"],
        targets=["target"],
        labels=LABELS,
        soft_scope=METRICS["soft_scope"].at(tolerance=0.1, cutoff=0.5),
        seed=0,
    )


def values(numbers):
    return {
        one.metric.partition("(")[0]: one.estimate
        for one in numbers.measurements
        if one.subset is None
    }


ROWS = [
    # Both stay, and move alike: 1 for everything.
    ("positive", 0.9, 0.8, 0.9, 0.8),
    # The target flips.
    ("positive", 0.9, 0.9, 0.6, 0.4),
    # The target disagrees with the reference, and stays; the changes are 0.3 apart in L1.
    ("negative", 0.3, 0.3, 0.6, 0.75),
    # The reference flips: no pair of I_R.
    ("negative", 0.4, 0.6, 0.1, 0.1),
]
BY_HAND = [(gold, *map(prediction, shares)) for gold, *shares in ROWS]


def test_by_hand(scored):
    found = values(measured(*scored(BY_HAND)))
    assert found["iid_agreement"].value == pytest.approx(3 / 4)
    # Reference right 4 of 4; target right on the first, second and fourth.
    assert found["iid_accuracy_gap"].value == pytest.approx(1 / 4)
    assert found["ood_agreement"].value == pytest.approx(1 / 3)
    assert found["hard_scope"].value == pytest.approx(2 / 3)
    assert found["soft_scope"].value == pytest.approx((1 + 0 + 0.5) / 3)
    assert found["hard_scope"].n == 3


@pytest.fixture
def halves(scored):
    """Gives the estimates on the more similar half, of the pairs by hand twice over."""
    examples, perturbations = scored([*BY_HAND, *BY_HAND])

    def estimates(similarities):
        changed = [
            replace(one, perturbation=replace(one.perturbation, similarity=similarity))
            for one, similarity in zip(perturbations, similarities, strict=True)
        ]
        numbers = measured(examples, changed).measurements
        return [one.estimate for one in numbers if one.subset == MORE_SIMILAR]

    return estimates


def test_the_more_similar_half_by_hand(halves):
    # Kept pairs are 0, 1, 2, 4, 5 and 6; of these 6 has no similarity. The flipped 3 and 7 do not
    # count, so that the median of 0.9, 0.6, 0.7, 0.7, 0.8 is 0.7: pairs 0, 2, 4 and 5.
    hard, soft = halves([0.9, 0.6, 0.7, 0.1, 0.7, 0.8, None, 0.1])
    assert hard == mean_estimate([1, 1, 1, 0], ["0", "2", "4", "5"])
    assert soft.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)


def test_without_a_less_similar_half_there_is_no_more_similar_one(halves):
    nothing = Undefined(reason="no pair is less similar than the median")
    assert halves([0.9] * 8) == [nothing] * 2
    assert halves([0.9, *[None] * 7]) == [nothing] * 2
    assert halves([0.9, 0.8, 0.8, 0.1, 0.8, 0.8, 0.8, 0.1]) == [nothing] * 2
    assert halves([None] * 8) == []
