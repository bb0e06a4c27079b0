import pytest
from hypothesis import given, strategies as st

from reports.prose import Span, joined, plain, prose, together, written
from scope.records import Undefined


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


@pytest.mark.parametrize("template", ["**open", "**a __b__**", "{missing}"])
def test_a_template_that_is_wrong_fails_when_it_is_written(template):
    with pytest.raises((ValueError, KeyError)):
        prose(template)


def test_a_field_that_is_not_used_is_a_mistake():
    with pytest.raises(ValueError, match="not used"):
        prose("nothing", name="x")


def test_a_sentence_within_a_sentence_keeps_its_own_styles():
    inner = prose("a **b**")
    assert plain(prose("{inner}!", inner=inner)) == "a b!"
    assert prose("**{inner}**", inner=inner) == (Span("a ", "strong"), Span("b", "strong"))


def test_an_undefined_number_is_written_with_its_reason():
    assert plain(written(Undefined(reason="no pair"))) == "undefined (no pair)"


def test_parts_are_joined_with_words_of_ours():
    assert plain(joined([])) == ""
    assert plain(joined(["a"], last=" and ")) == "a"
    assert plain(together(prose("One."), (), prose("Two."))) == "One. Two."
