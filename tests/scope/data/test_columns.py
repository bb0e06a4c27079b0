"""Columns are the same whether pyarrow reads them or the reader by row."""

import csv
from dataclasses import replace

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data import formats
from scope.data.fields import WantedColumn, label_of, read_columns
from scope.data.specs import open_file

VALUES = st.sampled_from(["a", " a ", "b", "1", "1.0", "", " ", "é", 'say "no"', "two\nlines"])
ROWS = st.lists(st.tuples(VALUES, st.none() | VALUES, st.integers(0, 2)), min_size=1)
NAMES = ("model", "item", "label")
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def as_csv(folder, rows):
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([NAMES, *rows])
    return open_file(folder / "t.csv")


def as_parquet(folder, rows):
    columns = [pyarrow.array(list(column)) for column in zip(*rows, strict=True)]
    pyarrow.parquet.write_table(pyarrow.table(columns, NAMES), folder / "t.parquet")
    return open_file(folder / "t.parquet")


def read(source, required=False):
    wanted = {n: WantedColumn((n,), label_of, required and n == "item") for n in NAMES}
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
