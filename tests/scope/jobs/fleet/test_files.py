import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.jobs.fleet.files import file_cell, write_table


def test_names_with_commas_quotes_and_lines_are_read_back_as_they_were(tmp_path):
    names = ["a,b", 'c"d', "e\nf", "plain", "ü"]
    write_table(tmp_path / "t.csv", ("model", "probability"), [(name, 0.5) for name in names])
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == names
    assert {row["probability"] for row in rows} == {"0.500000"}


def test_rows_are_written_as_they_come_and_the_table_is_there_when_all_are(tmp_path):
    """A table of millions of rows must not stand in memory; nor must half of one be read."""
    path = tmp_path / "t.csv"

    def rows():
        for number in range(2000):
            if number == 1999:
                (begun,) = tmp_path.iterdir()
                assert begun != path
                assert begun.stat().st_size > 8000
            yield f"model-{number}", 0.5

    write_table(path, ("model", "probability"), rows())
    assert list(tmp_path.iterdir()) == [path]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2001


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "@sum", "-x", "\tx", "=HYPERLINK(A1)"])
def test_a_name_that_a_spreadsheet_would_compute_is_marked_as_text(name):
    assert file_cell(name) == f"'{name}"


@given(number=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_an_id_stays_as_it_is(number):
    assert file_cell(str(number)) == str(number)
