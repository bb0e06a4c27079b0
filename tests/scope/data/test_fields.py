"""Which columns hold text, label and id, and how their values are read.

Columns are the same whether pyarrow reads them or the reader by row.
"""

import csv
import math
from dataclasses import replace

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data import formats
from scope.data.fields import WantedColumn, choose_columns, label_of, read_columns, read_fields
from scope.data.sources import Source, table_source
from scope.data.specs import open_file
from scope.errors import DataError

NAMES = {"id": ("id",), "question": ("question", "text"), "kind": ("kind",)}


def only(class_names=(), **columns):
    """The only row of a table, with a value a column."""
    values = {name: [value] for name, value in columns.items()}
    table = table_source("a.parquet", values, {"kind": class_names} if class_names else {})
    (fields,) = read_fields(table, NAMES, required=("question",))
    return fields


def test_values_are_found_by_what_they_mean():
    fields = only(other="x", Text="no", question="Who?", id=3)
    assert (fields.text("question"), fields.id) == ("Who?", "3")
    assert (fields.text("kind"), fields.name("kind")) == ("", None)


def test_a_required_meaning_without_a_column_is_named():
    with pytest.raises(DataError) as raised:
        only(id=1, words="Who?")
    assert raised.value.found == (
        "no column for the question in a.parquet; its columns are `id`, `words`"
    )
    assert raised.value.expected == "a column called question or text"


def chosen(*columns, text=None, label=None, strings=None):
    source = Source("a.csv", columns, strings or columns, lambda _: iter(()), "line")
    return choose_columns(source, text=(text,) if text else (), label=label)


def test_without_a_column_of_strings_there_is_no_text_column():
    with pytest.raises(DataError) as raised:
        chosen("first", "second", "label", strings=("label",))
    assert raised.value.found == (
        "no text column in a.csv; its columns are `first`, `second`, `label`"
    )
    assert "text, sentence, content, review, question" in raised.value.expected


@pytest.mark.parametrize("role", ["text", "label"])
def test_a_named_column_that_is_missing_is_an_error_with_the_columns(role):
    with pytest.raises(DataError) as raised:
        chosen("text", "label", **{role: "txet"})
    assert raised.value.found == "no column `txet` in a.csv"
    assert raised.value.expected == "one of its columns: `text`, `label`"
    assert raised.value.fix == f"choose another {role} column"


@pytest.mark.parametrize(
    ("value", "label"), [(1, "1"), (2.5, "2.5"), (True, "True"), (None, None), (math.nan, None)]
)
def test_labels_become_strings_and_missing_ones_none(value, label):
    assert label_of(value) == label


UNWRITABLE = (("a\0b", "a NUL"), ("a\ud800b", "half of a surr"))


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        *(("kind", value, f"label {value}") for value in (2, -2)),
        ("kind", ["a", 1], "a list as the label or name, ['a', 1],"),
        ("question", 3, "a number as the text, "),
        ("question", {}, "a dict as the text, "),
        *((column, *case) for column in ("question", "id", "kind") for case in UNWRITABLE),
    ],
)
def test_a_value_that_cannot_be_read_is_named_with_its_row_and_column(column, value, found):
    fields = only(("neg", "pos"), **{"question": "Who?", column: value})
    with pytest.raises(DataError) as raised:
        _ = fields.id if column == "id" else fields.text("question"), fields.name("kind")
    assert raised.value.found.startswith(f"row 0 of a.parquet (the first is 0): {found}")
    assert raised.value.found.endswith(f" in column `{column}`")


def test_the_only_column_of_strings_is_the_text():
    columns = chosen("id", "score", "headline", "label", strings=("id", "headline", "label"))
    assert columns == {"text": "headline", "label": "label", "id": "id"}


VALUES = st.sampled_from(["a", " a ", "b", "1", "1.0", "", " ", "é", 'say "no"', "two\nlines"])
ROWS = st.lists(st.tuples(VALUES, st.none() | VALUES, st.integers(0, 2)), min_size=1)
COLUMNS = ("model", "item", "label")
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def as_csv(folder, rows):
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *rows])
    return open_file(folder / "t.csv")


def as_parquet(folder, rows):
    columns = [pyarrow.array(list(column)) for column in zip(*rows, strict=True)]
    pyarrow.parquet.write_table(pyarrow.table(columns, COLUMNS), folder / "t.parquet")
    return open_file(folder / "t.parquet")


def read(source, required=False):
    wanted = {n: WantedColumn((n,), label_of, required and n == "item") for n in COLUMNS}
    rows, left_out = read_columns(source, wanted)
    return rows.astype(object).fillna("none").values.tolist(), left_out.commonest()


@QUIET
@given(ROWS, st.sampled_from([as_csv, as_parquet]), st.booleans())
def test_both_ways_give_the_same_values_and_codes(tmp_path, rows, write, required):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(formats, "_LARGE_BATCH", 3)
        source = write(tmp_path, rows)
        assert source.batches is not None
        assert read(source, required) == read(replace(source, batches=None), required)


def test_several_columns_make_one_value(tmp_path):
    source = as_csv(tmp_path, [("a", "1", 0), ("b", "2", 0), ("a", "1", 1)])
    wanted = WantedColumn(("model", "item"), lambda *values: "/".join(values))
    rows, _ = read_columns(source, {"whole": wanted})
    assert rows["whole"].tolist() == ["a/1", "b/2", "a/1"]
