"""An earlier run is compared with where it asked the same; if not, it is said what differs."""

import dataclasses
from dataclasses import replace

import pytest
from made_up_comparison import build_comparison

from scope.decision.baselines import why_not_comparable
from scope.decision.gates import failed_gates
from scope.records import AnswerShares, Clock, Estimate, Measurement, Prediction, Undefined
from scope.store import RunFolder


def measured(target="student", metric="hard_scope", values=(1.0,) * 100):
    return Measurement(
        metric=metric,
        target=target,
        capability="typo",
        estimate=Estimate(value=0.949, low=0.884, high=0.979, n=60, method="made up"),
        example_ids=tuple(map(str, range(len(values)))),
        values=tuple(values),
    )


@pytest.fixture
def comparison():
    """Makes a comparison with these measurements."""

    def make(*measurements, shares=()):
        whole = build_comparison()
        measured = tuple(one for one in whole.outcomes if one.status == "measured")
        return dataclasses.replace(
            whole, outcomes=measured, measurements=measurements, answer_shares=tuple(shares)
        )

    return make


def told(comparison, gate):
    return list(failed_gates(comparison, [gate]))


def test_an_earlier_run_whose_reference_answers_otherwise_is_no_baseline(comparison, tmp_path):
    now = comparison(measured())
    turned = [
        dataclasses.replace(
            one,
            reference=dataclasses.replace(
                one.reference, probabilities=one.reference.probabilities[::-1]
            ),
        )
        for one in now.examples
    ]
    earlier = dataclasses.replace(now, examples=tuple(turned), measurements=(measured(),))
    RunFolder(tmp_path).result_path.write_text(earlier.to_json(), encoding="utf-8")
    (line,) = told(now, f"hard_scope>={tmp_path}-0.05")
    assert "gives other answers to the same texts" in line


def test_a_run_is_not_held_against_itself(comparison, tmp_path):
    same = comparison(measured())
    RunFolder(tmp_path).result_path.write_text(same.to_json(), encoding="utf-8")
    (line,) = told(same, f"hard_scope>={tmp_path}-0.05")
    assert "is this run itself" in line


def test_an_earlier_run_that_measured_the_same_is_another_one(comparison, tmp_path):
    now = comparison(measured())
    clock = Clock(finished="2020-01-01T00:00:00+00:00", seconds=1.0)
    earlier = dataclasses.replace(now, clock=clock)
    RunFolder(tmp_path).result_path.write_text(earlier.to_json(), encoding="utf-8")
    assert told(now, f"hard_scope>={tmp_path}-0.05") == []


def test_an_earlier_run_on_other_data_is_no_baseline(comparison, tmp_path):
    earlier = comparison(measured())
    data = tuple(dataclasses.replace(card, fingerprint="x") for card in earlier.manifest.data)
    other = dataclasses.replace(earlier, manifest=dataclasses.replace(earlier.manifest, data=data))
    RunFolder(tmp_path).result_path.write_text(other.to_json(), encoding="utf-8")
    (line,) = told(earlier, f"hard_scope>={tmp_path}-0.05")
    assert "differs in the data" in line


def test_a_degenerate_target_of_an_earlier_run_is_no_baseline(comparison, tmp_path):
    dead = AnswerShares(
        model="student", counts={"good": 9}, accuracy=Undefined(reason=""), degenerate="one answer"
    )
    earlier = comparison(measured(values=[0.0] * 100), shares=[dead])
    RunFolder(tmp_path).result_path.write_text(earlier.to_json(), encoding="utf-8")
    (line,) = told(comparison(measured()), f"hard_scope>={tmp_path}-0.05")
    assert "student is degenerate: one answer" in line


def test_what_an_earlier_run_asked_otherwise_is_named(comparison, tmp_path):
    now = comparison(measured())
    settings = {**now.manifest.settings, "seed": 99, "unheard of": 1}
    manifest = dataclasses.replace(now.manifest, settings=settings, capabilities=())
    earlier = dataclasses.replace(now, manifest=manifest)
    RunFolder(tmp_path).result_path.write_text(earlier.to_json(), encoding="utf-8")
    (line,) = told(now, f"hard_scope>={tmp_path}-0.05")
    assert line.endswith(
        "differs in the capabilities or their settings, the setting `seed`, the setting "
        "`unheard of`"
    )


def test_the_targets_of_an_earlier_run_without_this_number_are_named(comparison, tmp_path):
    now = comparison(measured())
    rival = next(card.name for card in now.manifest.targets if card.name != "student")
    other = comparison(measured(rival, metric="ood_agreement"))
    RunFolder(tmp_path).result_path.write_text(other.to_json(), encoding="utf-8")
    (line,) = told(now, f"hard_scope>={tmp_path}-0.05")
    assert line.endswith(f"hard_scope on typo was not measured there; its targets are {rival}")


def audit(fingerprint="f1", shift=0.0):
    """An audit whose reference has this fingerprint and says ``0.75 - shift`` to every text."""
    whole = build_comparison()
    reference = replace(whole.manifest.reference, fingerprint=fingerprint)
    answer = Prediction(probabilities=(0.25 + shift, 0.75 - shift))
    return replace(
        whole,
        manifest=replace(whole.manifest, models=(reference, *whole.manifest.targets)),
        examples=tuple(replace(one, reference=answer) for one in whole.examples),
        clock=Clock(finished="", seconds=shift),
    )


def test_answers_within_drift_are_those_of_the_same_reference():
    assert why_not_comparable(audit(shift=0.0005), audit()) == ""


def test_answers_beyond_drift_are_those_of_another_reference():
    assert (
        why_not_comparable(audit(shift=0.01), audit())
        == "has a reference that gives other answers to the same texts"
    )


def test_another_fingerprint_is_another_reference_whatever_it_answers():
    assert why_not_comparable(audit("f0", shift=0.0005), audit()) == "differs in the reference"
