"""The sections of the page on a comparison of tasks."""

from dataclasses import replace

import pytest

from reports.renderers.html import render
from scope.jobs.compare.page import page
from scope.records import GOLD

LARGE = "large <script>alert(1)</script>"


@pytest.fixture
def tasks_comparison(results):
    return results["compare"]


def items(document):
    """The articles by the question's id."""
    articles = document.section("answers").all("article")
    return {node.all("p")[0].words.split(" · ")[1].split()[1]: node for node in articles}


def of_two_models(comparison):
    names = [card.name for card in comparison.manifest.models[:2]]
    return replace(
        comparison,
        manifest=replace(comparison.manifest, models=comparison.manifest.models[:2]),
        measurements=tuple(
            row
            for row in comparison.measurements
            if row.target in names and row.against in (*names, GOLD)
        ),
        tasks=tuple(replace(task, answers=task.answers[:2]) for task in comparison.tasks),
    )


def test_two_models_get_no_matrix(tasks_comparison, parse):
    answer = parse(of_two_models(tasks_comparison).html()).section("answer")
    assert f"small and {LARGE} give the same answer to 75 %" in answer.words
    assert not [node for node in answer.all("table") if "grid" in node.attributes.get("class", "")]


def test_a_cap_keeps_the_most_disagreed_of_each_task_and_counts_the_rest(tasks_comparison, parse):
    document = parse(render(page(tasks_comparison, max_items=3)))
    assert "4 of 8 questions" in document.section("answers").words
    assert "the models disagree on 6 of the 8" in document.section("answers").words
    assert list(items(document)) == ["q3", 'q4"', "c2", "c1"]


@pytest.mark.parametrize("field", ["measurements", "tasks"])
def test_sections_without_content_are_left_out(tasks_comparison, parse, field):
    bare = replace(tasks_comparison, **{field: ()}, differences=(), clock=None)
    found = [node.attributes["id"] for node in parse(bare.html()).all("section")]
    present = {"measurements": ["answers"], "tasks": ["numbers"]}[field]
    assert found == ["answer", *present, "asked", "answered", "limits", "reproduce"]
