"""Comparisons as rows and as tables for the terminal."""

from made_up_tasks import choice_task

from scope.estimation.tasks import measure_task
from scope.records import Comparison, Manifest, ModelCard
from scope.tables import to_frame, to_text


def compared(answers, names):
    numbers = measure_task(answers, names, normalize=False, encode=None, encode_words=None, seed=0)
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
    )


def two_models():
    return compared(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)), ("a", "b"))


def test_two_models_are_shown_against_gold_and_against_each_other():
    text = to_text(two_models())
    lines = [line for line in text.splitlines() if "against gold" in line or "a ~ b" in line]
    assert [line.split("│")[1].strip() for line in lines] == [
        "a against gold",
        "b against gold",
        "a ~ b",
    ]
    assert "0.500  n=4" in lines[0]
    assert "capa_discrete" in text


def test_what_is_undefined_throughout_is_a_note_and_no_column():
    text = to_text(two_models())
    assert "│ capa " not in text
    assert "capa: undefined (a gives no probabilities)" in text


def test_of_many_models_the_most_and_the_least_alike_pairs_are_shown():
    names = [f"m{number}" for number in range(7)]
    rows = [(place % 2, *((place * (model + 1)) % 3 for model in range(7))) for place in range(12)]
    comparison = compared(choice_task(*rows), names)
    text = to_text(comparison, width=200)
    shown = [line.split("│")[1].strip() for line in text.splitlines() if " ~ " in line]
    value = {
        f"{one.target} ~ {one.against}": one.estimate.value
        for one in comparison.measurements
        if one.metric == "capa_discrete"
    }
    ordered = sorted(value.values(), reverse=True)
    assert [value[pair] for pair in shown] == ordered[:5] + ordered[-5:]
    assert "11 pairs between these are in the report and in --json" in text


def test_a_frame_has_one_row_an_estimate():
    frame = to_frame(two_models())
    row = frame[(frame["metric"] == "agreement") & (frame["target"] == "a")].iloc[0]
    assert (row["against"], row["value"], row["n"], row["reason"]) == ("b", 0.5, 4, "")
    undefined = frame[frame["metric"] == "capa"].iloc[0]
    assert undefined["value"] != undefined["value"]
    assert "gives no probabilities" in undefined["reason"]
