import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.statistics.conformal import controls_needed
from scope.statistics.sequential import SHARES, SequentialTest


def likelihood_ratio(model, others, reference, options, looks):
    """L at every look, after the definition and question by question: the slow oracle."""
    found = []
    for look in looks:
        sums = [0.0] * len(SHARES)
        for item in range(look):
            if model[item] == -1 or reference[item] == -1:
                continue
            given_answers = [other[item] for other in others if other[item] != -1]
            count = given_answers.count(reference[item])
            share = (count + 1 / options[item]) / (len(given_answers) + 1)
            match = model[item] == reference[item]
            for place, epsilon in enumerate(SHARES):
                sums[place] += math.log(1 - epsilon + epsilon * match / share)
        found.append(math.log(sum(math.exp(one) for one in sums) / len(SHARES)))
    return found


def slow_p_values(suspect, reference, controls, options, looks):
    n, p_values = len(controls), []
    for last in range(1, len(looks) + 1):
        left = 0
        for index, control in enumerate(controls):
            others = controls[:index] + controls[index + 1 :]
            own = likelihood_ratio(suspect, others, reference, options, looks[:last])
            theirs = likelihood_ratio(control, others, reference, options, looks)
            left += max(0, *own) <= max(0, *theirs) + 1e-12
        p_values.append(min(1, (2 * left + 1) / (n + 1)))
    return p_values


@st.composite
def pools(draw, most_models=6):
    """A reference and a pool of models on a few questions of two or three options."""
    items = draw(st.integers(1, 7))
    options = draw(st.lists(st.integers(2, 3), min_size=items, max_size=items))
    answers = st.tuples(*[st.integers(-1, most - 1) for most in options]).map(list)
    pool = draw(st.lists(answers, min_size=1, max_size=most_models))
    looks = sorted(draw(st.sets(st.integers(1, items), min_size=1)))
    return draw(answers), pool, options, looks


def p_values_of(suspect, reference, controls, options, looks):
    shaped = np.array(controls, dtype=int).reshape(len(controls), len(reference))
    test = SequentialTest(reference, shaped, options, looks=looks)
    return [look.p_value for look in test.looks_at(suspect)]


def test_the_likelihood_ratio_of_a_control_by_hand():
    # Without the first control, the other two give the reference's answers once and never:
    # q is (1 + 1/2) / 3 and (0 + 1/4) / 3. The control agrees on the second only.
    test = SequentialTest([0, 1], [[1, 1], [0, 2], [1, 3]], [2, 4], looks=[2])
    ratios = [(1 - share) * (1 - share + share * 12) for share in SHARES]
    assert test.ceilings[0] == pytest.approx(math.log(sum(ratios) / 3))


@given(pools())
def test_the_p_values_are_those_of_the_definition(case):
    reference, pool, options, looks = case
    suspect, controls = pool[0], pool[1:]
    slow = slow_p_values(suspect, reference, controls, options, looks)
    assert p_values_of(suspect, reference, controls, options, looks) == pytest.approx(slow)


@given(pools(most_models=9), st.integers(1, 99))
def test_at_most_the_share_alpha_of_any_pool_could_be_called_beyond_the_others(case, hundredths):
    # The claim itself, without chance: whichever model of the pool is the suspect.
    reference, pool, options, looks = case
    smallest = [
        min(p_values_of(one, reference, pool[:index] + pool[index + 1 :], options, looks))
        for index, one in enumerate(pool)
    ]
    called = sum(p <= hundredths / 100 for p in smallest)
    assert called <= Fraction(hundredths, 100) * len(pool)


@given(pools(), st.randoms())
def test_p_values_never_rise_and_the_order_of_the_controls_leaves_no_trace(case, random):
    reference, pool, options, looks = case
    found = p_values_of(pool[0], reference, pool[1:], options, looks)
    shuffled = random.sample(pool[1:], len(pool) - 1)
    assert found == sorted(found, reverse=True)
    assert found == p_values_of(pool[0], reference, shuffled, options, looks)


def independents(models=19, items=300, seed=0):
    return np.random.default_rng(seed).integers(0, 4, size=(models + 1, items))


def test_a_copy_surpasses_all_controls_at_the_first_look_and_19_controls_suffice():
    reference, controls = independents()[0], independents()[1:]
    test = SequentialTest(reference, controls, [4] * 300, looks=range(30, 301, 30))
    first = test.looks_at(reference[:30])
    assert [(look.asked, look.p_value) for look in first] == [(30, 1 / 20)]
    assert controls_needed(0.05) == 19


def test_each_control_not_surpassed_counts_twice():
    pool = independents()
    controls = pool[1:].copy()
    controls[:2] = pool[0]
    test = SequentialTest(pool[0], controls, [4] * 300, looks=[300])
    assert test.looks_at(pool[0])[0].p_value == 5 / 20


@pytest.mark.parametrize("suspect", [np.full(300, -1), (independents()[0] + 1) % 4])
def test_silence_and_disagreement_surpass_nobody(suspect):
    pool = independents()
    test = SequentialTest(pool[0], pool[1:], [4] * 300, looks=[100, 200, 300])
    assert [look.p_value for look in test.looks_at(suspect)] == [1, 1, 1]


def test_eighteen_controls_cannot_give_a_p_value_of_a_twentieth():
    pool = independents(models=18)
    test = SequentialTest(pool[0], pool[1:], [4] * 300, looks=[300])
    assert test.looks_at(pool[0])[0].p_value == 1 / 19 > 0.05


def test_before_the_first_look_there_is_no_p_value():
    pool = independents()
    test = SequentialTest(pool[0], pool[1:], [4] * 300, looks=[10, 300])
    assert test.looks_at(pool[0][:9]) == ()
    assert test.looks_at([]) == ()
