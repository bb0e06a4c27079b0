"""An audit's page as blocks, on the result that the tests of pages share."""

from dataclasses import replace

import pytest
from kept_results import kept

from reports.blocks import Cards, Table, within
from scope.jobs.audit.page import page
from scope.records import Undefined

AUDIT = kept("audit")


def blocks_of(result, anchor, kind, **limits):
    (section,) = (one for one in page(result, **limits).sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def test_where_all_is_undefined_there_is_a_table_and_no_picture():
    nothing = tuple(
        replace(row, estimate=Undefined(reason="nothing invariant")) for row in AUDIT.measurements
    )
    result = replace(AUDIT, measurements=nothing)
    assert blocks_of(result, "answer", Table) == []
    tables = blocks_of(result, "estimates", Table)[1:4]
    assert {row.cells[3].value for table in tables for row in table.rows} == {"undefined"}


@pytest.mark.parametrize(
    ("limit", "lost"), [(0, []), (2, ["1", "0 1"]), (4, ["1", "0 1", "1", ""])]
)
def test_a_limit_cuts_from_the_end(limit, lost):
    shown = [cards.cards for cards in blocks_of(AUDIT, "examples", Cards, max_pairs=limit)]
    assert [card.keys["lost"] for cards in shown for card in cards] == lost
