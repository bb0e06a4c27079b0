import pytest

from reports.builders.estimates import table_of
from reports.wording import Cell
from scope.records import Undefined


def test_kinds_follow_from_cells_and_columns_without_a_value_are_left_out():
    cell = Cell.of(Undefined(reason="none"))
    table = table_of("", ("a", "b", "c", "d"), [("x", None, cell, "y"), ("z", None, None, "")])
    assert [(one.heading, one.kind) for one in table.columns] == [
        ("a", "name"),
        ("c", "estimate"),
        ("d", "text"),
    ]
    assert table.rows[1].cells == ("z", None, "")


def test_each_row_has_its_keys_and_no_rows_are_no_table():
    table = table_of("", ("a",), [("x",), ("y",)], [{"n": "1"}, {"n": "2"}])
    assert [row.keys["n"] for row in table.rows] == ["1", "2"]
    assert table_of("", ("a",), []) is None
    with pytest.raises(ValueError, match="zip"):
        table_of("", ("a",), [("x",), ("y",)], [{"n": "1"}])
