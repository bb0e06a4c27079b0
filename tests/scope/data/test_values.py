import math

import pytest

from scope.data.sources import Row, Source
from scope.data.values import as_id, as_label, as_text
from scope.errors import DataError

ROW = Row(place=7, values=())
SOURCE = Source(
    name="a.jsonl",
    columns=("text", "label"),
    string_columns=("text",),
    read=lambda columns: iter(()),
    unit="line",
)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("positive", "positive"),
        (" positive\n", "positive"),
        (1, "1"),
        (0, "0"),
        (1.0, "1"),
        (2.5, "2.5"),
        ("1.0", "1"),
        (True, "True"),
        (None, None),
        ("", None),
        (math.nan, None),
    ],
)
def test_labels_become_strings_and_missing_ones_none(value, label):
    assert as_label(value, SOURCE, ROW, "label", ()) == label


@pytest.mark.parametrize(("value", "label"), [(0, "neg"), (1, "pos"), (-1, None), ("pos", "pos")])
def test_integers_become_the_names_behind_them(value, label):
    assert as_label(value, SOURCE, ROW, "label", ("neg", "pos")) == label


@pytest.mark.parametrize("value", [2, -2])
def test_an_integer_without_a_name_is_an_error(value):
    with pytest.raises(DataError, match=rf"label {value} .*line 7 of a\.jsonl\nexpected: 0 to 1"):
        as_label(value, SOURCE, ROW, "label", ("neg", "pos"))


def test_a_list_is_no_label():
    with pytest.raises(DataError, match=r"a list as the label in column `label`, line 7"):
        as_label(["a"], SOURCE, ROW, "label", ())


@pytest.mark.parametrize(
    ("value", "kind"), [(3, "a number"), (True, "a truth value"), (["a"], "a list"), ({}, "a dict")]
)
def test_what_is_no_string_is_no_text_and_the_row_is_named(value, kind):
    with pytest.raises(
        DataError, match=rf"{kind} as the text in column `text`, line 7 of a\.jsonl"
    ):
        as_text(value, SOURCE, ROW, "text")


def test_a_missing_text_is_empty():
    assert as_text(None, SOURCE, ROW, "text") == ""


@pytest.mark.parametrize(("value", "found"), [("a\0b", "a NUL"), ("a\ud800b", "half of a surr")])
@pytest.mark.parametrize("convert", [as_text, as_id])
def test_characters_that_cannot_be_written_are_refused(convert, value, found):
    with pytest.raises(DataError, match=rf"{found}.* in column `text`, line 7"):
        convert(value, SOURCE, ROW, "text")


@pytest.mark.parametrize(("value", "name"), [(5, "5"), (" x ", "x"), ("", None), ([1], None)])
def test_ids_are_strings_or_numbers(value, name):
    assert as_id(value, SOURCE, ROW, "id") == name
