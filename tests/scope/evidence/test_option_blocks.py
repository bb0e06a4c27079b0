"""Columns for options: hand-made questions, and everything the blocks must keep."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from made_up_pools import pool, random_pool

from scope.evidence import option_blocks as blocking
from scope.evidence.answers import NOT_GIVEN
from scope.evidence.option_blocks import option_blocks


def test_options_that_nobody_chose_share_a_column():
    (block,) = option_blocks(pool([[7], [3], [7], [NOT_GIVEN]], options=10, gold=5))
    assert block.columns[:, 0].tolist() == [2, 0, 2, NOT_GIVEN]
    assert block.options.tolist() == [[1, 1, 1, 7]]
    assert block.right.tolist() == [[0, 1, 0, 0]]
    assert block.chosen[:, 0].tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert block.share.tolist() == [0.1]


def test_a_question_whose_options_were_all_chosen_has_no_column_left():
    (block,) = option_blocks(pool([[0], [1]], options=2))
    assert block.options.tolist() == [[1, 1]]


def test_questions_in_a_block_are_padded_to_the_widest():
    (block,) = option_blocks(pool([[0, 0], [2, 0]], options=[3, 2], gold=[1, 0]))
    assert block.items.tolist() == [1, 0]
    assert block.options.tolist() == [[1, 1, 0], [1, 1, 1]]


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
        rows = answers.answers[:, block.items]
        assert (alike == (rows[:, None] == rows[None])).all()


def test_blocks_are_small_however_many_different_answers_there_are(monkeypatch):
    monkeypatch.setattr(blocking, "_CELLS_OF_A_BLOCK", 1000)
    generator = np.random.default_rng(0)
    blocks = option_blocks(pool(generator.integers(0, 200, size=(8, 300)), options=200))
    assert max(block.chosen.size for block in blocks) <= 1000
    assert min(len(block.items) for block in blocks[:-1]) > 5
