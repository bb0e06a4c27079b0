"""A reference of Python is the same model if it answers alike, whatever its module's text."""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison

from scope.decision.baselines import drifts_of_earlier_runs
from scope.decision.same_reference import recognise_reference
from scope.records import Prediction
from scope.store import RunFolder


def audit(*, spec="python:mine:Model", fingerprint="f1", shift=0.0, texts=10, **other):
    """An audit of so many texts, whose reference has this card and says ``0.75 - shift``."""
    whole = build_comparison()
    reference = replace(whole.manifest.reference, spec=spec, fingerprint=fingerprint, **other)
    one = whole.examples[0]
    answer = Prediction(probabilities=(0.25 + shift, 0.75 - shift))
    examples = [
        replace(one, example=replace(one.example, id=str(at), text=f"text {at}"), reference=answer)
        for at in range(texts)
    ]
    models = (reference, *whole.manifest.targets)
    return replace(
        whole,
        manifest=replace(whole.manifest, models=models),
        examples=tuple(examples),
        perturbations=(),
    )


def test_the_same_reference_with_the_same_answers_needs_no_word():
    assert recognise_reference(audit(), audit()) == ("", "")


def test_other_code_with_the_same_answers_is_the_same_model_and_reported():
    different, drift = recognise_reference(audit(fingerprint="f0"), audit())
    assert different == ""
    assert "with different code; it answers 10 texts of both runs" in drift


def test_drift_of_the_same_code_is_reported():
    different, drift = recognise_reference(audit(shift=0.0005), audit())
    assert different == ""
    assert "with the same code; it" in drift
    assert "differ by up to 0.0005" in drift


@pytest.mark.parametrize("fingerprint", ["f0", "f1"])
def test_answers_beyond_drift_are_another_model(fingerprint):
    different, drift = recognise_reference(audit(fingerprint=fingerprint, shift=0.01), audit())
    assert different == "has a reference that gives other answers to the same texts"
    assert drift == ""


@pytest.mark.parametrize("spec", ["hf:a", "gguf:a.gguf", "predictions:a.jsonl"])
def test_a_model_whose_bytes_are_hashed_goes_by_them(spec):
    different, _ = recognise_reference(audit(spec=spec, fingerprint="f0"), audit(spec=spec))
    assert different == "differs in the reference"


@pytest.mark.parametrize("other", [{"spec": "python:your:Model"}, {"labels": ("no", "yes")}])
def test_another_name_or_other_labels_are_another_reference(other):
    different, _ = recognise_reference(audit(fingerprint="f0"), audit(**other))
    assert different == "differs in the reference"


def test_fewer_than_eight_texts_do_not_show_that_other_code_is_the_same_model():
    different, _ = recognise_reference(audit(fingerprint="f0"), audit(texts=7))
    assert "only 7 texts of this run: 8 are needed" in different
    assert recognise_reference(audit(), audit(texts=7)).different == ""


def test_drift_from_an_earlier_run_is_told_once_and_of_targets_nothing(tmp_path):
    now, earlier = audit(), replace(audit(fingerprint="f0"), clock=None)
    RunFolder(tmp_path).comparison_path.write_text(earlier.to_json(), encoding="utf-8")
    told = list(drifts_of_earlier_runs(now, [str(tmp_path), str(tmp_path), "student", "none"]))
    assert len(told) == 1
    assert told[0].startswith(f"the run `{tmp_path}` has answers of the reference")
