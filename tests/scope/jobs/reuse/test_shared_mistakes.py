"""Shared mistakes against hands, an oracle, their laws, and pools that say nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_pools import pool, random_pool, skilled_pool
from reference import shared_mistakes_reference as oracle

from scope.jobs.reuse.pool import NOT_ASKED
from scope.jobs.reuse.shared_mistakes import shared_mistakes, standardise

NO_PAIR = np.nan


def symmetric(seed, models=6):
    table = np.random.default_rng(seed).normal(size=(models, models))
    np.fill_diagonal(table, NO_PAIR)
    return table + table.T


def test_four_models_by_hand():
    excess = np.array(
        [[NO_PAIR, 4, 0, 0], [4, NO_PAIR, 0, 2], [0, 0, NO_PAIR, 0], [0, 2, 0, NO_PAIR]]
    )
    own = np.sqrt([32 / 9, 8 / 3, 0, 8 / 9])
    common = np.sqrt((32 / 9 + 8 / 3 + 8 / 9) / 4)
    own[2] = common / 10
    found = standardise(excess)
    assert found.mean == 1
    scale = 1 / np.sqrt(own * common)
    assert found.values[0, 1] == pytest.approx(3 * (scale[0] + scale[1]) / 2)
    assert found.values[2, 3] == pytest.approx(-(scale[2] + scale[3]) / 2)


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-10, 10))
def test_unit_and_zero_of_the_excess_do_not_matter(seed, unit, zero):
    before = standardise(symmetric(seed)).values
    after = standardise(symmetric(seed) * unit + zero).values
    assert np.allclose(before, after, equal_nan=True)


NONE = NOT_ASKED
seeds = st.integers(0, 100_000)


def close(one, other):
    return np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)


def with_rows(answers, rows):
    return replace(answers, answers=np.asarray(rows, dtype=np.int64))


def asked_of(answers):
    rows = [[None if one == NONE else one for one in row] for row in answers.answers.tolist()]
    return oracle.Questions(rows, answers.options.tolist(), answers.expected_right().tolist())


def as_array(table):
    return np.array(table, dtype=np.float64)


def test_with_one_control_the_excess_of_three_questions_is_found_by_hand():
    # Of reference and suspect, the control alone says what is expected: its option counts 1 + 1/4,
    # the others 1/4 each. Both err on the first two questions, alike on the first.
    found = shared_mistakes(pool([[1, 1, 0], [1, 2, 0], [1, 3, 2]]))

    def chances(model):
        s, t, _ = found.fits[model]
        taken, free, right = 1.25**s, 0.25**s, 0.25**s * np.exp(t)
        return taken / (taken + 2 * free + right), free / (taken + 2 * free + right)

    (as_control, not_as_control), (also_as_control, also_not) = chances(1), chances(0)
    of_reference = (1 - as_control) + (0 - not_as_control)
    of_suspect = (1 - also_as_control) + (0 - also_not)
    assert found.excess[0, 1] == pytest.approx((of_reference + of_suspect) / 6)
    assert found.expected[1, :2] == pytest.approx([as_control, not_as_control])
    assert found.by_item[1] == pytest.approx(
        [1 - (as_control + also_as_control) / 2, -(not_as_control + also_not) / 2, 0]
    )


@given(seeds)
def test_everything_is_as_the_formulas_say_one_question_at_a_time(seed):
    answers = random_pool(seed)
    asked = asked_of(answers)
    excess, fits, related = oracle.excess(asked)
    found = shared_mistakes(answers)
    assert [{*map(int, pair)} for pair in np.argwhere(np.tril(found.kin))] == sorted(
        related, key=lambda pair: (max(pair), min(pair))
    )
    present = answers.given.any(axis=1)
    assert close(np.array(found.fits)[present, :2], as_array(fits)[present])
    assert close(found.excess, as_array(excess))
    # A small spread of the excess enlarges what differs by rounding.
    standing = as_array(oracle.standing_out(excess))
    # Without a mistake of the reference there is none to copy.
    known = ~np.isnan(found.standing_out)
    assert known[1:, 1:].tolist() == (~np.isnan(standing[1:, 1:])).tolist()
    assert np.allclose(found.standing_out[known], standing[known], rtol=1e-6, atol=1e-6)
    for model in np.flatnonzero(present)[1:]:
        for item, chance in oracle.expected(asked, related, fits, 0, model).items():
            assert found.expected[model, item] == pytest.approx(chance, abs=1e-9)


def test_the_oracle_is_met_where_some_are_kin():
    answers = skilled_pool(3, models=9, items=60)
    rows = answers.answers.copy()
    rows[4, :50] = rows[7, :50]
    answers = with_rows(answers, rows)
    excess, _, related = oracle.excess(asked_of(answers))
    found = shared_mistakes(answers)
    assert related == [{4, 7}]
    assert np.argwhere(found.kin).tolist() == [[4, 7], [7, 4]]
    assert close(found.excess, as_array(excess))
    assert close(found.standing_out, as_array(oracle.standing_out(excess)))


@given(seeds, st.randoms(use_true_random=False))
def test_the_suspect_and_the_controls_are_treated_alike(seed, random):
    answers = random_pool(seed, missing=0.2)
    order = list(range(1, len(answers.answers)))
    random.shuffle(order)
    order = [0, *order]
    before, after = (
        shared_mistakes(answers),
        shared_mistakes(with_rows(answers, answers.answers[order])),
    )
    if order[1] == 1:
        assert close(after.parts, before.parts)
    assert close(after.standing_out, before.standing_out[np.ix_(order, order)])
    assert np.array_equal(after.kin, before.kin[np.ix_(order, order)])
    assert close(after.expected, before.expected[order])


@given(seeds)
def test_the_parts_of_the_suspects_value_sum_to_it(seed):
    answers = random_pool(seed, missing=0.3)
    shared = shared_mistakes(answers)
    assert shared.parts.shape == (answers.units.max() + 1,)
    if not np.isnan(shared.standing_out[0, 1]):
        assert shared.parts.sum() == pytest.approx(shared.standing_out[0, 1])


def test_blocks_of_any_size_give_the_same(monkeypatch):
    answers = random_pool(11, models=9, items=200)
    before = shared_mistakes(answers)
    monkeypatch.setattr("scope.jobs.reuse.pool._QUESTIONS_OF_A_BLOCK", 17)
    monkeypatch.setattr("scope.jobs.reuse.pool._CELLS_OF_A_BLOCK", 400)
    after = shared_mistakes(answers)
    assert close(after.standing_out, before.standing_out)
    assert close(after.expected, before.expected)


def test_a_copy_of_the_reference_is_worth_more_than_any_independent_model():
    answers = skilled_pool(4, models=6, items=100)
    rows = answers.answers.copy()
    rows[2] = rows[0]
    copied = shared_mistakes(with_rows(answers, rows)).standing_out[0, 2]
    assert copied > np.nanmax(shared_mistakes(answers).standing_out[0])


EVERYONE_RIGHT = np.zeros((4, 3), dtype=np.int64)
SAYS_NOTHING = {
    "everyone is right": (EVERYONE_RIGHT, [None, None, None]),
    "the reference is right": ([[0, 0, 0], [1, 0, 0], [1, 2, 0]], [None, None]),
    "the reference answered nothing": ([[NONE] * 3, [0, 1, 1], [1, 2, 3]], [None, None]),
    "nobody answered anything": ([[NONE] * 3] * 3, [None, None]),
    "a model answered nothing": ([[1, 2, 0], [NONE] * 3, [1, 0, 0], [0, 1, 0]], [None, 1, 1]),
    "a model shares no question": ([[1, 2, NONE], [NONE, NONE, 1], [1, 0, 0]], [None, 1]),
    "the reference's mistake is not shared": ([[0, 1], [1, NONE], [0, 2]], [None, 1]),
    "all rows are the same": ([[1, 2, 0]] * 4, [0, 0, 0]),
    "all rows are the same and wrong": ([[1, 1, 1]] * 3, [0, 0]),
    "a pair": ([[1, 2, 0], [1, 3, 0]], [0]),
    "the reference alone": ([[1, 2, 0]], []),
    "constant rows": ([[1, 1, 1], [2, 2, 2], [3, 3, 3], [1, 1, 1]], [1, 1, 1]),
    "no questions": (np.zeros((3, 0)), [None, None]),
}


@pytest.mark.parametrize(("rows", "values"), SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_pools_that_say_nothing_give_no_number_and_never_an_infinite_one(rows, values):
    """None: no number. 0: all pairs alike. 1: some number."""
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        found = shared_mistakes(pool(rows))
    for value, told in zip(found.standing_out[0, 1:], values, strict=True):
        assert np.isnan(value) if told is None else np.isfinite(value)
        assert told != 0 or value == 0
    tables = (found.excess, found.standing_out, found.by_item, found.expected, found.fits)
    assert not any(np.isinf(table).any() for table in tables)
    assert np.isfinite(found.parts).all()
