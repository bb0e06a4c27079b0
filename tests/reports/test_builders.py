""""""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison

from reports.blocks import Paragraph, Table
from reports.builders.estimates import table_of
from reports.builders.run import reproduce, run_lines
from reports.prose import plain
from reports.wording import Cell
from scope.records import Clock, Undefined

MANIFEST = build_comparison().manifest


def tables(manifest):
    """The rows of each table by the heading of its last column."""
    return {
        block.columns[1].heading: [row.cells for row in block.rows]
        for block in reproduce(manifest, None).blocks
        if isinstance(block, Table)
    }


def test_reproduction_holds_full_fingerprints_of_models_and_data():
    names = [name for name, _ in tables(MANIFEST)["Fingerprint"]]
    assert names[:2] == ["model teacher", "model student"]
    assert names[3].startswith("data file")
    assert dict(tables(MANIFEST)["Value"])["cache"] == "yes"


def test_the_exactness_of_models_and_of_the_encoder_is_stated():
    stated = tables(replace(MANIFEST, encoder_reproducible="to the byte"))["Answers are equal"]
    assert stated[-1] == ("the sentence encoder", "to the byte")
    assert tables(MANIFEST)["Answers are equal"] == stated[:-1]


def test_the_store_is_mentioned_where_answers_were_repeated():
    assert run_lines(None) == run_lines(Clock(finished="", seconds=1)) == ()
    (terms,) = run_lines(Clock(finished="", seconds=1, asked_again=8))
    assert [plain(value) for _, value in terms.pairs] == ["8 cached answers repeated; all agree"]


def test_what_was_passed_from_python_is_named_beside_the_command():
    (card,) = MANIFEST.data
    passed = replace(MANIFEST, data=(replace(card, spec="memory:0123"),))
    said = [
        [plain(block.text) for block in reproduce(one, None).blocks if isinstance(block, Paragraph)]
        for one in (MANIFEST, passed)
    ]
    assert not any("Python: " in line for line in said[0])
    assert said[1][0].startswith("Passed from Python: memory:0123. The command alone cannot")


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
