"""Asking the questions of one reference: who is asked in which order, and what is refused."""

from dataclasses import dataclass, field

import pytest

from scope.errors import DataError
from scope.jobs.reuse.pool import NOT_GIVEN, Response, ReuseModels
from scope.jobs.reuse.responses import Responses, make_case, task_items
from scope.models.scheme import Model
from scope.records import Item, Question


@dataclass(frozen=True, kw_only=True)
class Fixed(Responses):
    """Responses with fixed answers for each model; records who is asked."""

    rows: dict[str, list[int]]
    log: list[str] = field(default_factory=list)

    def answers(self, model, items):
        self.log.append(model.name)
        answers = [self.rows[model.name][int(item.id)] for item in items]
        return [Response(None if answer == NOT_GIVEN else answer) for answer in answers]


def case_of(rows):
    """A case of these answers, in the order of the models, and who was asked in which order."""
    responses = Fixed(run=None, progress=None, rows=rows)
    ours, suspect, *controls, tuned = (
        Model(name=name, role="control", adapter=None) for name in rows
    )
    models = ReuseModels(
        suspect=suspect, references=(ours,), controls=tuple(controls), derivatives=(tuned,)
    )
    options = tuple(f"option {number}" for number in range(5))
    items = task_items(
        Item(question=Question(id=str(place), text=f"Question {place}?", options=options), right=1)
        for place in range(60)
    )
    return make_case(models, ours, items, responses), responses.log


NAMES = ("ours", "suspect", "c1", "c2", "tuned")
ALTERNATING = [place % 2 for place in range(60)]


def test_a_derivative_takes_the_suspects_row_and_the_suspect_is_asked_last():
    rows = {
        name: [place % (number + 2) for place in range(60)] for number, name in enumerate(NAMES)
    }
    rows["tuned"] = [1 - answer for answer in ALTERNATING]
    case, log = case_of(rows)
    assert log == ["ours", "c1", "c2", "tuned", "suspect"]
    known = case.derivatives["tuned"].answers
    assert known[1].tolist() == rows["tuned"]
    assert case.answers.answers[1].tolist() == rows["suspect"]
    assert (known[[0, 2, 3]] == case.answers.answers[[0, 2, 3]]).all()


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([NOT_GIVEN] * 31 + ALTERNATING[31:], "answers 29"),
        ([1] * 60, "answers 'option 1' to all of 60"),
    ],
)
def test_a_reference_that_answers_too_little_is_refused(answers, message):
    with pytest.raises(DataError) as caught:
        case_of(dict.fromkeys(NAMES, answers))
    assert message in caught.value.found
