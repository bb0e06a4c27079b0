"""The page of a matrix, on one audit of classifiers of a few lines."""

from dataclasses import replace

import pytest

from reports.blocks import Table
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.audit.page import page
from scope.records import Undefined


@pytest.fixture(scope="module")
def result(audit_toys, tmp_path_factory):
    return audit_toys(
        tmp_path_factory.mktemp("runs"),
        *("Student", "Rival"),
        both_directions=True,
        groups={"both": [f"python:toy_models:{name}" for name in ("Reference", "Student")]},
        capabilities=["typo"],
    )


def answer(result):
    """The blocks before the fold: the lines of the box, and the tables."""
    blocks = page(result).sections[0].blocks
    return [plain(one.text) for one in blocks[0].blocks], [
        one for one in blocks if isinstance(one, Table)
    ]


def test_the_matrix_has_every_model_as_row_and_column_and_all_else_is_folded(result):
    _, (table,) = answer(result)
    assert plain(table.caption).startswith("Same reaction on typo")
    # A model is not compared with itself.
    empty = [[plain(cell) == "–" for cell in row.cells[1:]] for row in table.rows]
    assert empty == [[place == row for place in range(3)] for row in range(3)]
    assert all(one.folded for one in page(result).sections[1:])


def test_the_box_names_the_most_and_the_least_alike_pair(result):
    head, numbers = answer(result)[0]
    assert head.startswith("Most alike on typo: toy_models:")
    assert numbers.startswith("Same reaction ")
    assert "; least alike are toy_models:" in numbers
    text = " ".join(to_text(page(result).brief).split())
    assert "of 3 tests a pair of models differs by its direction" in text
    assert len(to_text(page(result).brief, width=80).splitlines()) <= 25


def test_the_box_says_how_many_pairs_may_be_as_alike(result):
    rows = [one for one in result.measurements if one.metric == "concordance" and not one.subset]
    for values, remarks in (([place / 10 for place in range(6)], 0), ([0.5] * 6, 1)):
        changed = tuple(
            replace(one, estimate=replace(one.estimate, value=value, low=value, high=value))
            for one, value in zip(rows, values, strict=True)
        )
        _, numbers = answer(replace(result, measurements=changed))[0]
        assert numbers.count("(the intervals of 5 other pairs overlap with it)") == remarks


def test_where_nothing_was_measured_the_box_says_so_and_there_is_no_matrix(result):
    nothing = tuple(
        replace(one, estimate=Undefined(reason="no pair")) for one in result.measurements
    )
    assert answer(replace(result, measurements=nothing)) == (
        ["On typo, no pair was measured."],
        [],
    )


def test_a_degenerate_model_is_named_and_is_in_no_most_alike_pair(result):
    shares = tuple(
        replace(one, degenerate="one answer" if one.model.endswith("Student") else None)
        for one in result.answer_shares
    )
    lines, _ = answer(replace(result, answer_shares=shares))
    assert lines[-1].startswith("degenerate: toy_models:Student: one answer")
    assert "toy_models:Student against" not in "".join(lines)


def test_the_page_is_written_in_every_form(result):
    assert "Asymmetry of each pair of models" in result.html()
    assert "pairs that share a model are not independent" in result.to_markdown(verbose=True)
    assert '"against": "toy_models:Student"' in result.to_short_json()
    alone = replace(result, matrix=replace(result.matrix, asymmetries=()))
    assert "see --both-directions" in " ".join(alone.to_markdown().replace("\\", "").split())
