"""What the values in a table mean."""

import math

import pytest

from scope.fleet.reading.values import (
    UnreadableError,
    correct_of,
    name_of,
    options_of,
    text_of,
    whole_text,
)


@pytest.mark.parametrize("value", [1, 1.0, True, "1", "1.0", " TRUE", "right", "Right"])
def test_right_has_many_spellings(value):
    assert correct_of(value) == 1


@pytest.mark.parametrize("value", [0, 0.0, False, "0", "false", "Wrong"])
def test_wrong_has_many_spellings(value):
    assert correct_of(value) == 0


@pytest.mark.parametrize("value", [None, math.nan, "", "  ", "NaN", "nan"])
def test_nothing_is_unknown(value):
    assert correct_of(value) == -1


@pytest.mark.parametrize("value", [2, 0.5, "yes", "A", [1]])
def test_anything_else_is_neither_right_nor_wrong(value):
    with pytest.raises(UnreadableError) as error:
        correct_of(value)
    assert repr(value) in error.value.found


def test_names_are_short_and_texts_as_they_stand():
    assert (name_of(" a "), name_of(3), name_of(3.0), name_of(math.nan)) == ("a", "3", "3", None)
    assert (text_of(" a "), text_of("  "), text_of(None)) == (" a ", None, None)


@pytest.mark.parametrize("read", [name_of, text_of])
@pytest.mark.parametrize("value", [["a"], {"a": 1}, "a\0b", "\ud800"])
def test_what_is_no_text_cannot_be_read(read, value):
    with pytest.raises(UnreadableError):
        read(value)


def test_options_are_a_list_whatever_it_is_wrapped_in():
    assert options_of({"text": ["x", "y"], "label": ["A", "B"]}) == ("x", "y")
    with pytest.raises(UnreadableError):
        options_of([1, 2])
    with pytest.raises(UnreadableError):
        options_of(4)


def test_a_whole_text_has_a_line_for_each_part():
    assert whole_text("Who?", "A story.", ("Ann", "Bob")) == "Who?\nA story.\nAnn\nBob"
    assert whole_text(None, "A story.", ("Ann",)) is None
