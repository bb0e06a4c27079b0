import pytest

from scope.data.fields import read_fields
from scope.data.sources import Row, Source
from scope.errors import DataError

NAMES = {"id": ("id",), "question": ("question", "text"), "kind": ("kind",)}


def source(columns, *rows, class_names=()):
    def read(asked):
        for number, row in enumerate(rows):
            values = dict(zip(columns, row, strict=True))
            yield Row(number, tuple(values[column] for column in asked))

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
