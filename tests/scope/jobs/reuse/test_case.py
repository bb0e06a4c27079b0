"""A case: its examples, the joint statistic of its pool, and its most informative questions."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from made_up_cases import make_case

from scope.jobs.reuse.answer_matrix import NOT_GIVEN, Scores
from scope.jobs.reuse.case import (
    JointScores,
    Kind,
    informative_items,
    joint_scores,
    rank_p_value,
)
from scope.statistics.conformal import conformal_p_value, joint_statistic, threshold_rank


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
tables = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(2, 12)),
    elements=st.one_of(st.just(NAN), st.integers(-5, 5).map(lambda one: one / 7)),
)


def kind(row, *, units=6, copy=1.0, decides=True, seed=0):
    """A kind with these values of the suspect and the controls, in parts by chance."""
    values = np.array([NAN, *row], dtype=float)
    parts = np.random.default_rng(seed).normal(size=(len(values), units))
    parts += (values - parts.sum(axis=1))[:, None] / units
    parts[np.isnan(values)] = 0
    return Kind(name="any", scores=Scores(values=values, parts=parts), copy=copy, decides=decides)


def standing(*rows, copies=None):
    copies = copies or [1.0] * len(rows)
    return joint_scores(
        [
            kind(row, copy=copy, seed=seed)
            for seed, (row, copy) in enumerate(zip(rows, copies, strict=True))
        ]
    )


@given(tables)
def test_a_models_value_is_the_sum_of_its_parts_whichever_kinds_it_lacks(table):
    found = standing(*table)
    known = ~np.isnan(found.values)
    np.testing.assert_allclose(found.parts.sum(axis=1)[known], found.values[known], atol=1e-9)
    assert (found.parts[~known] == 0).all()


@given(tables)
def test_values_are_the_joint_statistic_of_the_kinds_that_the_suspect_shares(table):
    has = ~np.isnan(table[:, 0]) & ~np.isnan(table[:, 1:]).all(axis=1)
    expected = joint_statistic(table[has]) if has.any() else np.full(table.shape[1], NAN)
    found = standing(*table)
    np.testing.assert_array_equal(found.values, expected)
    np.testing.assert_array_equal(found.table, table[has])


def test_a_suspect_without_any_value_stands_nowhere():
    found = standing([NAN, 1.0, 2.0])
    assert rank_p_value(found.values) is None
    assert found.decisive_control(1) is None
    assert found.detectable_share(1) is None
    assert np.isnan(found.values).all()


def allowed(alpha, controls):
    """How many of the controls that have a value may be as similar as a related suspect."""
    return threshold_rank(alpha, int(np.isfinite(controls).sum()))


def valued(*values):
    whole = np.array(values, dtype=float)
    return JointScores(
        values=whole,
        parts=whole[:, None],
        table=whole[None],
        copies=np.array([9.0]),
    )


@pytest.mark.parametrize(
    ("controls", "alpha", "place"),
    [
        # One control of three may not stand above at 0.25, one may at 0.5, two at 0.75.
        ((1.0, 3.0, 2.0), 0.25, 2),
        # Too few for this alpha: the closest.
        ((1.0, 3.0, 2.0), 0.05, 2),
        # Those without a value neither count nor shift the others' places.
        ((NAN, 1.0, NAN, 3.0, 2.0), 0.5, 5),
        # Of equals the first.
        ((3.0, 3.0, 1.0), 0.25, 1),
        ((NAN,), 0.5, None),
    ],
)
def test_the_decisive_control_is_the_first_that_may_not_be_as_like(controls, alpha, place):
    assert valued(0.0, *controls).decisive_control(allowed(alpha, controls)) == place


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=40, unique=True),
    st.integers(-9, 9),
    st.integers(1, 99).map(lambda one: one / 100),
)
def test_p_is_at_most_alpha_exactly_beyond_the_decisive_control(controls, suspect, alpha):
    found = valued(suspect, *controls)
    place = found.decisive_control(allowed(alpha, controls))
    if 1 / (len(controls) + 1) <= alpha:
        assert (rank_p_value(found.values) <= alpha) == (found.values[0] > found.values[place])
    else:
        assert rank_p_value(found.values) > alpha
        assert found.values[place] == max(controls)


def test_the_detectable_share_is_found_by_hand():
    # Of one kind: from the suspect's 0 to a copy's 10, beyond the greatest control, 2.5, at 26 %.
    found = standing([0.0, 2.5, 1.0, 2.0], copies=[10.0])
    assert found.detectable_share(0) == 0.26
    # Beyond the second, 2, at 21 %.
    assert found.detectable_share(1) == 0.21
    # No p-value of three controls is so small.
    assert found.detectable_share(None) is None


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(3, 9)),
        elements=st.integers(-50, 50).map(lambda one: one / 50),
    )
)
def test_the_detectable_share_is_the_least_that_gives_p_at_most_alpha(table):
    copies = np.array([1.5, 1.1, 2.0])[: len(table)]
    alpha = 1 / table.shape[1]
    found = standing(*table, copies=copies.tolist()).detectable_share(0)

    def p_value(hundredths):
        moved = table.copy()
        begin = np.minimum(table[:, 0], np.median(table[:, 1:], axis=1))
        moved[:, 0] = begin + hundredths / 100 * (copies - begin)
        values = joint_statistic(moved)
        return conformal_p_value(values[0], values[1:])

    enough = [share / 100 for share in range(1, 101) if p_value(share) <= alpha]
    assert found == (enough[0] if enough else None)
