import math

import pytest

from scope.data.fields import (
    choose_columns,
    id_of,
    label_of,
    read_fields,
)
from scope.data.sources import Source, SourceRow
from scope.errors import DataError

NAMES = {"id": ("id",), "question": ("question", "text"), "kind": ("kind",)}


def source(columns, *rows, class_names=()):
    def read(asked):
        for number, row in enumerate(rows):
            values = dict(zip(columns, row, strict=True))
            yield SourceRow(number, tuple(values[column] for column in asked))

    return Source(
        name="a.parquet",
        unit="row",
        columns=columns,
        string_columns=columns,
        read=read,
        class_names=dict(class_names),
    )


def only(table):
    (fields,) = read_fields(table, NAMES, required=("question",))
    return fields


def test_values_are_found_by_what_they_mean():
    fields = only(source(("other", "Text", "id"), ("x", "Who?", 3)))
    assert (fields.text("question"), fields.id) == ("Who?", "3")


def test_of_two_columns_the_earlier_name_counts():
    assert only(source(("text", "question"), ("no", "yes"))).text("question") == "yes"


def test_what_has_no_column_is_empty():
    fields = only(source(("question",), ("Who?",)))
    assert (fields.id, fields.text("kind"), fields.name("kind")) == (None, "", None)


def test_numbers_of_classes_become_their_names():
    table = source(("question", "kind"), ("Who?", 1), class_names={"kind": ("a", "b")})
    assert only(table).name("kind") == "b"


def test_a_list_of_texts_is_checked():
    fields = only(source(("question", "kind"), ("Who?", ["a", "b"])))
    assert fields.texts("kind", ["a", "b"]) == ("a", "b")
    for wrong in ("ab", None, ["a", 1]):
        with pytest.raises(DataError, match=r"row 0 of a\.parquet .*: `kind` is"):
            fields.texts("kind", wrong)


def test_a_required_meaning_without_a_column_is_named():
    with pytest.raises(DataError) as raised:
        only(source(("id", "words"), (1, "Who?")))
    assert raised.value.found == (
        "no column for the question in a.parquet; its columns are `id`, `words`"
    )
    assert raised.value.expected == "a column called question or text"


def source_columns(*columns: str, strings: tuple[str, ...] | None = None) -> Source:
    return Source(
        name="a.csv",
        columns=columns,
        string_columns=columns if strings is None else strings,
        read=lambda columns: iter(()),
        unit="line",
    )


def chosen(*columns, text=None, label=None, strings=None):
    return choose_columns(source_columns(*columns, strings=strings), text=text, label=label)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("question", "review", "text"), "text"),
        (("question", "Review"), "Review"),
        (("content", "SENTENCE"), "SENTENCE"),
    ],
)
def test_the_text_is_found_by_its_name_in_the_order_of_preference(columns, found):
    assert chosen(*columns)["text"] == found


@pytest.mark.parametrize("name", ["label", "LABELS", "Sentiment", "category", "class"])
def test_the_label_is_found_by_its_name(name):
    assert chosen("text", "other", name)["label"] == name


def test_no_label_is_no_error():
    assert chosen("text") == {"text": "text"}


def test_the_only_column_of_strings_is_the_text():
    columns = chosen("id", "score", "headline", "label", strings=("id", "headline", "label"))
    assert columns == {"text": "headline", "label": "label", "id": "id"}


def test_a_column_named_as_the_text_is_not_taken_for_the_label():
    assert chosen("category", "body", text="category") == {"text": "category"}


@pytest.mark.parametrize("strings", [(), ("first", "second")])
def test_no_or_several_columns_of_strings_are_no_text_column(strings):
    with pytest.raises(DataError) as raised:
        chosen("first", "second", "label", strings=strings)
    assert "no text column in a.csv; its columns are `first`, `second`, `label`" in str(
        raised.value
    )
    assert "text, sentence, content, review, question" in str(raised.value)


@pytest.mark.parametrize("role", ["text", "label"])
def test_a_named_column_that_is_missing_is_an_error_with_the_columns(role):
    with pytest.raises(DataError) as raised:
        chosen("text", "label", **{role: "txet"})
    assert str(raised.value) == (
        "found:    no column `txet` in a.csv\n"
        "expected: one of its columns: `text`, `label`\n"
        f"fix:      choose another {role} column"
    )


def test_one_column_cannot_be_both():
    with pytest.raises(DataError, match="`text` named as both the text and the label column"):
        chosen("text", "label", text="text", label="text")


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
    assert label_of(value) == label


@pytest.mark.parametrize(("value", "label"), [(0, "neg"), (1, "pos"), (-1, None), ("pos", "pos")])
def test_integers_become_the_names_behind_them(value, label):
    assert label_of(value, ("neg", "pos")) == label


def refusal(row, read):
    with pytest.raises(DataError) as raised:
        read(only(source(("question", "kind", "id"), row, class_names={"kind": ("neg", "pos")})))
    return raised.value.found


@pytest.mark.parametrize("value", [2, -2])
def test_an_integer_without_a_name_is_an_error(value):
    found = refusal(("Who?", value, 1), lambda fields: fields.name("kind"))
    assert found == f"row 0 of a.parquet (the first is 0): label {value} in column `kind`"


def test_a_list_is_no_label():
    found = refusal(("Who?", ["a"], 1), lambda fields: fields.name("kind"))
    assert found.endswith("a list as the label or name, ['a'], in column `kind`")


@pytest.mark.parametrize(
    ("value", "kind"), [(3, "a number"), (True, "a truth value"), (["a"], "a list"), ({}, "a dict")]
)
def test_what_is_no_string_is_no_text_and_the_row_is_named(value, kind):
    found = refusal((value, 0, 1), lambda fields: fields.text("question"))
    assert found.startswith(f"row 0 of a.parquet (the first is 0): {kind} as the text, ")
    assert found.endswith(" in column `question`")


def test_a_missing_text_is_empty():
    assert only(source(("question",), (None,))).text("question") == ""


@pytest.mark.parametrize(("value", "found"), [("a\0b", "a NUL"), ("a\ud800b", "half of a surr")])
@pytest.mark.parametrize("name", ["question", "id", "kind"])
def test_characters_that_cannot_be_written_are_refused(name, value, found):
    readers = {
        "question": lambda fields: fields.text("question"),
        "id": lambda fields: fields.id,
        "kind": lambda fields: fields.texts("kind", [value]),
    }
    said = refusal((value, value, value), readers[name])
    assert said.startswith(f"row 0 of a.parquet (the first is 0): {found}")
    assert said.endswith(f" in column `{name}`")


@pytest.mark.parametrize(("value", "name"), [(5, "5"), (" x ", "x"), ("", None), ([1], None)])
def test_ids_are_strings_or_numbers(value, name):
    assert id_of(value) == name
