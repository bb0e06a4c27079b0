"""What a terminal shows of a comparison, and its numbers as rows."""

import pytest
from made_up_tasks import choice_task

from reports.blocks import Table
from reports.renderers.terminal import to_text
from reports.wording import number
from scope.estimation.tasks import measure_task
from scope.jobs.compare.sections import page
from scope.records import CompareResult, Estimate, Manifest, ModelCard


def compared(answers, names):
    numbers = measure_task(answers, names, normalize=False, seed=0)
    return CompareResult(
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
        tasks=(answers,),
        task_shares=numbers.shares,
    )


def shown(result, width=100):
    return to_text(page(result).brief, width)


def two_models():
    return compared(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)), ("a", "b"))


def test_two_models_are_shown_against_gold_and_against_each_other():
    gold, between = shown(two_models(), width=80).split("choice: between models")
    assert gold.startswith("Answers by task and model")
    assert "choice: against gold" in gold
    row = next(line for line in gold.splitlines() if "│ accuracy " in line)
    assert [cell.strip() for cell in row.split("│")[2:-1]] == ["0.500  n=4", "0.250  n=4"]
    assert "a ~ b" in between
    row = next(line for line in between.splitlines() if " agreement " in line)
    assert "0.500  n=4" in row


def test_every_table_of_the_terminal_is_in_the_page(tasks_comparison):
    made = page(tasks_comparison)
    tables = [block for block in made.brief if isinstance(block, Table)]
    assert len(tables) == 5
    assert all(any(one is table for one in made.blocks()) for table in tables)


def test_below_each_pair_stands_the_median_of_the_others_without_degenerate_models():
    rows = [(place % 3, 0, *((place * m) // 7 % 3 for m in (1, 2, 3))) for place in range(30)]
    result = compared(choice_task(*rows), ("same", "a", "b", "c"))
    values = {
        (one.target, one.against): one.estimate.value
        for one in result.measurements
        if one.metric == "capa_discrete" and "same" not in (one.target, one.against)
    }
    text = shown(result, 200)
    first = text[text.index("│ a ~ b") :].splitlines()[:3]
    middle = number((values["a", "c"] + values["b", "c"]) / 2)
    assert any(f"median of others: {middle} " in line for line in first)


def test_remarks_on_answers_come_before_all_tables():
    rows = compared(choice_task(*((place % 3, 0, place % 3) for place in range(9))), ("a", "b"))
    lines = shown(rows, width=200).splitlines()
    assert lines[0].startswith("degenerate: a on choice: it gives the option `")
    assert lines[1].startswith("Answers by task and model")


def test_of_many_degenerate_models_the_first_are_named():
    names = [f"m{number}" for number in range(13)]
    rows = compared(choice_task(*((place % 3, *[0] * 13) for place in range(9))), names)
    lines = shown(rows, width=200).splitlines()
    assert sum(line.startswith("degenerate: ") for line in lines) == 10
    assert lines[10].startswith("and 3 more such models")


def test_what_is_undefined_throughout_is_a_note_and_no_row():
    text = shown(two_models())
    assert "│ capa " not in text
    assert "capa: undefined (a gives no probabilities)" in text


@pytest.fixture(scope="module")
def many():
    names = [f"m{number}" for number in range(12)]
    rows = [
        (place % 2, *((place * (model + 1)) // 5 % 3 for model in range(12))) for place in range(30)
    ]
    return compared(choice_task(*rows), names)


def test_of_very_many_pairs_the_most_and_the_least_alike_are_shown(many):
    text = shown(many)
    pairs = [line.split("│")[1].strip() for line in text.splitlines() if " ~ " in line]
    value = {
        f"{one.target} ~ {one.against}": one.estimate.value
        for one in many.measurements
        if one.metric == "capa_discrete" and isinstance(one.estimate, Estimate)
    }
    ordered = sorted(value.values(), reverse=True)
    assert [value[pair] for pair in pairs] == ordered[:4] + ordered[-4:]
    assert f"and {66 - 8} more between these: in the report and in --json-full" in text
    assert "Also measured: cohen_kappa" in text


def test_no_table_is_wider_than_a_usual_terminal(many):
    for comparison in (two_models(), many):
        lines = shown(comparison, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        # A row that was cut off would lack its right border.
        assert {line[-1] for line in lines if line.startswith("│")} == {"│"}


def test_foreign_names_cannot_colour_the_terminal():
    names = ("\x1b[31mred", "b")
    text = shown(compared(choice_task((0, 0, 0), (1, 1, 2)), names))
    assert "\x1b" not in text
    assert "x1b[31mred" in text


def test_a_frame_has_one_row_an_estimate():
    result = two_models()
    frame = result.to_frame()
    assert len(frame) == len(result.measurements) == len([*result.rows()])
    row = frame[(frame["metric"] == "agreement") & (frame["target"] == "a")].iloc[0]
    assert (row["against"], row["value"], row["n"], row["reason"]) == ("b", 0.5, 4, "")
    undefined = frame[frame["metric"] == "capa"].iloc[0]
    assert undefined["value"] != undefined["value"]
    assert "gives no probabilities" in undefined["reason"]
