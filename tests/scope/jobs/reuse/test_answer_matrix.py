"""What an answer matrix refuses, and the answer that stands in for an unknown right one."""

import numpy as np
from hypothesis import given, strategies as st
from made_up_pools import pool, random_pool

from scope.jobs.reuse.pool import (
    NOT_GIVEN,
    UNKNOWN,
    AnswerKey,
    Response,
    answer_matrix,
    option_blocks,
)


def test_where_nobody_knows_the_right_answer_the_most_frequent_one_stands_in():
    answers = [[2, 0, 1, 0], [2, 1, 3, 0], [1, 1, NOT_GIVEN, 0], [NOT_GIVEN, 0, NOT_GIVEN, 0]]
    found = pool(answers, gold=[UNKNOWN, UNKNOWN, UNKNOWN, 3])
    # Two against one; a tie, of which the first counts; another tie; a right answer nobody gave.
    assert found.expected_right().tolist() == [2, 0, 1, 3]


WORDS = st.none() | st.sampled_from(["red", "blue", "", "10", "9", "é", "e"])


@st.composite
def answered_in_words(draw):
    """Right answers, None where unknown, and a row of answers per model."""
    items = draw(st.integers(1, 6))
    gold = draw(st.lists(WORDS, min_size=items, max_size=items))
    row = st.lists(WORDS, min_size=items, max_size=items)
    return gold, draw(st.lists(row, min_size=1, max_size=6))


def interned(gold, rows):
    asked = [AnswerKey(unit=str(place), gold=one) for place, one in enumerate(gold)]
    return answer_matrix(asked, [[Response(one) for one in row] for row in rows])


@given(answered_in_words())
def test_two_models_have_one_number_exactly_where_they_say_the_same_words(pool):
    gold, rows = pool
    matrix = interned(gold, rows)
    for place in range(len(gold)):
        said = [row[place] for row in rows]
        numbers = matrix.answers[:, place]
        for one, its_number in zip(said, numbers, strict=True):
            assert (one is None) == (its_number == NOT_GIVEN)
            assert [other == one for other in said] == [other == its_number for other in numbers]
            if gold[place] is not None:
                assert (one == gold[place]) == (its_number == matrix.gold[place])
        assert (gold[place] is None) == (matrix.gold[place] == UNKNOWN)
        different = {one for one in (*said, gold[place]) if one is not None}
        # One more stands for whatever nobody said.
        assert matrix.options[place] == max(len(different) + 1, 2)
    assert matrix.open_vocabulary


@given(answered_in_words(), st.randoms())
def test_the_order_of_the_models_leaves_no_trace(pool, random):
    gold, rows = pool
    order = random.sample(range(len(rows)), len(rows))
    one, other = interned(gold, rows), interned(gold, [rows[place] for place in order])
    assert (one.answers[order] == other.answers).all()
    assert (one.options == other.options).all()
    assert (one.gold == other.gold).all()


def test_numbers_of_options_are_kept_as_they_are():
    asked = [
        AnswerKey("a", gold=2, options=4),
        AnswerKey("b", options=3),
        AnswerKey("c", gold=0, options=1),
    ]
    matrix = answer_matrix(asked, [[Response(3), Response(None), Response(0)]])
    assert matrix.answers.tolist() == [[3, NOT_GIVEN, 0]]
    # A question with one option is one with two, of which nobody takes the other.
    assert matrix.options.tolist() == [4, 3, 2]
    assert matrix.gold.tolist() == [2, UNKNOWN, 0]
    assert not matrix.open_vocabulary
    assert matrix.probabilities is None


def test_probabilities_are_0_behind_the_last_option_and_missing_where_there_are_none():
    asked = [AnswerKey("a", options=2), AnswerKey("b", options=3)]
    sure = [Response(0, (0.75, 0.25)), Response(2, (0.25, 0.25, 0.5))]
    matrix = answer_matrix(asked, [sure, [Response(0), Response(None)], [Response(1), sure[1]]])
    nothing = [np.nan] * 3
    np.testing.assert_array_equal(
        matrix.probabilities,
        [[[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]], [nothing, nothing], [nothing, [0.25, 0.25, 0.5]]],
    )


@given(st.integers(0, 10_000))
def test_no_question_option_or_answer_is_lost(seed):
    answers = random_pool(seed)
    blocks = option_blocks(answers)
    assert sorted(item for block in blocks for item in block.items) == list(
        range(len(answers.options))
    )
    for block in blocks:
        assert (block.options.sum(axis=1) == answers.options[block.items]).all()
        assert (block.right.sum(axis=1) == 1).all()
        assert ((block.columns != NOT_GIVEN) == answers.given[:, block.items]).all()
        assert (block.chosen.sum(axis=2) == answers.given[:, block.items]).all()
        alike = block.columns[:, None] == block.columns[None]
        rows = np.maximum(answers.answers[:, block.items], NOT_GIVEN)
        assert (alike == (rows[:, None] == rows[None])).all()
