"""A text that a target does not answer counts against it; others are left out for all models."""

import math

import pytest
from toy_models import Reference, Student

from scope.records import Prediction

KEPT = ("hard_scope", "soft_scope", "concordance", "base_rate", "flip_scope")


class Refuses(Reference):
    """Gives no answer to texts that contain its word, as a damaged copy or a content filter."""

    def __init__(self, word, missing=""):
        self.word, self.missing, self.name = word, missing, f"without-{word}"
        self.spec = self.fingerprint = f"memory:{self.name}"

    def classify(self, texts):
        numbers = () if self.missing else (math.nan,) * 2
        gone = Prediction(probabilities=numbers, missing=self.missing)
        rows = (Prediction(probabilities=tuple(row)) for row in super().classify(texts))
        return [gone if self.word in text else row for text, row in zip(texts, rows, strict=True)]


@pytest.fixture
def audited(toy_audit):
    """Audits the toy reference, without a word, and gives the measurements of the last target."""

    def audit(*targets):
        given = {"reference": Refuses("hollow"), "targets": targets, "n": None}
        result = toy_audit(**given, capabilities=["typo"])
        rows = [row for row in result.measurements if row.subset is None]
        last = [row for row in rows if row.target == result.manifest.targets[-1].name]
        return result, {row.metric.partition("(")[0]: row for row in last}

    return audit


def test_what_a_target_does_not_answer_is_wrong_and_leaves_other_targets_alone(audited):
    result, numbers = audited(Student(), Refuses("dreadful"))
    (data,), targets = result.manifest.data, result.manifest.targets
    assert data.used == len(result.examples) == 48 - 5
    left = data.left_out[0]
    assert (left.reason, left.count) == ("no answer of without-hollow: no number", 5)
    assert [(lack.reason, lack.count) for lack in targets[-1].missing] == [("no number", 5)]
    assert numbers["iid_agreement"].estimate.value == round(38 / 43, 6)
    gone = {each.example.id for each in result.examples if "dreadful" in each.example.text}
    for metric in KEPT:
        values = numbers[metric].by_text()
        assert {id_: values.get(id_, 0) for id_ in gone} == dict.fromkeys(gone, 0), metric
        assert min(value for id_, value in values.items() if id_ not in gone) == 1, metric
    _, alone = audited(Student())
    of_student = {row for row in result.measurements if row.target == targets[0].name}
    assert of_student.issuperset(alone.values())


@pytest.mark.parametrize(
    ("target", "used", "reason"),
    [
        (Refuses("dreadful", "server"), 38, None),
        (Refuses("a", "refused"), 43, "it gives no answer to 41 of 43 texts (refused 41)"),
    ],
)
def test_servers_leave_texts_out_and_a_target_that_answers_too_little_is_degenerate(
    audited, target, used, reason
):
    result, _ = audited(target)
    assert result.manifest.data[0].used == len(result.examples) == used
    assert result.answer_shares[-1].degenerate == reason
    assert (result.verdicts[0].reason is not None) == bool(reason)
