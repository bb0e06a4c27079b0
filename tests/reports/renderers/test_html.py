"""The sections of an audit's page."""

from dataclasses import replace

from reports.renderers.html import render
from scope.jobs.audit.page import page
from scope.records import Clock

SECTIONS = ["answer", "examples", "estimates", "differences", "asked", "failures", "reproduce"]


def test_a_cap_keeps_lost_pairs_first_and_says_how_many_are_shown(comparison, parse):
    document = parse(render(page(comparison, max_pairs=2)))
    examples = document.section("examples")
    assert "2 of 5 examples" in examples.words
    assert "5 kept pairs, to which the reference gives one label, of which a target lost 3" in (
        examples.words
    )
    assert "the run’s parquet files" in examples.words
    assert [node.attributes["data-lost"] for node in examples.all("article")] == ["1", "0 1"]


def test_a_comparison_without_clock_or_results_still_makes_a_page(comparison, parse):
    bare = replace(
        comparison, clock=None, measurements=(), differences=(), curves=(), perturbations=()
    )
    document = parse(bare.html())
    assert [node.attributes["id"] for node in document.all("section")] == SECTIONS
    assert "finished at" not in document.section("reproduce").words
    assert not document.all("form")


def test_questions_asked_again_and_drift_are_told_at_the_end(comparison, parse):
    drift = "`python:<b>mine</b>:Model` differs by up to 0.0004"
    again = replace(comparison, clock=Clock(finished="", seconds=1, asked_again=8, drifts=(drift,)))
    words = parse(again.html()).section("reproduce").words
    assert "It repeated 8 of the stored questions" in words
    assert drift in words
