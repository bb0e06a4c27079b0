"""An audit of several references, on classifiers of a few lines."""

import pytest

import scope
from scope.jobs.audit.request import AuditRequest
from scope.records import Estimate
from scope.serialization import from_json, to_json

NAMES = ("toy_models:Reference", "toy_models:Student", "toy_models:Rival")


@pytest.fixture
def toy_matrix(toy_audit):
    def audit(*targets, **options):
        return toy_audit(*targets, **{"both_directions": True, **options})

    return audit


def numbers(result):
    return {
        (one.metric, one.capability, one.against, one.target, one.subset): one.estimate
        for one in result.measurements
    }


def test_three_models_have_six_directions_on_two_capabilities(toy_matrix):
    result = toy_matrix("Student", "Rival")
    assert [audit.manifest.reference.name for audit in result.audits] == list(NAMES)
    hard = {key[1:4] for key in numbers(result) if key[0] == "hard_scope" and key[4] is None}
    pairs = [(one, two) for one in NAMES for two in NAMES if one != two]
    assert hard == {(name, *pair) for name in ("synonym", "typo") for pair in pairs}
    assert len(result.matrix.asymmetries) == 2 * 2 * 3
    assert {one.estimate.n for one in result.matrix.correlations} == {6}


def test_each_direction_is_the_audit_of_that_reference_alone(toy_matrix, toy_audit):
    whole = toy_matrix("Student", "Rival", capabilities=["typo"])
    alone = toy_audit(
        "Reference", "Student", reference="python:toy_models:Rival", capabilities=["typo"]
    )
    own = next(one for one in whole.audits if one.manifest.reference.name == NAMES[2])
    assert own.measurements == alone.measurements
    assert own.differences == alone.differences
    assert own.flips == alone.flips


def test_the_order_of_the_models_plays_no_part_in_the_numbers(toy_matrix):
    forth = toy_matrix("Student", "Rival", capabilities=["typo"])
    back = toy_matrix(
        "Reference", "Student", reference="python:toy_models:Rival", capabilities=["typo"]
    )
    assert numbers(forth) == numbers(back)
    key = repr
    assert sorted(forth.matrix.asymmetries, key=key) == sorted(back.matrix.asymmetries, key=key)
    assert sorted(forth.matrix.correlations, key=key) == sorted(back.matrix.correlations, key=key)
