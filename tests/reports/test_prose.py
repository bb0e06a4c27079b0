""""""

import time

import pytest
from hypothesis import given, strategies as st

from reports.prose import Span, mark_changes, plain, prose
from reports.wording import Cell, number, two_digits
from scope.records import Estimate


@given(st.text())
def test_what_is_put_into_a_field_is_never_read_as_markup(text):
    sentence = prose("On **{name}**.", name=text)
    assert plain(sentence) == f"On {text}."
    assert [span for span in sentence if span.foreign] == (
        [Span(text, "strong", True)] * bool(text)
    )


def test_styles_and_fields_are_read_in_their_order():
    assert prose("__a__ ``b`` !!{c}!! d", c="C") == (
        Span("a", "emphasis"),
        Span(" "),
        Span("b", "code"),
        Span(" "),
        Span("C", "alarm", foreign=True),
        Span(" d"),
    )


@pytest.mark.parametrize("template", ["**open {x}", "**a __b__** {x}", "{missing}", "unused"])
def test_a_template_that_is_wrong_fails_when_it_is_written(template):
    with pytest.raises((ValueError, KeyError)):
        prose(template, x="y")


def test_a_sentence_within_a_sentence_keeps_its_own_styles():
    inner = prose("a **b**")
    assert plain(prose("{inner}!", inner=inner)) == "a b!"
    assert prose("**{inner}**", inner=inner) == (Span("a ", "strong"), Span("b", "strong"))


def changed(text):
    return [span.text for span in text if span.style != "plain"]


@pytest.mark.parametrize(
    ("before", "after", "deleted", "inserted"),
    [
        ("a fine film", "a good film", ["fine"], ["good"]),
        # Neighbours one by one.
        ("the acting was good", "the atcing saw good", ["acting", "was"], ["atcing", "saw"]),
        ("it was okay for me", "it was all right for me", ["okay"], ["all", "right"]),
        # Of repeated words as many as were changed.
        ("good good good", "good fine good", ["good"], ["fine"]),
        # A frequent word of a long text is no noise.
        ("the " * 300, "the " * 150 + "a " + "the " * 149, ["the"], ["a"]),
        ("same  text", "same  text", [], []),
        ("", "", [], []),
    ],
)
def test_words_that_two_texts_do_not_share_are_marked(before, after, deleted, inserted):
    assert [changed(text) for text in mark_changes(before, after)] == [deleted, inserted]


@pytest.mark.parametrize("added", [[], ["quite"], ["quite", "so"]])
def test_a_long_text_of_few_words_is_marked_in_time(added):
    words = ["a", "wonderful", "film"] * 3000
    other = [*words[:100], "wondreful", *added, *words[101:-50], "flim", *words[-49:]]
    for before, after in ((words, other), (other, words)):
        seconds = time.monotonic()
        marked = [
            " ".join(changed(text)) for text in mark_changes(" ".join(before), " ".join(after))
        ]
        assert time.monotonic() - seconds < 5
        assert all(len(text.split()) < 5 for text in marked)
        assert {"wondreful", "flim"} <= set(" ".join(marked).split())


@given(st.text(alphabet="ab \n\u3000é"), st.text(alphabet="ab \n\u3000é"))
def test_marked_texts_are_whole_and_their_unmarked_words_are_equal(original, perturbed):
    both = mark_changes(original, perturbed)
    assert [plain(text) for text in both] == [original, perturbed]
    before, after = (
        [word for span in text if span.style == "plain" for word in span.text.split()]
        for text in both
    )
    assert before == after


def test_a_difference_shows_its_signs():
    written = Cell.of(Estimate(value=-0.1, low=-0.2, high=0.05, n=3, method="paired"), signed=True)
    assert (written.value, written.interval) == ("−0.100", "[−0.200, +0.050]")


@pytest.mark.parametrize("value", [0.0, -0.0, 0.0004, -0.0004])
def test_a_zero_has_no_sign(value):
    assert number(value, signed=True) == "0.000"


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, ".00"), (0.996, "1.0"), (-0.996, "−1.0"), (0.994, ".99"), (-0.004, ".00"), (0.1, ".10")],
)
def test_two_digits_leave_out_the_zero_before_the_point(value, written):
    assert two_digits(value) == written
