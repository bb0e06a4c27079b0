""""""

from dataclasses import replace

import pytest
from kept_results import kept

from reports.blocks import Paragraph
from reports.estimates import table_of
from reports.prose import plain
from reports.sections import asked_differently, reproduce, run_lines
from reports.wording import Cell
from scope.records import Clock, PromptReading, Undefined

MANIFEST = kept("audit").manifest


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


@pytest.mark.parametrize(
    ("readings", "cut", "said"),
    [
        ([PromptReading(template=""), None], 1, ""),
        (
            [
                PromptReading(template="<u>", first_prompts={"choice": "<s>Who?"}),
                PromptReading(template=""),
            ],
            0,
            "Chat template: its own for A, none for B. First token: <s> for A, none for B.",
        ),
        (
            [PromptReading(template=""), PromptReading()],
            2,
            "Chat template: none for A, not known here for B. Texts cut (of those asked): 0 for A, "
            "2 of 9 for B.",
        ),
    ],
)
def test_what_differs_between_the_prompts_of_two_models_is_said(readings, cut, said):
    first, second, *_ = MANIFEST.models
    cards = (
        replace(first, name="A", reading=readings[0]),
        replace(second, name="B", reading=readings[1], truncated=cut, answers=9),
    )
    lines = [plain(block.text) for block in asked_differently(cards)]
    assert lines == ([f"The prompts differ. {said}"] if said else [])


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
