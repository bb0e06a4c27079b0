"""A text that a target does not answer counts against it; others are left out for all models."""

import math
from functools import partial

import pytest
from toy_models import Reference, Student

from scope.records import Prediction


class Refuses(Reference):
    """Gives no answer to texts that contain its word, as a damaged copy or a content filter."""

    def __init__(self, word, missing=""):
        self.word, self.missing, self.name = word, missing, f"without-{word}"
        self.spec = self.fingerprint = f"memory:{self.name}"

    def classify(self, texts):
        gone = Prediction(probabilities=(math.nan,) * 2 * (not self.missing), missing=self.missing)
        rows = (Prediction(probabilities=tuple(row)) for row in super().classify(texts))
        return [gone if self.word in text else row for text, row in zip(texts, rows, strict=True)]


@pytest.fixture
def audit(toy_audit):
    return partial(toy_audit, reference=Refuses("hollow"), n=None, capabilities=["typo"])


def test_what_a_target_does_not_answer_is_wrong_and_leaves_other_targets_alone(audit):
    result = audit(targets=[Student(), Refuses("dreadful")])
    (data,), (student, target) = result.manifest.data, result.manifest.targets
    assert data.used == len(result.examples) == 48 - 5
    lefts = [(left.reason, left.count) for left in (data.left_out[0], *target.missing)]
    assert lefts == [("no answer of without-hollow: no number", 5), ("no number", 5)]
    rows = {row.metric: row for row in result.measurements[::-1] if row.target == target.name}
    assert rows["iid_agreement"].estimate.value == round(38 / 43, 6)
    gone = {each.example.id for each in result.examples if "dreadful" in each.example.text}
    for metric in ("hard_scope", "concordance", "flip_scope", "base_rate"):
        values = rows[metric].by_text()
        assert not any(values.get(id_, 0) for id_ in gone), metric
        assert metric == "base_rate" or {*values.values()} == {0, 1}
    for alone in audit(targets=[Student()]).measurements:
        assert alone.target != student.name or alone in result.measurements


@pytest.mark.parametrize(
    ("target", "used", "decision", "reason"),
    [
        (Refuses("dreadful", "server"), 38, "not shown", ""),
        (Refuses("dreadful"), 43, "may not", ""),
        (Refuses("tedious"), 43, "not shown", "gives no answer to"),
        (Refuses("a", "refused"), 43, "may not", "no answer to 41 of 43 texts (refused 41)"),
        (Refuses("a", "thought not finished"), 43, "not shown", "41 of 43 replies end inside a th"),
    ],
)
def test_servers_leave_texts_out_and_silence_counts(audit, target, used, decision, reason):
    result = audit(targets=[target])
    assert (len(result.examples), result.verdicts[0].decision) == (used, decision)
    assert reason in f"{result.verdicts[0].reason} {result.answer_shares[-1].degenerate}"
