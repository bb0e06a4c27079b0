"""The page of a matrix, on one audit of classifiers of a few lines."""

from dataclasses import replace

import pytest

import scope
from reports.blocks import Bullets, Fold, Table
from reports.prose import plain
from scope.jobs.audit.sections import page
from scope.records import Undefined


@pytest.fixture(scope="module")
def result(sentences_csv, tmp_path_factory):
    specs = [f"python:toy_models:{name}" for name in ("Reference", "Student", "Rival")]
    return scope.audit(
        reference=specs[0],
        targets=specs[1:],
        both_directions=True,
        groups={"both": specs[:2]},
        capabilities=["typo"],
        data=str(sentences_csv),
        n=8,
        runs=tmp_path_factory.mktemp("runs"),
    )


def findings(result):
    (bullets,) = [one for one in page(result).sections[0].blocks if isinstance(one, Bullets)]
    return [plain(one) for one in bullets.items]


def test_each_matrix_has_every_model_as_row_and_column(result):
    tables = [one for one in page(result).sections[0].blocks if isinstance(one, Table)]
    assert [plain(one.caption) for one in tables] == [
        "Hard-SCoPE on typo",
        "Soft-SCoPE (0.1, 1.0) on typo",
        "Concordance on typo",
        "Answers to the unchanged texts",
    ]
    for table in tables[:3]:
        # A model is not compared with itself.
        empty = [[cell is None for cell in row.cells[1:]] for row in table.rows]
        assert empty == [[place == row for place in range(3)] for row in range(3)]


def test_the_headline_names_the_most_and_the_least_alike_pair(result):
    first, asymmetry = findings(result)
    assert first.startswith("On typo, the most alike pair is ")
    assert "; the least alike is " in first
    assert asymmetry.endswith(
        "of 3 tests a pair of models differs by its direction (p below 0.05, Holm-corrected)."
    )


def test_the_headline_says_how_many_pairs_may_be_as_alike(result):
    rows = [one for one in result.measurements if one.metric == "concordance" and not one.subset]
    for values, remarks in (([place / 10 for place in range(6)], 0), ([0.5] * 6, 2)):
        changed = tuple(
            replace(one, estimate=replace(one.estimate, value=value, low=value, high=value))
            for one, value in zip(rows, values, strict=True)
        )
        first, *_ = findings(replace(result, measurements=changed))
        assert first.count("(the intervals of 5 other pairs overlap with it)") == remarks


def test_where_nothing_was_measured_the_headline_says_so(result):
    nothing = tuple(
        replace(one, estimate=Undefined(reason="no pair")) for one in result.measurements
    )
    assert findings(replace(result, measurements=nothing))[0] == "On typo, no pair was measured."


def test_a_degenerate_model_is_named_first_and_is_no_most_alike_pair(result):
    shares = tuple(
        replace(one, degenerate="one answer" if one.model.endswith("Student") else None)
        for one in result.answer_shares
    )
    first, second, _ = findings(replace(result, answer_shares=shares))
    assert first.startswith("toy_models:Student is degenerate: one answer")
    assert "toy_models:Student against" not in second


def test_every_table_of_the_terminal_stands_on_the_page(result):
    shown = page(result)
    on_page = list(shown.blocks())
    tables = [block for block in shown.brief if isinstance(block, Table)]
    assert len(tables) == 5
    assert all(table in on_page for table in tables)


def test_each_reference_has_a_fold_with_all_its_estimates(result):
    (section,) = [one for one in page(result).sections if one.anchor == "references"]
    folds = [one for one in section.blocks if isinstance(one, Fold)]
    assert [plain(one.title) for one in folds] == [
        f"Against toy_models:{name}" for name in ("Reference", "Student", "Rival")
    ]
    assert all(any(isinstance(block, Table) for block in one.blocks) for one in folds)


def test_the_page_is_written_in_every_form(result):
    assert "Asymmetry of each pair of models" in result.html()
    assert "pairs that share a model are not independent" in result.to_markdown(verbose=True)
    assert '"against": "toy_models:Student"' in result.to_short_json()
