import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import holm_reference

from scope.statistics.corrections import holm

p_values = st.lists(st.floats(0, 1), max_size=12)


def test_four_p_values_by_hand():
    # 4 * 0.005, 3 * 0.01, then 2 * 0.03 = 0.06, which 1 * 0.04 may not fall below.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_no_adjusted_p_value_exceeds_one():
    assert holm([0.5, 0.9, 1.0]) == (1, 1, 1)


def test_equal_p_values_stay_equal():
    assert holm([0.01, 0.01]) == (0.02, 0.02)


def test_one_test_needs_no_correction():
    assert holm([0.03]) == (0.03,)


def test_no_tests_have_no_p_values():
    assert holm([]) == ()


@given(p_values, st.sampled_from([0.01, 0.05, 0.2]))
def test_what_falls_below_a_level_is_what_the_steps_reject(raw, level):
    adjusted = holm(raw)
    decided = zip(holm_reference.rejected(raw, level), adjusted, strict=True)
    for rejected, p_value in decided:
        assert rejected == (p_value <= level) or p_value == pytest.approx(level)


@given(p_values)
def test_no_adjusted_p_value_lies_below_its_own(raw):
    assert all(one <= other <= 1 for one, other in zip(raw, holm(raw), strict=True))


@given(p_values, st.randoms())
def test_adjusted_p_values_go_with_their_tests(raw, random):
    order = random.sample(range(len(raw)), len(raw))
    adjusted = holm(raw)
    assert holm([raw[index] for index in order]) == tuple(adjusted[index] for index in order)


@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("nan")])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, wrong])
