"""The matrix of who answered what correctly: its checks, its parts, its fingerprint."""

from dataclasses import replace

import numpy as np
import pytest

from scope.errors import DataError
from scope.jobs.fleet.matrix import CONFLICT_RULE, CorrectnessMatrix


def made(correct=((1, 0), (np.nan, 1)), **changes):
    fields = {
        "models": ("a", "b"),
        "ids": ("1", "2"),
        "texts": ("Who?", ""),
        "categories": ("arc", None),
        "correct": np.array(correct),
    }
    return CorrectnessMatrix(**{**fields, **changes})


def test_the_fingerprint_changes_with_anything():
    matrix = made()
    others = [
        replace(matrix, models=("a", "c")),
        replace(matrix, ids=("1", "3")),
        replace(matrix, texts=("Who?", "Why?")),
        replace(matrix, categories=("arc", "arc")),
        replace(matrix, conflicts=1),
        made([[1, 0], [0, 1]]),
        made([[1, 0], [1, np.nan]]),
    ]
    assert len({matrix.fingerprint, *(other.fingerprint for other in others)}) == 8
    assert made().fingerprint == matrix.fingerprint


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ([[1, 1], [np.nan, 1]], "all 3 answers are right"),
        ([[1, 0], [np.nan, np.nan]], r"no answer to 1 of 2 questions: `2`"),
        ([[1, np.nan], [0, np.nan]], r"no answer of 1 of 2 models: `b`"),
        (np.full((2, 2), np.nan), "no known answer"),
    ],
)
def test_a_matrix_without_answers_to_learn_from_is_refused(correct, message):
    with pytest.raises(DataError, match=message):
        made(correct).checked()


def test_notes_tell_the_rules_that_were_applied():
    matrix = made(conflicts=2, repeated=1, left_out=("something",))
    assert [CONFLICT_RULE in note for note in matrix.notes] == [False, True, False]
    assert matrix.notes[2] == "something"
    assert made().notes == ()
