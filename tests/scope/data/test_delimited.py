import pytest

from scope.data.delimited import open_delimited
from scope.errors import DataError


@pytest.fixture
def opened(tmp_path):
    def open_text(content: str, delimiter: str = ","):
        path = tmp_path / "a.csv"
        path.write_bytes(content.encode())
        return open_delimited(path, delimiter)

    return open_text


def test_only_the_columns_asked_for_come_in_the_order_asked_for(opened):
    source = opened("a,b,c\n1,2,3\n4,5,6\n")
    assert [row.values for row in source.read(["c", "a"])] == [("3", "1"), ("6", "4")]


def test_places_are_the_lines_where_rows_begin(opened):
    source = opened('text\r\n"two\r\nlines"\r\n\r\nlast\r\n')
    assert list(source.read(["text"])) == [(2, ("two\r\nlines",)), (5, ("last",))]


def test_tabs_separate_the_fields_of_tsv(opened):
    source = opened('text\tlabel\nsay "no", please\t1\n', "\t")
    assert [row.values for row in source.read(["text"])] == [('say "no", please',)]


def test_a_column_of_numbers_is_no_column_of_strings(opened):
    source = opened("n,score,text,gaps\n1,1e3,good,\n2,nan,5,7\n")
    assert source.string_columns == ("text",)


@pytest.mark.parametrize(("row", "fields"), [("a", 1), ("a,b,c", 3)])
def test_a_ragged_row_is_refused_by_line(opened, row, fields):
    with pytest.raises(DataError) as raised:
        list(opened(f"text,label\ngood,1\n{row}\n").read(["text"]))
    assert f"{fields} fields in line 3 of a.csv" in str(raised.value)
    assert "expected: 2, as in its header" in str(raised.value)


def test_a_ragged_row_far_below_is_refused_while_reading(opened):
    source = opened("text,label\n" + "good,1\n" * 3000 + "bad\n")
    with pytest.raises(DataError, match="1 fields in line 3002"):
        list(source.read(["text"]))


@pytest.mark.parametrize("row", ['"never closed,1\nnext,2\n', '"closed" too early,1\n'])
def test_quotes_that_do_not_match_are_refused_with_the_line_where_the_row_begins(opened, row):
    with pytest.raises(DataError, match=r"the row that begins in line 3 of a\.csv is broken"):
        opened(f"text,label\ngood,1\n{row}")


def test_an_empty_file_is_refused(opened):
    with pytest.raises(DataError, match=r"a\.csv is empty\nexpected: a header line"):
        opened("")


def test_two_columns_of_one_name_are_refused(opened):
    with pytest.raises(DataError, match="column `text` more than once in the header"):
        opened("text,label,text\na,b,c\n")
