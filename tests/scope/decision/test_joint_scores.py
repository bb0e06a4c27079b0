"""The joint statistic of a pool: what it is made of, and what it forgets."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from scope.decision.case import JointScores, Kind, joint_scores
from scope.evidence.answers import Scores
from scope.statistics.conformal import conformal_p_value, joint_statistic

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


@given(tables, st.randoms())
def test_the_order_of_the_pool_changes_the_order_of_the_numbers_alone(table, random):
    kinds = [kind(row, seed=seed) for seed, row in enumerate(table[~np.isnan(table).any(axis=1)])]
    if not kinds:
        return
    models = table.shape[1]
    order = random.sample(range(models), models)
    rows = [0, *(place + 1 for place in order)]
    turned = [
        Kind(
            name=one.name,
            scores=Scores(values=one.scores.values[rows], parts=one.scores.parts[rows]),
            copy=one.copy,
            decides=True,
        )
        for one in kinds
    ]
    before, after = joint_scores(kinds), joint_scores(turned)
    # The suspect too: it may stand in a control's place, and then has that control's number.
    np.testing.assert_allclose(after.values, before.values[order], atol=1e-9)
    np.testing.assert_allclose(after.parts, before.parts[order], atol=1e-9)


def test_what_does_not_decide_has_no_part_in_it():
    alone = joint_scores([kind([3.0, 1.0, 2.0])])
    beside = joint_scores([kind([3.0, 1.0, 2.0]), kind([0.0, 9.0, 9.0], decides=False)])
    np.testing.assert_array_equal(beside.values, alone.values)
    np.testing.assert_array_equal(beside.parts, alone.parts)


def test_a_kind_that_the_suspect_lacks_is_left_out_for_all():
    both = standing([2.0, 1.0, 0.0], [NAN, 5.0, 1.0])
    np.testing.assert_array_equal(both.values, standing([2.0, 1.0, 0.0]).values)


def test_a_suspect_without_any_value_stands_nowhere():
    found = standing([NAN, 1.0, 2.0])
    assert found.p_value is None
    assert found.decisive_control(0.5) is None
    assert found.detectable_share(0.5) is None
    assert np.isnan(found.values).all()


def test_controls_without_values_are_not_counted():
    found = standing([2.0, NAN, 1.0, 3.0])
    assert found.ranked.tolist() == pytest.approx(joint_statistic([[2, 1, 3]])[1:].tolist())
    assert found.p_value == pytest.approx(2 / 3)
    assert standing([2.0, NAN, NAN]).p_value is None


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
        ((1.0, 3.0, 2.0), 0.5, 3),
        ((1.0, 3.0, 2.0), 0.75, 1),
        # Too few for this alpha: the closest.
        ((1.0, 3.0, 2.0), 0.05, 2),
        # Those without a value neither count nor shift the others' places.
        ((NAN, 1.0, NAN, 3.0, 2.0), 0.25, 4),
        ((NAN, 1.0, NAN, 3.0, 2.0), 0.5, 5),
        # Of equals the first.
        ((3.0, 3.0, 1.0), 0.25, 1),
        ((NAN,), 0.5, None),
    ],
)
def test_the_decisive_control_is_the_first_that_may_not_be_as_like(controls, alpha, place):
    assert valued(0.0, *controls).decisive_control(alpha) == place


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=40, unique=True),
    st.integers(-9, 9),
    st.integers(1, 99).map(lambda one: one / 100),
)
def test_p_is_at_most_alpha_exactly_beyond_the_decisive_control(controls, suspect, alpha):
    found = valued(suspect, *controls)
    place = found.decisive_control(alpha)
    if 1 / (len(controls) + 1) <= alpha:
        assert (found.p_value <= alpha) == (found.values[0] > found.values[place])
    else:
        assert found.p_value > alpha
        assert found.values[place] == max(controls)


def test_the_detectable_share_is_found_by_hand():
    # Of one kind: from the suspect's 0 to a copy's 10, beyond the greatest control, 2.5, at 26 %.
    found = standing([0.0, 2.5, 1.0, 2.0], copies=[10.0])
    assert found.detectable_share(0.25) == 0.26
    # Beyond the second, 2, at 21 %.
    assert found.detectable_share(0.5) == 0.21
    # No p-value of three controls is so small.
    assert found.detectable_share(0.2) is None


def test_a_suspect_that_stands_high_is_asked_for_from_the_middle_of_the_controls():
    # From their median, 2: a suspect that is like the reference already shows nothing of a test.
    assert standing([9.0, 4.0, 1.0, 2.0], copies=[12.0]).detectable_share(0.25) == 0.21
    assert standing([2.0, 4.0, 1.0, 2.0], copies=[12.0]).detectable_share(0.25) == 0.21


def test_nothing_is_detectable_where_a_control_is_more_than_a_copy():
    assert standing([0.0, 3.0, 1.0, 2.0], copies=[2.5]).detectable_share(0.25) is None


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
    found = standing(*table, copies=copies.tolist()).detectable_share(alpha)

    def p_value(hundredths):
        moved = table.copy()
        begin = np.minimum(table[:, 0], np.median(table[:, 1:], axis=1))
        moved[:, 0] = begin + hundredths / 100 * (copies - begin)
        values = joint_statistic(moved)
        return conformal_p_value(values[0], values[1:])

    enough = [share / 100 for share in range(1, 101) if p_value(share) <= alpha]
    assert found == (enough[0] if enough else None)


def test_a_kind_that_no_control_has_does_not_water_the_others_down():
    one, only_mine = [9.0, 2.5, 1.0, 2.0], [0.5, NAN, NAN, NAN]
    np.testing.assert_array_equal(standing(one, only_mine).values, standing(one).values)
