"""The sections of an audit's page."""

from dataclasses import replace

import pytest

from reports.renderers.html import render
from scope.jobs.audit.page import page
from scope.records import Clock

SECTIONS = [
    "answer",
    "examples",
    "estimates",
    "differences",
    "asked",
    "failures",
    "reproduce",
]


def test_every_section_is_present_and_linked(document):
    assert [node.attributes["id"] for node in document.all("section")] == SECTIONS
    (contents,) = document.all("nav")
    links = [node.attributes["href"] for node in contents.all("a")]
    assert links == [f"#{name}" for name in SECTIONS]


@pytest.mark.parametrize("name", ["estimates", "differences"])
def test_every_row_with_an_estimate_has_its_n(document, name):
    tables = document.section(name).all("table")
    assert tables
    for table in tables:
        header, *rows = table.cells()
        assert rows
        if "n" not in header:  # below the value
            assert all("n = " in " ".join(row) or "undefined" in " ".join(row) for row in rows)
            continue
        place = header.index("n")
        assert all(len(row) == len(header) and row[place].isdigit() for row in rows)


def test_an_undefined_estimate_is_shown_with_its_reason_and_no_interval(document):
    (row,) = (
        row
        for row in document.section("estimates").cells()
        if row[3:4] == ["undefined"] and row[1] == "all"
    )
    assert row == [
        "Gap in IID accuracy",
        "all",
        "student",
        "undefined",
        'nothing is labelled "><img src=x onerror=window.injected=1>',
        "0",
        "",
    ]


def test_differences_show_sign_interval_and_adjusted_p(document):
    _, first, second = document.section("differences").cells()
    assert first[4:] == ["+0.375", "[+0.250, +0.500]", "4", "< 0.001", "0.012"]
    assert second[4:] == ["undefined", "one side is undefined", "0", "none", "none"]


def test_an_example_shows_changed_words_and_every_model_before_and_after(document):
    first = document.section("examples").all("article")[0]
    assert [node.text for node in first.all("del")] == ["film"]
    assert [node.text for node in first.all("ins")] == ["movie"]
    header, reference, student, rival = first.cells()
    assert (header[2], header[-1]) == ("Invariance", "Distance")
    assert reference[2:] == ["invariant", ".25 → .25", ".75 → .75", ""]
    assert student[2:] == ["kept", ".25 → .44", ".75 → .56", "0.375"]
    assert rival[2:] == ["lost", ".25 → .75", ".75 → .25", "1.000"]
    assert "gold label positive" in first.words
    assert "score 0.800" in first.words


def test_a_cap_keeps_lost_pairs_first_and_says_how_many_are_shown(comparison, parse):
    document = parse(render(page(comparison, max_pairs=2, max_failures=0)))
    examples = document.section("examples")
    assert "2 of 5 examples" in examples.words
    assert "5 kept pairs, to which the reference gives one label, of which a target lost 3" in (
        examples.words
    )
    assert "the run’s parquet files" in examples.words
    assert [node.attributes["data-lost"] for node in examples.all("article")] == ["1", "0 1"]


def test_failed_searches_are_counted_by_reason_and_listed(document):
    failures = document.section("failures")
    rows = failures.cells()
    assert ["typo", "measured", "3", "2", "1", "21", "0"] in rows
    assert ["failed: no admissible word <script>alert(1)</script>", "", "", "", "1", "", ""] in rows
    assert rows[-1][:3] == ["typo", "e4", "1"]
    assert "Failed searches: 1 of 1 listed" in failures.words


def test_a_failed_capability_shows_reason_and_traceback(document):
    failures = document.section("failures")
    assert any(
        row[:2] == ["negation", "failed: ValueError: javascript:window.injected=1"]
        for row in failures.cells()
    )
    assert "Traceback (most recent call last)" in failures.all("pre")[0].text


def test_a_comparison_without_clock_or_results_still_makes_a_page(comparison, parse):
    bare = replace(
        comparison, clock=None, measurements=(), differences=(), curves=(), perturbations=()
    )
    document = parse(bare.html())
    assert [node.attributes["id"] for node in document.all("section")] == SECTIONS
    assert "No metric was measured" in document.section("estimates").words
    assert "finished at" not in document.section("reproduce").words
    assert not document.all("form")


def test_questions_asked_again_and_drift_are_told_at_the_end(comparison, parse):
    drift = "`python:<b>mine</b>:Model` differs by up to 0.0004"
    again = replace(comparison, clock=Clock(finished="", seconds=1, asked_again=8, drifts=(drift,)))
    words = parse(again.html()).section("reproduce").words
    assert "It repeated 8 of the stored questions" in words
    assert drift in words


def test_drawings_have_labels_and_the_title_names_the_models(document):
    drawings = [node for node in document.walk() if node.attributes.get("role") == "img"]
    assert len(drawings) == 6
    assert all(node.attributes["aria-label"] and node.all("svg") for node in drawings)
    assert document.all("title")[0].text.startswith("SCoPE audit: student, rival <script>")
