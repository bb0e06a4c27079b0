"""Questions in folds: even, drawn at random, the same for one seed, and twins together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import SpecError
from scope.fleet.forecasters.folds import question_folds, question_numbers
from scope.fleet.layout import QuestionLayout

LAYOUT = QuestionLayout(vector=2, features=("words",))


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 1000))
def test_every_fold_has_as_many_questions_as_any_other_or_one_more(questions, folds, seed):
    folds = min(questions, folds)
    sizes = np.bincount(question_folds(np.arange(questions), folds, seed))
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_one_seed_gives_one_split_and_another_seed_another():
    numbers = np.arange(100)
    first, again, other = (question_folds(numbers, 5, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_without_twins_the_draw_is_the_one_that_published_numbers_were_made_with():
    table = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    found = question_folds(question_numbers(table, LAYOUT), 5, seed=3)
    drawn = np.random.default_rng([3, 0xF01D]).permutation(50) % 5
    assert found.tobytes() == drawn.tobytes()


def test_neighbouring_questions_do_not_share_a_fold_by_their_place():
    folds = question_folds(np.arange(1000), 2, 0)
    assert 0.4 < (folds[1:] == folds[:-1]).mean() < 0.6


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), st.integers(0, 100))
def test_rows_of_one_vector_are_in_one_fold(kinds, seed):
    vectors = np.array([[0.5, kind] for kind in kinds], dtype=np.float32)
    # What else is known of a row does not part it from its twins.
    table = np.column_stack([vectors, np.arange(len(kinds))]).astype(np.float32)
    numbers = question_numbers(table, LAYOUT)
    assert len(set(zip(numbers.tolist(), kinds, strict=True))) == len(set(kinds))
    assert len(np.unique(numbers)) == len(set(kinds))
    if len(set(kinds)) > 1:
        folds = question_folds(numbers, 2, seed)
        assert set(folds.tolist()) == {0, 1}
        assert len(set(zip(folds.tolist(), kinds, strict=True))) == len(set(kinds))


def test_a_vector_one_bit_away_is_of_another_question():
    table = np.float32([[0.5, 1, 0], [np.nextafter(np.float32(0.5), np.float32(1)), 1, 0]])
    assert question_numbers(table, LAYOUT).tolist() == [0, 1]


def test_without_vectors_every_row_is_a_question_of_its_own():
    layout = QuestionLayout(vector=0, features=("words",))
    assert question_numbers(np.ones((3, 1), dtype=np.float32), layout).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("questions", "folds", "fix"),
    [(3, 5, "fewer folds"), (10, 1, "folds=2"), (1, 2, "fewer folds")],
)
def test_folds_that_cannot_be_are_refused_with_both_numbers(questions, folds, fix):
    with pytest.raises(SpecError, match=f"{folds} folds of {questions} questions") as caught:
        question_folds(np.arange(questions), folds, 0)
    assert fix in caught.value.fix


def test_more_folds_than_different_questions_are_refused():
    with pytest.raises(SpecError, match="3 folds of 2 different questions"):
        question_folds(np.array([0, 1, 0, 1]), 3, 0)
