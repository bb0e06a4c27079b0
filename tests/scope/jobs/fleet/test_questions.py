"""Questions become tables: the layout, the order of its columns, and what does not fit it."""

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError
from scope.jobs.fleet.questions import (
    FEATURES,
    make_layout,
    question_table,
    require_texts,
    text_features,
)


def slowly(text):
    words, lines, long = text.split(), text.split("\n"), len(text) + 1
    sizes = [len(option) for option in (lines[1:] or [""])]
    digits = sum(sign.isdigit() for sign in text)
    symbols = sum(not sign.isalnum() and not sign.isspace() for sign in text)
    return [
        np.log(long),
        np.log1p(len(words)),
        np.log1p(len(lines[0])),
        len(lines),
        np.log1p(np.mean(sizes)),
        np.log1p(np.std(sizes)),
        np.log1p(digits),
        digits / long,
        symbols / long,
        np.log1p(len(re.findall(r"\d+(?:\.\d+)?", lines[0]))),
        np.log1p(len(re.findall(r"\d+(?:\.\d+)?", text))),
        np.mean([len(word) for word in words]) if words else 0,
        sum(sign.isupper() for sign in text) / long,
        bool(re.search(r"\b(not|NOT|except|EXCEPT|false|incorrect)\b", lines[0])),
        "none of" in text.lower() or "all of" in text.lower(),
        np.log1p(sum(text.count(sign) for sign in "$\\^=")),
        len(set(words)) / max(len(words), 1),
    ]


@given(
    st.lists(
        st.text(st.one_of(st.sampled_from("ab 12.\n$=²٣É"), st.characters(exclude_categories=()))),
        max_size=8,
    )
)
def test_features_are_those_of_a_plain_count(texts):
    found = text_features(texts)
    assert found.shape == (len(texts), len(FEATURES))
    for row, text in zip(found, texts, strict=True):
        np.testing.assert_allclose(row, slowly(text), rtol=1e-5, atol=1e-6)


VECTORS = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)


def layout(categories=("arc", "gsm8k")):
    return make_layout(vectors=VECTORS, encoder="e", categories=categories, features=True)


def test_columns_are_vectors_then_features_then_the_category():
    texts, categories = ("Who?", "2 + 2"), ("gsm8k", None)
    found = question_table(layout(), vectors=VECTORS, texts=texts, categories=categories)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, :2], VECTORS)
    np.testing.assert_array_equal(found[:, 2:-1], text_features(["Who?", "2 + 2"]))
    assert layout().codes(found).tolist() == [1, -1]
    assert layout().features == FEATURES


@pytest.mark.parametrize(
    ("categories", "kept"),
    [
        (("arc", None), ()),
        (("arc", "arc"), ()),
        ((None, None), ()),
        (("law", None, "arc"), ("arc", "law")),
    ],
)
def test_categories_have_a_column_only_if_they_tell_questions_apart(categories, kept):
    assert layout(categories=categories).categories == kept


def test_questions_without_a_text_are_named():
    with pytest.raises(DataError, match=r"(?s)no text of 1 of 2 questions: `b`.*for its vector"):
        require_texts(("Who?", ""), "its vector", ("a", "b"))
