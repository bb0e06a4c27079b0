"""Comparisons as rows and as tables for the terminal."""

import pytest
from made_up_tasks import choice_task

from scope.estimation.tasks import measure_task
from scope.records import Comparison, Estimate, Manifest, ModelCard
from scope.tables import to_frame, to_text


def compared(answers, names):
    numbers = measure_task(answers, names, normalize=False, seed=0)
    return Comparison(
        manifest=Manifest(
            job="compare",
            models=tuple(
                ModelCard(name=name, role="model", spec=f"hf:{name}", fingerprint="f")
                for name in names
            ),
            data=(),
            capabilities=(),
            settings={},
            versions={},
            command="scope compare",
        ),
        outcomes=(),
        measurements=numbers.measurements,
        differences=numbers.differences,
        curves=(),
        examples=(),
        perturbations=(),
        tasks=(answers,),
        task_shares=numbers.shares,
    )


def two_models():
    return compared(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)), ("a", "b"))


def test_two_models_are_shown_against_gold_and_against_each_other():
    gold, between = to_text(two_models(), width=80).split("choice: between models")
    assert gold.startswith("choice: answers")
    assert "choice: against gold" in gold
    row = next(line for line in gold.splitlines() if "│ accuracy " in line)
    assert [cell.strip() for cell in row.split("│")[2:-1]] == ["0.500  n=4", "0.250  n=4"]
    assert "a ~ b" in between
    row = next(line for line in between.splitlines() if " agreement " in line)
    assert "0.500  n=4" in row


def test_what_is_said_of_answers_comes_before_all_tables():
    rows = compared(choice_task(*((place % 3, 0, place % 3) for place in range(9))), ("a", "b"))
    lines = to_text(rows, width=200).splitlines()
    assert lines[0].startswith("degenerate: a on choice: it gives the option `")
    assert lines[1] == "choice: answers" or lines[1].startswith("choice: answers")


def test_of_many_degenerate_models_the_first_are_named():
    names = [f"m{number}" for number in range(13)]
    rows = compared(choice_task(*((place % 3, *[0] * 13) for place in range(9))), names)
    lines = to_text(rows, width=200).splitlines()
    assert sum(line.startswith("degenerate: ") for line in lines) == 10
    assert lines[10].startswith("and 3 more such models")


def test_what_is_undefined_throughout_is_a_note_and_no_row():
    text = to_text(two_models())
    assert "│ capa " not in text
    assert "capa: undefined (a gives no probabilities)" in text


@pytest.fixture
def many():
    names = [f"m{number}" for number in range(12)]
    rows = [
        (place % 2, *((place * (model + 1)) // 5 % 3 for model in range(12))) for place in range(30)
    ]
    return compared(choice_task(*rows), names)


def test_of_very_many_pairs_the_most_and_the_least_alike_are_shown(many):
    text = to_text(many)
    shown = [line.split("│")[1].strip() for line in text.splitlines() if " ~ " in line]
    value = {
        f"{one.target} ~ {one.against}": one.estimate.value
        for one in many.measurements
        if one.metric == "capa_discrete" and isinstance(one.estimate, Estimate)
    }
    ordered = sorted(value.values(), reverse=True)
    assert [value[pair] for pair in shown] == ordered[:5] + ordered[-5:]
    assert f"{66 - 10} between these are in the report and in --json" in text
    assert "also measured: cohen_kappa" in text


def test_no_table_is_wider_than_a_usual_terminal(many):
    for comparison in (two_models(), many):
        lines = to_text(comparison, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        # A row that was cut off would lack its right border.
        assert {line[-1] for line in lines if line.startswith("│")} == {"│"}


def test_foreign_names_cannot_colour_the_terminal():
    names = ("\x1b[31mred", "b")
    text = to_text(compared(choice_task((0, 0, 0), (1, 1, 2)), names))
    assert "\x1b" not in text
    assert "x1b[31mred" in text


def test_a_frame_has_one_row_an_estimate():
    frame = to_frame(two_models())
    row = frame[(frame["metric"] == "agreement") & (frame["target"] == "a")].iloc[0]
    assert (row["against"], row["value"], row["n"], row["reason"]) == ("b", 0.5, 4, "")
    undefined = frame[frame["metric"] == "capa"].iloc[0]
    assert undefined["value"] != undefined["value"]
    assert "gives no probabilities" in undefined["reason"]
