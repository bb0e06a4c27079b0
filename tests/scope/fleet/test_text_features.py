"""Features of texts, against a slow and plain count of the same."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.text_features import FEATURES, text_features


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


def test_a_question_with_everything_in_it():
    text = "Which is NOT 3.5 = x?\nAll of these\nnone"
    np.testing.assert_allclose(text_features([text])[0], slowly(text), rtol=1e-5)
    assert text_features([text])[0, 13:15].tolist() == [1, 1]


def test_features_do_not_depend_on_the_company():
    texts = [f"What is {number}?\n{'A' * (number % 9)}" for number in range(5000)]
    together = text_features(texts)
    np.testing.assert_array_equal(together[4321], text_features([texts[4321]])[0])
