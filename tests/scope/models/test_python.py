import math
import sys
from pathlib import Path

import pytest

from scope.errors import ModelError, SpecError
from scope.models import ModelOptions, load_classifier
from scope.models.python import load
from scope.records import Question

FUNCTION = """
def answer(texts):
    return [[1 / (1 + len(text)), len(text) / (1 + len(text))] for text in texts]
answer.labels = ["short", "long"]
"""
CLASS = """
class Answer:
    labels = ("short", "long")
    def __init__(self):
        self.share = 0.25
    def classify(self, texts):
        return [[self.share, 1 - self.share] for text in texts]
made = Answer()
made.share = 0.75
"""
COMPLETE = """
from scope.records import Prediction
class Complete:
    spec = "python:theirs"
    fingerprint = "theirs"
    labels = ("short", "long")
    def classify(self, texts):
        return [Prediction(probabilities=(0.125, 0.875), truncated=True) for text in texts]
complete = Complete()
"""


def test_a_function_with_labels_answers(module):
    model = load_classifier(f"python:{module(FUNCTION)}:answer")
    assert model.labels == ("short", "long")
    assert model.spec == "python:models_of_a_user:answer"
    assert [prediction.probabilities for prediction in model.classify(["a", "abc"])] == [
        (0.5, 0.5),
        (0.25, 0.75),
    ]
    assert model.classify([]) == []


def test_a_complete_classifier_is_taken_as_it_stands(module):
    model = load_classifier(f"python:{module(COMPLETE)}:complete")
    assert model.kind.__name__ == "Complete"
    assert (model.spec, model.fingerprint) == ("python:theirs", "theirs")
    assert model.classify(["a"])[0].truncated


def test_the_fingerprint_changes_with_the_file_and_the_attribute(module):
    """A class is made, and an instance taken."""
    models = [
        load(f"{module(source)}:{attribute}", ModelOptions())
        for source in (CLASS, CLASS + "\n")
        for attribute in ("Answer", "made")
    ]
    assert len({model.fingerprint for model in models}) == 4
    shares = [model.classify(["a"])[0].probabilities[0] for model in models]
    assert shares == [0.25, 0.75] * 2


NEIGHBOURLY = """
import sys
class Model:
    labels = ("short", "long")
    def classify(self, texts):
        from a_neighbour import SHARE
        assert sys.path.count(sys.path[0]) == 1
        return [[SHARE, 1 - SHARE] for text in texts]
"""


def test_a_module_finds_its_neighbours_when_it_is_called_and_scope_does_not(module):
    module("SHARE = 0.25", name="a_neighbour")
    models = [load(f"{module(NEIGHBOURLY)}:Model", ModelOptions()) for _ in range(2)]
    for model in [*models, *models]:
        assert model.classify(["a"])[0].probabilities == (0.25, 0.75)
    assert str(Path.cwd()) not in sys.path


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("[[0.5, 0.5]]", "answered 2 texts with the shape (1, 2)"),
        ("[[0.5, 0.5], [1.0]]", "answered with something that is not a table of numbers"),
        ("None", "answered with something that is not a table of numbers (TypeError"),
        ("iter([[0.5, 0.5]] * 9)", "answered 2 texts with the shape (3, 2)"),
        ("[[0.5, float('nan')]] * 2", "answered 2 texts with NaN or negative numbers"),
        ("[[1.5, -0.5]] * 2", "answered 2 texts with NaN or negative numbers"),
        ("[[0.5, 0.5], [0.5, 0.49]]", "answered with a row that sums to 0.99"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(module, rows, found):
    name = module(f"def answer(texts): return {rows}\nanswer.labels = ('a', 'b')\n")
    with pytest.raises(ModelError) as raised:
        load(f"{name}:answer", ModelOptions()).classify(["x", "y"])
    assert raised.value.found.startswith(f"`python:{name}:answer` {found}")


@pytest.mark.parametrize(
    "row", ["np.array([1 / 3, 2 / 3], np.float16)", "[0.33301, 0.66602]", "[0.334, 0.668]"]
)
def test_a_sum_that_is_off_by_half_precision_is_normalised(module, row):
    name = module(
        f"import numpy as np\ndef classify(texts): return [{row}]\nclassify.labels = ('a', 'b')\n"
        f"class Chooser:\n    def choose(self, questions): return [{row}]\n"
        f"class Speaker:\n    def predict_next(self, texts): return [dict(zip('ba', {row}))]\n"
    )
    (label,) = load(f"{name}:classify", ModelOptions()).classify(["x"])
    question = Question(id="0", text="Which?", options=("a", "b"))
    ((_, option),) = load(f"{name}:Chooser", ModelOptions()).choose([question])
    assert label.probabilities == option.probabilities == pytest.approx((1 / 3, 2 / 3), abs=3e-4)
    assert math.fsum(label.probabilities) == pytest.approx(1, abs=2e-6)
    assert load(f"{name}:Speaker", ModelOptions()).predict_next(["x"])


def test_a_missing_module_is_named():
    with pytest.raises(SpecError, match="`no_such_module_anywhere` cannot be imported"):
        load("no_such_module_anywhere:a", ModelOptions())


@pytest.mark.parametrize("rest", ["module", ":attribute", "a b:c"])
def test_a_spec_without_module_and_attribute_is_refused(rest):
    with pytest.raises(SpecError, match=f"the model spec `python:{rest}`"):
        load(rest, ModelOptions())


def test_a_module_built_into_python_has_no_file_to_read(monkeypatch):

    def answer(texts):
        return [[0.5, 0.5] for _ in texts]

    answer.labels = ("a", "b")
    monkeypatch.setattr(sys, "answer_of_a_test", answer, raising=False)
    assert load("sys:answer_of_a_test", ModelOptions()).labels == ("a", "b")
