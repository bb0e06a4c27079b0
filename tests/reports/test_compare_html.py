"""The sections of the page on a comparison of tasks."""

from dataclasses import replace

import pytest

from reports.renderers.html import render
from scope.jobs.compare.sections import page
from scope.records import GOLD

SECTIONS = [
    "answer",
    "differ",
    "answers",
    "numbers",
    "differences",
    "asked",
    "answered",
    "limits",
    "reproduce",
]
OTHER = 'other "><img src=x onerror=window.injected=1>'
LARGE = "large <script>alert(1)</script>"


def items(document):
    """The articles by the question's id."""
    articles = document.section("answers").all("article")
    return {node.all("p")[0].words.split(" · ")[1].split()[1]: node for node in articles}


def test_sections_with_content_are_present_and_linked(tasks_document):
    assert [node.attributes["id"] for node in tasks_document.all("section")] == SECTIONS
    links = [node.attributes["href"] for node in tasks_document.all("nav")[0].all("a")]
    assert links == [f"#{name}" for name in SECTIONS]


def test_a_task_that_failed_is_named_in_the_answer(tasks_document):
    assert "failed: ValueError: " in tasks_document.section("answer").words


def test_prompts_stand_with_the_models_that_are_asked_with_them(tasks_document):
    words = tasks_document.section("asked").words
    assert f"answer, used for small, {LARGE}: {{context}} <script>" in words


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


def test_the_data_of_each_task_and_no_labels_are_listed(tasks_document):
    rows = tasks_document.section("asked").cells()
    assert rows[0] == ["Model", "Role", "Spec", "Fingerprint", "Truncated texts"]
    assert [row[0].rpartition(" ")[2] for row in rows[5:7]] == ["(extractive_qa)", "(choice)"]


def test_a_matrix_shows_two_digits_and_tells_the_interval(tasks_document):
    table = tasks_document.section("answer").all("table")[0]
    assert table.cells()[1:] == [
        [f"1 {LARGE}", "", ".54", ".12"],
        ["2 small", ".54", "", ".59"],
        [f"3 {OTHER}", ".12", ".59", ""],
    ]
    cell = next(node for node in table.all("td") if node.text == ".12")
    assert cell.attributes["title"] == f"{LARGE}, {OTHER}: 0.125 [0.000, 0.250], n = 3"
    assert cell.attributes["class"] == "h0"


def test_answers_stand_beside_gold_with_their_givers(tasks_document):
    city = items(tasks_document)["q1"]
    assert "Gold: Denver" in city.words
    assert city.cells()[1:] == [
        ["Denver ✓ right", f"small, {LARGE}"],
        ["the city of Denver", OTHER],
    ]
    assert [node.text for node in city.all("mark")] == ["the", "city", "of"]
    assert city.all("details")[0].all("p")[0].words == "She lived in the city of Denver."


def test_no_answer_and_the_empty_answer_are_told_apart(tasks_document):
    found = items(tasks_document)
    assert "Gold: (unanswerable)" in found["q2"].words
    assert ["(unanswerable) ✓ right", f"small, {OTHER}"] in found["q2"].cells()
    assert ["no answer", LARGE] in found['q4"'].cells()


def test_options_show_who_chose_them_how_surely_and_which_is_right(tasks_document):
    _, *rows = items(tasks_document)["c1"].cells()
    assert rows == [
        ["B", 'no "><img src=x onerror=window.injected=1> ✓ right', f"small .75, {LARGE} .50"],
        ["C", "<script>alert(1)</script>", OTHER],
        ["", "Answer", "Given by"],
        ["A", "yes", ""],
    ]
    assert items(tasks_document)["c3"].cells()[2] == ["", "no answer", OTHER]


def test_a_cap_keeps_the_most_disagreed_of_each_task_and_counts_the_rest(tasks_comparison, parse):
    document = parse(render(page(tasks_comparison, max_items=3)))
    assert "4 of 8 questions" in document.section("answers").words
    assert "the models disagree on 6 of the 8" in document.section("answers").words
    assert list(items(document)) == ["q3", 'q4"', "c2", "c1"]


def test_every_estimate_is_listed_with_its_n(tasks_document, tasks_comparison):
    tables = tasks_document.section("numbers").all("table")
    rows = [row for table in tables for row in table.cells()[1:]]
    assert len(rows) == len(tasks_comparison.measurements)
    assert [
        "Accuracy",
        "all",
        LARGE,
        "gold",
        "0.750",
        "[0.625, 0.875]",
        "4",
        "95 %, bootstrap",
    ] in (rows)
    assert all(any(cell.isdigit() for cell in row) for row in rows)


def test_what_was_answered_is_counted_by_task_and_by_model(tasks_document):
    rows = tasks_document.section("answered").cells()
    assert ["extractive_qa", "measured", "12", "11", "1"] in rows
    assert ["failed: no answer", "", "", "", "1"] in rows
    assert [LARGE, "extractive_qa", "4", "3"] in [row[:4] for row in rows]
    assert "Traceback" in tasks_document.section("answered").all("pre")[0].text


def test_differences_are_between_models(tasks_document):
    section = tasks_document.section("differences")
    assert "First model minus second" in section.words
    assert section.cells()[1][4:] == ["+0.250", "[+0.125, +0.375]", "4", "0.062", "0.125"]


@pytest.mark.parametrize("field", ["measurements", "tasks"])
def test_sections_without_content_are_left_out(tasks_comparison, parse, field):
    bare = replace(tasks_comparison, **{field: ()}, differences=(), clock=None)
    found = [node.attributes["id"] for node in parse(bare.html()).all("section")]
    present = {"measurements": ["answers"], "tasks": ["numbers"]}[field]
    assert found == ["answer", *present, "asked", "answered", "limits", "reproduce"]
