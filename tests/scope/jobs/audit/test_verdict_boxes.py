"""The box of each verdict: its word, a sign, one sentence, and the numbers behind a line."""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison, estimate

from reports.blocks import Callout, Fold, Table, within
from reports.prose import plain
from scope.jobs.audit.page import page
from scope.records import Endpoint, Replacement

SIGNS = [
    ("may replace", "student may replace teacher", "✓", "good"),
    ("may not", "student may not replace teacher", "✗", "bad"),
    ("not shown", "It is not shown that student may replace teacher", "?", "undecided"),
]


def page_with(decision, opening):
    verdict = Replacement(
        target="student",
        decision=decision,
        endpoints=(Endpoint(name="accuracy", estimate=estimate(0.0), limit=-0.02),),
        sentence=f"{opening}: accuracy says so. Measured against itself.",
    )
    return page(replace(build_comparison(), verdicts=(verdict,)))


@pytest.mark.parametrize(("decision", "opening", "sign", "kind"), SIGNS)
def test_a_box_has_the_verdict_with_a_sign_and_why(decision, opening, sign, kind):
    blocks = within(page_with(decision, opening).sections[0].blocks)
    (box,) = (one for one in blocks if isinstance(one, Callout))
    head, why, fold = box.blocks
    assert (box.kind, plain(head.text)) == (kind, f"{sign} {opening}")
    assert plain(why.text) == "Accuracy says so. Measured against itself."
    assert isinstance(fold, Fold)
    (table,) = (one for one in fold.blocks if isinstance(one, Table))
    assert [row.cells[0] for row in table.rows] == ["accuracy"]


def test_the_terminal_begins_with_the_whole_sentence():
    first, *_ = page_with(*SIGNS[1][:2]).brief
    assert plain(first.text) == (
        "✗ student may not replace teacher: accuracy says so. Measured against itself."
    )
