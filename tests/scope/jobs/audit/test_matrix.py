"""An audit of several references, on classifiers of a few lines."""

import pytest
import toy_models
from toy_models import SameBytes

from scope.errors import ModelError, ScopeError
from scope.jobs.audit.models import check_models
from scope.jobs.audit.request import AuditRequest
from scope.models import python as library_objects
from scope.serialization import from_json, to_json

NAMES = ("toy_models:Reference", "toy_models:Student", "toy_models:Rival")
SMALL = {"capabilities": ["typo"], "n": 6, "both_directions": True}


@pytest.fixture(scope="module")
def matrix(audit_toys, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    return audit_toys(runs, "Student", "Rival", both_directions=True, n=6)


def numbers(result):
    return {
        (one.metric, one.capability, one.against, one.target, one.subset): one.estimate
        for one in result.measurements
    }


def test_three_models_have_six_directions_on_two_capabilities(matrix):
    assert [audit.manifest.reference.name for audit in matrix.audits] == list(NAMES)
    hard = {key[1:4] for key in numbers(matrix) if key[0] == "hard_scope" and key[4] is None}
    pairs = [(one, two) for one in NAMES for two in NAMES if one != two]
    assert hard == {(name, *pair) for name in ("synonym", "typo") for pair in pairs}
    assert len(matrix.matrix.asymmetries) == 2 * 2 * 3
    assert {one.estimate.n for one in matrix.matrix.correlations} == {6}


def test_each_direction_is_the_audit_of_that_reference_alone(matrix, toy_audit):
    alone = toy_audit("Reference", "Student", reference="python:toy_models:Rival", n=6, n_most=6)
    own = next(one for one in matrix.audits if one.manifest.reference.name == NAMES[2])
    assert own.measurements == alone.measurements
    assert own.differences == alone.differences
    assert own.candidates == alone.candidates


def test_one_command_gives_one_matrix_with_a_verdict_in_each_direction(command, sentences_csv):
    done = command(
        *("audit", "--reference", "python:toy_models:Reference"),
        *("--target", "python:toy_models:Student", "--target", "python:toy_models:Rival"),
        *("--both-directions", "--capability", "typo", "--data", sentences_csv, "--n", "4"),
        *("--run", "mine", "--gate", "hard_scope[typo,toy_models:Student,toy_models:Rival]>=0"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 of 6 replacements may be made; 6 undecided")


@pytest.fixture(scope="module")
def small(audit_toys, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    return audit_toys(runs, "Rival", "Student", **SMALL)


def test_a_killed_matrix_goes_on_where_it_was(small, toy_audit, monkeypatch):
    asked, classify = [], toy_models.Rival.classify

    def count(self, texts):
        asked.extend(texts)
        if len(asked) > 60:
            raise KeyboardInterrupt
        return classify(self, texts)

    with monkeypatch.context() as killing:
        killing.setattr(toy_models.Rival, "classify", count)
        with pytest.raises(KeyboardInterrupt):
            toy_audit("Rival", "Student", **SMALL, run="killed")
    again = toy_audit("Rival", "Student", **SMALL, run="killed")
    assert to_json(again, clock=False) == to_json(small, clock=False)


def test_a_model_is_added_to_a_matrix_with_the_numbers_of_a_run_from_scratch(small, toy_audit):
    toy_audit("Rival", **SMALL, run="grown")
    grown = toy_audit("Rival", "Student", **SMALL, run="grown")
    assert to_json(grown, clock=False) == to_json(small, clock=False)


def test_references_that_are_no_targets_are_compared_with_the_targets_alone(toy_audit):
    result = toy_audit(
        "Student",
        reference=["python:toy_models:Reference", "python:toy_models:Rival"],
        capabilities=["typo"],
    )
    assert {key[2:4] for key in numbers(result) if key[0] == "hard_scope"} == {
        (reference, "toy_models:Student")
        for reference in ("toy_models:Reference", "toy_models:Rival")
    }
    assert [card.role for card in result.manifest.models] == ["reference", "reference", "target"]
    assert result.matrix.asymmetries == ()
    assert from_json(to_json(result)) == result
    rows = result.to_frame("examples")
    assert set(rows["reference"]) == {"toy_models:Reference", "toy_models:Rival"}


def test_members_of_a_group_become_targets_and_have_a_mean(toy_audit):
    result = toy_audit(
        "Student",
        groups={"seeds": ["python:toy_models:Student", "python:toy_models:Rival"]},
        capabilities=["typo"],
    )
    (hard,) = [one for one in result.matrix.groups if one.metric == "hard_scope"]
    assert hard.members == ("toy_models:Student", "toy_models:Rival")
    own = numbers(result)
    values = [own["hard_scope", "typo", hard.against, one, None].value for one in hard.members]
    assert hard.estimate.value == pytest.approx(sum(values) / 2, abs=1e-6)
    assert "mean of seeds (2 models) against" in result.html()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reference": ["a", "a"]}, "`hf:a` is listed twice"),
        ({"reference": ["b", "c"]}, "`hf:b` as its only target"),
        (
            {"reference": "predictions:x.csv#a", "both_directions": True},
            "saved predictions, `predictions:x.csv#a`, as the reference",
        ),
    ],
)
def test_models_that_make_no_matrix_are_refused(given, message):
    with pytest.raises(ScopeError, match=message):
        check_models(AuditRequest(targets=["b"], data="x.csv", **given), [])


def test_a_pair_of_model_and_tokenizer_is_one_reference(monkeypatch):
    pair = (object(), object())
    monkeypatch.setattr(library_objects, "is_known", lambda one: one is pair)
    monkeypatch.setattr("scope.jobs.audit.request.take_models", lambda *_: None)
    assert AuditRequest(reference=pair, targets=["b"], data="c").references == (pair,)


def test_a_model_counts_once_in_a_group(toy_audit, leaves_no_run):
    copies = [SameBytes("memory:one"), SameBytes("memory:two")]
    with leaves_no_run(), pytest.raises(ModelError, match="memory:one` and `memory:two` are the"):
        toy_audit("Student", groups={"seeds": copies}, capabilities=["typo"])
