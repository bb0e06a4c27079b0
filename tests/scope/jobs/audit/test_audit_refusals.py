"""What an audit refuses, and what it survives."""

import json

import pytest
import toy_models
from estimates import main_estimates

from scope.errors import DataError, ModelError, SpecError
from scope.records import Perturbation


def test_a_column_of_slices_with_too_many_values_is_refused(toy_audit, tmp_path):
    path = tmp_path / "many.csv"
    rows = "".join(f"word {number} here,negative\n" for number in range(51))
    path.write_text(f"text,label\n{rows}", encoding="utf-8")
    with pytest.raises(DataError, match="51 different values in the column `text`") as caught:
        toy_audit("Student", data=str(path), slices=["text"])
    assert caught.value.expected == "2 to 50 values, each of many texts"


def test_labels_without_a_common_name_are_renamed_by_a_label_map(toy_audit):
    with pytest.raises(ModelError, match="--label-map LABEL_0=NAME, where NAME is one of"):
        toy_audit("OtherLabels")
    label_map = ["LABEL_0=negative", "LABEL_1=positive"]
    comparison = toy_audit("OtherLabels", label_map=label_map, capabilities=["typo"])
    assert main_estimates(comparison, "iid_agreement")[None, "toy_models:OtherLabels"].value == 1


def breaks(self, classifier, examples, options):
    raise ZeroDivisionError("of its own making")
    yield


def forgets(self, classifier, examples, options):
    for example in examples:
        yield (Perturbation(example_id=example.id, trial=1, text=f"{example.text}!"),)


@pytest.mark.parametrize(
    ("search", "reason"),
    [(breaks, "ZeroDivisionError: of its own making"), (forgets, "not all 3 of one example")],
)
def test_a_capability_that_fails_leaves_the_others_alone(toy_audit, search, reason):
    members = {"name": "broken", "question": "Why?", "settings": lambda self: {}, "search": search}
    comparison = toy_audit("Student", capabilities=[type("Broken", (), members)(), "typo"])
    failed, measured = comparison.outcomes
    assert failed.status == "failed"
    assert reason in failed.reason
    assert "Traceback" in failed.trace
    assert measured.status == "measured"
    assert ("typo", "toy_models:Student") in main_estimates(comparison, "hard_scope")


def test_saved_predictions_can_be_a_target_once_they_hold_the_texts(
    toy_audit, saved, asked, tmp_path
):
    target = saved(toy_models.Student(), ["one text that nobody asks for"])
    with pytest.raises(ModelError, match="has no prediction for") as caught:
        toy_audit(targets=[target], capabilities=["typo"])
    waiting = next((tmp_path / "runs").glob("*/texts-for-saved.jsonl"))
    assert str(waiting) in caught.value.fix
    missing = [json.loads(line)["text"] for line in waiting.read_text().splitlines()]
    saved(toy_models.Student(), missing)
    asked.clear()
    by_file = toy_audit(targets=[target], capabilities=["typo"])
    assert len(asked) <= 8  # the reference is recognised by its answers, and asked nothing else
    live = toy_audit("Student", capabilities=["typo"])
    assert [one.estimate for one in by_file.measurements] == [
        one.estimate for one in live.measurements
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"role": "next_tokn"}, "--role 'next_tokn'"), ({"capabilities": []}, "the capabilities")],
)
def test_a_wrong_option_is_named_before_any_work(toy_audit, tmp_path, options, message):
    with pytest.raises(SpecError, match=message):
        toy_audit("Student", **options)
    assert not (tmp_path / "runs").exists()
