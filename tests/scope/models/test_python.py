import math
import re
import sys
from pathlib import Path

import pytest

from scope.errors import ModelError, SpecError
from scope.models.options import ModelOptions
from scope.models.python import load
from scope.models.questions import KINDS, ask
from scope.models.scheme import load_classifier, load_model
from scope.records import Answer, Prediction, Question
from scope.testing import HashedWords

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


def test_a_complete_classifier_is_taken_as_it_stands():
    model, known = load_classifier("python:scope.testing:HashedWords"), HashedWords()
    assert model.kind is HashedWords
    assert (model.spec, model.fingerprint) == (known.spec, known.fingerprint)
    assert model.classify(["a film"]) == known.classify(["a film"])


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


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("module", "the model spec `python:module`"),
        (":attribute", "the model spec `python::attribute`"),
        ("no_such_module_anywhere:a", "`no_such_module_anywhere` cannot be imported"),
    ],
)
def test_a_spec_that_names_nothing_is_refused(rest, found):
    with pytest.raises(SpecError, match=found):
        load(rest, ModelOptions())


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
        ("[[0.5, 0.5]]", "gives 1 answers to 2 texts"),
        ("[[0.5, 0.5], [1.0]]", "answers 'y' with [1.0]"),
        ("[[0.5, 0.5], ['0.5', None]]", "answers 'y' with ['0.5', None]"),
        ("None", "answers 2 texts with None"),
        ("[[10**400, 1]] * 2", "answers 'x' with [1000"),
        ("iter([[0.5, 0.5]] * 9)", "gives more than 2 answers to 2 texts"),
        ("[[0.5, float('inf')]] * 2", "answers 'x' with [0.5, inf]"),
        ("[[1.5, -0.5]] * 2", "answers 'x' with [1.5, -0.5]"),
        ("[[0.5, 0.5], [0.5, 0.49]]", "answers 'y' with [0.5, 0.49]"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(module, rows, found):
    name = module(f"def answer(texts): return {rows}\nanswer.labels = ('a', 'b')\n")
    with pytest.raises(ModelError, match=re.escape(f"`python:{name}:answer` {found}")):
        load(f"{name}:answer", ModelOptions()).classify(["x", "y"])


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


ANSWERER = """
class Reader:
    def answer(self, questions):
        return [question.context.split()[0] for question in questions]
"""
OPTIONS = ("yes", "no")
EVERYTHING = """
import numpy as np
from scope.records import Answer, Prediction
class All:
    labels = ("bad", "good")
    def classify(self, texts): return [[0.25, 0.75] for text in texts]
    def fill(self, questions): return (word for word in [" cat ", None, Answer(text="dog")])
    def choose(self, questions): return [1, "B", "no", [0.75, 0.25], np.array([0.25, 0.75]), None]
    def predict_next(self, texts):
        known = Prediction(probabilities=(1.0,), tokens=("x",))
        return [{" a": 0.25, " b": np.float32(0.5)}, known]
"""


def roles_of(model):
    return [role for role, kind in KINDS.items() if isinstance(model, kind.protocol)]


def asked(count=1, options=()):
    return [
        Question(id=str(number), text="Is it?", context=f"word{number} more", options=options)
        for number in range(count)
    ]


def test_an_object_has_those_roles_alone_for_which_it_has_a_method(module):
    model = load_model(f"python:{module(ANSWERER)}:Reader", "answerer")
    assert roles_of(model) == ["answerer"]
    assert dict(model.answer(asked(2))) == {0: Answer(text="word0"), 1: Answer(text="word1")}
    with pytest.raises(ModelError, match="with the roles: answerer"):
        load_model("python:models_of_a_user:Reader", "choice_scorer")


def test_an_object_may_have_all_roles_of_a_model_of_language(module):
    model = load(f"{module(EVERYTHING)}:All", ModelOptions())
    assert roles_of(model) == ["classifier", "mask_filler", "choice_scorer", "next_token"]
    assert model.classify(["x"]) == [Prediction(probabilities=(0.25, 0.75))]
    fillers = [Answer(text="cat"), Answer(), Answer(text="dog")]
    assert dict(model.fill(asked(3))) == dict(enumerate(fillers))
    first = Answer(choice=0, probabilities=(0.75, 0.25))
    second = Answer(choice=1, probabilities=(0.25, 0.75))
    choices = [*[Answer(choice=1)] * 3, first, second, Answer()]
    assert dict(model.choose(asked(6, OPTIONS))) == dict(enumerate(choices))
    assert model.predict_next(["x", "y"]) == [
        Prediction(probabilities=(0.5, 0.25), tokens=(" b", " a")),
        Prediction(probabilities=(1.0,), tokens=("x",)),
    ]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("'word'", "answers 2 questions with 'word'"),
        ("['a']", "gives 1 answers to 2 questions"),
        ("(word for word in 'abc')", "gives more than 2 answers to 2 questions"),
        ("['a', 3]", "answers 'Is it.*' with 3"),
    ],
)
def test_answers_in_words_are_checked(module, given, found):
    name = module(f"class Reader:\n    def answer(self, questions): return {given}\n")
    model = load(f"{name}:Reader", ModelOptions())
    with pytest.raises(ModelError, match=f"`python:{name}:Reader` {found}"):
        list(model.answer(asked(2)))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("2", "the option 2, counted from 0, of 2 options (are they counted from 1?)"),
        ("'maybe'", "'maybe', which is not one of the options"),
        ("[0.5, 0.25]", "[0.5, 0.25]"),
        ("[float('nan'), 1.0]", "[nan, 1.0]"),
    ],
)
def test_choices_are_checked(module, given, found):
    name = module(f"class Chooser:\n    def choose(self, questions): return [{given}]\n")
    with pytest.raises(ModelError, match=re.escape(f"answers 'Is it?' with {found}")):
        list(load(f"{name}:Chooser", ModelOptions()).choose(asked(options=OPTIONS)))


@pytest.mark.parametrize(
    "given", ["{}", "'a'", "{'a': 1, 'b': 0.5}", "{'a': -1}", "{'a': 10**400}"]
)
def test_next_tokens_are_checked(module, given):
    name = module(f"class Speaker:\n    def predict_next(self, texts): return [{given}]\n")
    with pytest.raises(ModelError, match="answers 'The' with"):
        load(f"{name}:Speaker", ModelOptions()).predict_next(["The"])


def test_questions_come_in_portions_and_a_failure_costs_those_of_one_alone(module):
    name = module(
        "class Reader:\n"
        "    def answer(self, questions):\n"
        "        if questions[0].id == '128': raise KeyError('x')\n"
        "        return [f'{question.id} of {len(questions)}' for question in questions]\n"
    )
    answers = load(f"{name}:Reader", ModelOptions()).answer(asked(130))
    given = [next(answers) for _ in range(128)]
    assert given[0] == (0, Answer(text="0 of 64"))
    assert given[127] == (127, Answer(text="127 of 64"))
    with pytest.raises(ModelError, match="line 3"):
        next(answers)
    last = list(load(f"{name}:Reader", ModelOptions()).answer(asked(70)))
    assert last[-1] == (69, Answer(text="69 of 6"))


def test_where_nothing_is_asked_the_users_code_is_not_called(module):
    name = module(
        "class All:\n"
        "    labels = ('a', 'b')\n"
        "    def classify(self, texts): return [texts[0]]\n"
        "    def answer(self, questions): return questions[0].text\n"
        "    def predict_next(self, texts): return texts[0]\n"
    )
    model = load(f"{name}:All", ModelOptions())
    for role in ("answerer", "next_token", "classifier"):
        assert list(ask(model, role, [])) == []
