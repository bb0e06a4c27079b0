"""The sections of the page on a comparison of tasks."""

from dataclasses import replace

import pytest

from scope.records import GOLD


@pytest.fixture
def tasks_comparison(results):
    return results["compare"]


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
    assert "The answers of 2 models" in answer.words
    assert not [node for node in answer.all("table") if "grid" in node.attributes.get("class", "")]


@pytest.mark.parametrize("field", ["measurements", "tasks"])
def test_sections_without_content_are_left_out(tasks_comparison, parse, field):
    bare = replace(tasks_comparison, **{field: ()}, differences=(), clock=None)
    found = [node.attributes["id"] for node in parse(bare.html()).all("section")]
    present = {"measurements": ["answers"], "tasks": ["numbers"]}[field]
    assert found == ["answer", *present, "asked", "answered", "limits", "reproduce"]
