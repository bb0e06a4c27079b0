"""The joint statistic of the pairs of a case, and its most informative questions."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from made_up_cases import make_case

from scope.jobs.reuse.evidence import informative_items, joint_pairs
from scope.jobs.reuse.pool import NOT_GIVEN
from scope.statistics.between_models import joint_statistic


def informative(reference, suspect, expected, gold):
    """The items of a case of one control, where the suspect was expected to agree so often."""
    rows = np.array([reference, suspect, [0] * len(gold)])
    case = make_case(rows, np.array(gold))
    found = SimpleNamespace(expected=np.array([[np.nan] * len(gold), expected, expected]))
    return informative_items(case, found)


def test_agreement_on_an_improbable_mistake_speaks_for_reuse_and_none_on_a_probable_one_against():
    items = informative(
        # A mistake shared and improbable, one not shared and probable, one shared and probable,
        # one not shared and improbable; right; not answered by either; right for the other alone.
        reference=[1, 1, 1, 1, 0, NOT_GIVEN, 1, 0],
        suspect=[1, 2, 1, 0, 0, 1, NOT_GIVEN, 1],
        expected=[0.125, 0.75, 0.875, 0.25, 0.5, np.nan, 0.5, 0.5],
        gold=[0] * 8,
    )
    assert [(one.id, one.weight) for one in items] == [
        ("0", 0.875),
        ("2", 0.125),
        ("1", -0.75),
        ("3", -0.25),
    ]
    first = items[0]
    assert (first.text, first.gold) == ("Question 0?", "option 0")
    assert (first.reference, first.suspect, first.expected) == ("option 1", "option 1", 0.125)


NAN = np.nan
squares = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.just(6), st.just(6)),
    elements=st.one_of(st.just(NAN), st.integers(-5, 5).map(lambda value: value / 7)),
).map(lambda kinds: kinds + kinds.transpose(0, 2, 1))


@given(squares, st.permutations(range(2, 6)))
def test_the_order_of_the_controls_changes_nothing_and_all_models_are_treated_alike(kinds, order):
    order = [0, 1, *order]
    everybody = np.ones(6, dtype=bool)
    before = joint_pairs(kinds, everybody)
    after = joint_pairs(kinds[:, order][:, :, order], everybody)
    np.testing.assert_allclose(after, before[np.ix_(order, order)], atol=1e-9)
    turned = [1, 0, *range(2, 6)]
    np.testing.assert_allclose(
        joint_pairs(kinds[:, turned][:, :, turned], everybody),
        before[np.ix_(turned, turned)],
        atol=1e-9,
    )


@given(squares)
def test_values_are_the_joint_statistic_of_the_kinds_that_the_pair_has(kinds):
    counted = np.array([True, True, True, False, True, True])
    pairs = [(row, column) for row in range(6) for column in range(row + 1, 6)]
    ranked = [pair for pair in pairs if counted[list(pair)].all()]
    deciding = [[kind[pair] for pair in ranked] for kind in kinds if not np.isnan(kind[0, 1])]
    values = joint_pairs(kinds, counted)
    expected = joint_statistic(deciding) if deciding else [NAN] * len(ranked)
    np.testing.assert_array_equal([values[pair] for pair in ranked], expected)
    assert np.isnan(values[3]).all()
