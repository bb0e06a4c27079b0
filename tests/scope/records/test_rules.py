"""Records refuse what no reader of theirs could use."""

import math

import pytest

from scope.records import Answer, Estimate, Item, Perturbation, Question, ScoredPair, TaskAnswers

TRIAL = {"example_id": "1", "trial": 1}
BOUNDS = {"low": 0.0, "high": 1.0, "n": 1, "method": "m"}
QUESTION = Question(id="1", text="Which?", options=("a", "b"))


@pytest.mark.parametrize(
    ("kind", "fields", "found"),
    [
        (Question, {"id": "1", "text": " "}, "empty text"),
        (Item, {"question": QUESTION, "right": 2}, "option 2"),
        (ScoredPair, {"id": "1", "first": " ", "second": "b", "score": 1.0}, "empty text"),
        (ScoredPair, {"id": "1", "first": "a", "second": "b", "score": math.nan}, "score nan"),
        (Answer, {"text": "a", "asked": False}, "not asked"),
        (Perturbation, TRIAL, "either a text or the reason"),
        (Perturbation, {**TRIAL, "text": "a", "applicable": False}, "not applicable"),
        (Estimate, {"value": math.nan, **BOUNDS}, "finite"),
        (Estimate, {"value": 2.0, **BOUNDS}, "outside"),
        (TaskAnswers, {"task": "t", "items": (), "answers": ((Answer(),),)}, "one answer per item"),
    ],
)
def test_what_no_record_can_be_is_refused(kind, fields, found):
    with pytest.raises(ValueError, match=found):
        kind(**fields)
