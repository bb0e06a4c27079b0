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

    def __init__(self, name):
        self.spec, self.fingerprint, self.labels = name, f"f{name}", ("no", "yes")
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
    Model.most = 0


@pytest.fixture
def loads():
    return []


@pytest.fixture
def models():
    return OneInMemory()


@pytest.fixture
def add(models, loads):
    def run(name, kind=Model):
        def load():
            loads.append(name)
            return kind(name)

        return models.add(load)

    return run


def test_no_two_models_are_in_memory_at_a_time(add):
    added = [add(name) for name in "abc"]
    for one in (*added, *added, *reversed(added)):
        assert one.classify(["x"]) == [f"{one.spec} on x"]
        assert [model.spec for model in Model.alive] == [one.spec]
    assert Model.most == 1


def test_a_model_that_is_asked_again_and_again_is_loaded_once_for_it(add, loads):
    first, second = add("a"), add("b")
    assert loads == ["a", "b"]
    for _ in range(3):
        first.classify(["x"])
    assert loads == ["a", "b", "a"]
    second.classify(["x"])
    first.classify(["x"])
    assert loads == ["a", "b", "a", "b", "a"]


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
