import numpy as np

from scope.errors import DataError
from scope.jobs.fleet.scores import contributions
from scope.records import Undefined
from scope.statistics import paired_difference

NAN = np.nan
TRAIN = ["arc", "arc", "law", None]
HELD_OUT = ["arc", "law", "law", None]
IDS = ["q1", "q2", "q3", "q4"]
ANSWERS = np.array([[1, 0], [1, 1], [0, NAN], [1, 1]])


class Memory:
    """Predicts by what it learned from; keeps what it was asked to learn from."""

    def __init__(self, **probabilities):
        self.probabilities, self.asked = probabilities, []

    def __call__(self, learned):
        self.asked.append(learned.tolist())
        left = {name for name, one in zip(TRAIN, learned, strict=True) if one and name}
        found = self.probabilities["_".join(sorted(left))]
        if isinstance(found, Exception):
            raise found
        return np.asarray(found)


RIGHT = [[0.9, 0.1], [0.9, 0.9], [0.1, 0.1], [0.9, 0.9]]
MIXED = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.1]]


def value_of(found, source, target):
    return next(one.value for one in found if (one.source, one.target) == (source, target))


def test_everything_is_learned_once_and_each_benchmark_left_out_once():
    memory, steps = Memory(arc_law=RIGHT, law=RIGHT, arc=RIGHT), []
    found = contributions(memory, TRAIN, ANSWERS, IDS, HELD_OUT, advance=lambda: steps.append(1))
    assert memory.asked == [
        [True, True, True, True],
        [False, False, True, True],
        [True, True, False, True],
    ]
    assert len(steps) == 3
    assert [(one.source, one.target) for one in found] == [
        ("arc", "arc"),
        ("arc", "law"),
        ("law", "arc"),
        ("law", "law"),
    ]


def test_a_contribution_is_the_error_without_minus_the_error_with_by_hand():
    found = contributions(
        Memory(arc_law=RIGHT, law=MIXED, arc=RIGHT), TRAIN, ANSWERS, IDS, HELD_OUT
    )
    # Without arc, one of two answers of q1 goes wrong, one of two of q2, and the one of q3.
    assert value_of(found, "arc", "arc") == paired_difference([1], [0.5], ["q1"])
    assert value_of(found, "arc", "law") == paired_difference([1, 1], [0.5, 0], ["q2", "q3"])
    assert value_of(found, "law", "law").value == 0


def test_a_target_without_known_answers_is_undefined():
    answers = np.where([[False], [True], [True], [False]], NAN, ANSWERS)
    found = contributions(
        Memory(arc_law=RIGHT, law=RIGHT, arc=RIGHT), TRAIN, answers, IDS, HELD_OUT
    )
    assert isinstance(value_of(found, "arc", "law"), Undefined)
    assert value_of(found, "arc", "arc").value == 0


def test_what_cannot_be_learned_without_a_benchmark_leaves_the_others():
    refused = DataError("no answer of the model in column 1", expected="some", fix="add some")
    found = contributions(
        Memory(arc_law=RIGHT, law=refused, arc=RIGHT), TRAIN, ANSWERS, IDS, HELD_OUT
    )
    expected = Undefined(reason="without arc: no answer of the model in column 1")
    assert value_of(found, "arc", "law") == expected
    assert value_of(found, "law", "law").value == 0


def test_the_only_benchmark_leaves_nothing_to_learn_from():
    asked = []

    def fit_predict(learned):
        asked.append(learned)
        return np.asarray(RIGHT)

    found = contributions(fit_predict, ["arc", "arc"], ANSWERS, IDS, HELD_OUT)
    assert len(asked) == 1
    assert {str(one.value) for one in found} == {
        "undefined (there is nothing to learn from without arc)"
    }
