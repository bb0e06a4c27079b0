"""Questions become tables: the layout, the order of its columns, and what does not fit it."""

import numpy as np
import pytest

from scope.errors import DataError
from scope.fleet.questions import make_layout, question_table, require_texts
from scope.fleet.text_features import FEATURES, text_features

VECTORS = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)


def layout(**changes):
    given = {"encoder": "e", "categories": ("arc", "gsm8k"), "features": True}
    return make_layout(vectors=VECTORS, **{**given, **changes})


def table(of, **changes):
    given = {
        "vectors": VECTORS,
        "texts": ("Who?", "2 + 2"),
        "categories": ("gsm8k", None),
        "encoder": "e",
    }
    return question_table(of, **{**given, **changes})


def test_columns_are_vectors_then_features_then_the_category():
    found = table(layout())
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, :2], VECTORS)
    np.testing.assert_array_equal(found[:, 2:-1], text_features(["Who?", "2 + 2"]))
    assert layout().codes(found).tolist() == [1, -1]
    assert layout().features == FEATURES


@pytest.mark.parametrize("categories", [("arc", None), ("arc", "arc"), (None, None)])
def test_categories_have_a_column_only_if_they_tell_questions_apart(categories):
    assert layout(categories=categories).categories == ()


def test_a_missing_category_takes_none_from_the_others():
    categories = ("law", None, "arc")
    vectors = np.eye(3, 2, dtype=np.float32)
    found = make_layout(vectors=vectors, encoder="e", categories=categories, features=False)
    assert found.categories == ("arc", "law")
    rows = table(found, vectors=vectors, texts=("", "", ""), categories=categories)
    assert found.codes(rows).tolist() == [1, -1, 0]


def test_there_may_be_nothing_but_answers():
    plain = make_layout(
        vectors=np.zeros((2, 0), np.float32), encoder="", categories=(None, None), features=False
    )
    found = table(plain, vectors=np.zeros((2, 0), np.float32), texts=("", ""), encoder="")
    assert found.shape == (2, 0)


def test_vectors_of_another_encoder_are_refused_by_both_fingerprints():
    with pytest.raises(DataError, match=r"(?s)of the encoder other.*vectors of the encoder e,"):
        table(layout(), encoder="other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": VECTORS[:, :1]}, r"question vectors of shape \(2, 1\)"),
        ({"vectors": VECTORS[:1]}, "1 vectors, 2 texts and 2 categories"),
        ({"texts": ("Who?", " ")}, r"no text of 1 of 2 questions: `1` \(the first is 0\)"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        table(layout(), **changes)


def test_questions_without_a_text_are_named():
    with pytest.raises(DataError, match=r"(?s)no text of 1 of 2 questions: `b`.*for its vector"):
        require_texts(("Who?", ""), ids=("a", "b"))
