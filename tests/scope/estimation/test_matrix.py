"""What several audits show together, by hand."""

import numpy as np
import pytest

from scope.estimation.choices import measure_matrix
from scope.records import Undefined
from scope.statistics.between_models import mean_over_models
from scope.statistics.paired import sign_flip_p_value


def test_an_asymmetry_is_that_of_the_example_means_of_shared_examples(measured):
    # e2 has no pair in one direction; e0 has two in the other.
    forth = measured([1, 0, 1, 1], "hard_scope", "b", against="a", ids=["e0", "e0", "e1", "e2"])
    back = measured([0, 0], "hard_scope", "a", against="b", ids=["e0", "e1"])
    (found,) = measure_matrix([forth, back], {}, seed=0).asymmetries
    assert (found.first, found.second, found.estimate.n) == ("a", "b", 2)
    assert found.estimate.value == pytest.approx((0.5 + 1) / 2)


def test_asymmetries_have_sign_flip_p_values_that_are_corrected_together(measured):
    rows = [
        measured([1] * 8, "hard_scope", "b", against="a"),
        measured([0] * 8, "hard_scope", "a", against="b"),
        measured([1] * 8, "hard_scope", "c", against="a"),
        measured([1] * 8, "hard_scope", "a", against="c"),
    ]
    apart, alike = measure_matrix(rows, {}, seed=3).asymmetries
    ids = [f"e{place}" for place in range(8)]
    expected = sign_flip_p_value([1] * 8, [0] * 8, ids, np.random.default_rng(3))
    assert apart.p_value == expected
    assert apart.p_adjusted == pytest.approx(2 * expected)
    assert (alike.p_value, alike.p_adjusted) == (1.0, 1.0)


@pytest.fixture
def twelve_directions(measured):
    names = ["a", "b", "c", "d"]
    pairs = [(one, two) for one in names for two in names if one != two]
    rows = []
    for place, (reference, target) in enumerate(pairs):
        share = place / 12
        other = 1 - share**2
        rows.append(measured([share] * 2, "hard_scope", target, against=reference))
        rows.append(measured([other] * 2, "ood_agreement", target, against=reference))
        rows.append(measured([0.5] * 2, "iid_accuracy_gap", target, None, against=reference))
    return rows


def test_correlations_are_over_all_ordered_pairs_and_undefined_without_variance(twelve_directions):
    with_agreement, with_gap = measure_matrix(twelve_directions, {}, seed=0).correlations
    assert (with_agreement.metric, with_agreement.other) == ("hard_scope", "ood_agreement")
    shares = np.arange(12) / 12
    assert with_agreement.estimate.value == pytest.approx(np.corrcoef(shares, -(shares**2))[0, 1])
    assert with_agreement.estimate.n == 12
    assert isinstance(with_gap.estimate, Undefined)


def test_the_order_of_the_measurements_plays_no_part(twelve_directions):
    rows, groups = twelve_directions, {"g": ["b", "c"]}
    forth, back = (measure_matrix(some, groups, seed=0) for some in (rows, rows[::-1]))
    key = repr
    for name in ("asymmetries", "correlations", "groups"):
        assert sorted(getattr(forth, name), key=key) == sorted(getattr(back, name), key=key)


def test_a_group_is_the_mean_of_its_members_against_each_reference(measured):
    rows = [
        measured([1, 1, 0], "hard_scope", "a", against="r"),
        measured([1, 0, 0], "hard_scope", "b", against="r"),
        measured([1, 1, 1], "hard_scope", "b", against="a"),
        measured([0.5], "iid_accuracy_gap", "a", None, against="r"),
    ]
    of_r, of_a = sorted(
        measure_matrix(rows, {"g": ["a", "b"]}, seed=0).groups, key=lambda one: one.against == "a"
    )
    assert (of_r.against, of_r.members) == ("r", ("a", "b"))
    ids = ["e0", "e1", "e2"]
    assert of_r.estimate == mean_over_models([[1, 1, 0], [1, 0, 0]], ids)
    assert of_r.estimate.value == pytest.approx(0.5)
    assert of_a.members == ("b",)
    assert isinstance(of_a.estimate, Undefined)


def test_a_degenerate_model_is_in_no_correlation_and_leaves_its_group_undefined(twelve_directions):
    found = measure_matrix(twelve_directions, {"g": ["b", "c"]}, {"c": "one answer"}, seed=0)
    assert str(found.correlations[0].estimate) == "undefined (fewer than 4 models)"
    assert found.correlations[0].estimate.n == 6
    means = {one.against: one.estimate for one in found.groups if one.metric == "hard_scope"}
    assert str(means["a"]) == "undefined (c is degenerate: one answer)"
