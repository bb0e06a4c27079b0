"""Models take turns in memory, and nobody who asks them notices."""

import weakref
from typing import ClassVar

import pytest

from scope.models.loading import OneInMemory
from scope.protocols import Answerer, ChoiceScorer, Classifier, StreamingClassifier


class Model:
    """Remembers how many of its kind are in memory."""

    alive: ClassVar = weakref.WeakSet()
    most: ClassVar = 0
    loads: ClassVar = []

    def __init__(self, name):
        self.spec, self.fingerprint, self.labels = name, f"f{name}", ("no", "yes")
        Model.loads.append(name)
        Model.alive.add(self)
        Model.most = max(Model.most, len(Model.alive))

    def classify(self, texts):
        return [f"{self.spec} on {text}" for text in texts]


class Streaming(Model):
    def stream(self, texts):
        return enumerate(self.classify(texts))


@pytest.fixture(autouse=True)
def nobody_in_memory():
    Model.alive.clear()
    Model.loads.clear()
    Model.most = 0


@pytest.fixture
def models():
    return OneInMemory()


@pytest.fixture
def add(models):
    return lambda name, kind=Model: models.add(lambda: kind(name))


def test_models_take_turns_and_one_that_is_asked_again_and_again_is_loaded_once_for_it(add):
    first, second, third = (add(name) for name in "abc")
    for model in (first, first, second, third, third, first):
        assert model.classify(["x"]) == [f"{model.spec} on x"]
        assert [alive.spec for alive in Model.alive] == [model.spec]
    assert "".join(Model.loads) == "abc" + "abca"
    assert Model.most == 1


def test_an_added_model_has_the_roles_of_its_own_and_no_others(add):
    plain, streaming = add("a"), add("b", Streaming)
    assert isinstance(plain, Classifier)
    assert not isinstance(plain, StreamingClassifier)
    assert isinstance(streaming, StreamingClassifier)
    assert not isinstance(plain, ChoiceScorer | Answerer)
    assert (plain.spec, plain.fingerprint, plain.labels) == ("a", "fa", ("no", "yes"))
    assert plain.kind is Model


def test_a_load_that_fails_leaves_the_others_as_they_were(add, models):
    first = add("a")
    first.classify(["x"])

    def fail():
        raise MemoryError

    with pytest.raises(MemoryError):
        models.add(fail)
    assert len(Model.alive) == 0
    assert first.classify(["y"]) == ["a on y"]
