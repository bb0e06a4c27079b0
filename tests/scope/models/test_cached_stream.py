"""Answers that come one by one are kept as they come."""

import pytest

from scope.errors import ModelError
from scope.models import cached
from scope.models.cached import STREAMED_AT_ONCE, CachedClassifier, MemoryStore
from scope.protocols import StreamingClassifier
from scope.records import Prediction


class Slow:
    """Answers one text after another, in reverse order, and fails after some."""

    spec = "openai:http://localhost:1/v1#slow"
    fingerprint = "f"
    labels = ("short", "long")

    def __init__(self, fails_after=None, failure=RuntimeError):
        self.asked = []
        self.fails_after = fails_after
        self.failure = failure

    def stream(self, texts):
        for place in reversed(range(len(texts))):
            if len(self.asked) == self.fails_after:
                raise self.failure("the line went dead")
            self.asked.append(texts[place])
            yield place, answer(texts[place])

    def classify(self, texts):
        raise AssertionError("asked for all at once")


def answer(text):
    share = round(1 / (1 + len(text)), 6)
    return Prediction(probabilities=(share, 1 - share))


class CountingStore(MemoryStore):
    def __init__(self):
        super().__init__()
        self.writes = []

    def put(self, fingerprint, predictions):
        self.writes.append(len(predictions))
        super().put(fingerprint, predictions)


def numbered(count):
    return [f"text {number:04}" for number in range(count)]


def test_a_stream_is_preferred_and_answers_stand_in_the_order_of_the_texts():
    model = Slow()
    assert isinstance(model, StreamingClassifier)
    texts = ["three", "a", "three", "to"]
    told = []
    found = CachedClassifier(model, MemoryStore()).classify(texts, told.append)
    assert found == [answer(text) for text in texts]
    assert sum(told) == 3


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_what_came_before_a_failure_is_kept_and_never_asked_again(failure):
    texts = numbered(10)
    store, told = MemoryStore(), []
    first = Slow(fails_after=7, failure=failure)
    with pytest.raises(failure, match="the line went dead"):
        CachedClassifier(first, store).classify(texts, told.append)
    assert sum(told) == len(store.get("f", texts)) == 7
    second = Slow()
    assert CachedClassifier(second, store).classify(texts) == [answer(text) for text in texts]
    assert sorted(first.asked + second.asked) == texts


def test_answers_are_written_together_but_not_too_many():
    store = CountingStore()
    CachedClassifier(Slow(), store).classify(numbered(2 * STREAMED_AT_ONCE + 3))
    assert store.writes == [STREAMED_AT_ONCE, STREAMED_AT_ONCE, 3]


def test_answers_that_come_slowly_are_written_one_by_one(monkeypatch):
    monkeypatch.setattr(cached, "SECONDS_BETWEEN_WRITES", 0.0)
    store = CountingStore()
    CachedClassifier(Slow(), store).classify(numbered(3))
    assert store.writes == [1, 1, 1]


def test_without_new_texts_nothing_is_asked():
    model = Slow(fails_after=0)
    store = MemoryStore()
    store.put("f", {"a": answer("a")})
    assert CachedClassifier(model, store).classify(["a", "a"]) == [answer("a")] * 2


@pytest.mark.parametrize(
    ("places", "message"),
    [([0, 0], "text 0 of 2 twice"), ([0, 2], "text 2 of 2"), ([1], "1 answers to 2 texts")],
)
def test_places_that_do_not_fit_the_texts_are_refused_and_the_others_kept(places, message):
    class Astray(Slow):
        def stream(self, texts):
            return ((place, answer("x")) for place in places)

    store = MemoryStore()
    with pytest.raises(ModelError, match=message):
        CachedClassifier(Astray(), store).classify(["a", "b"])
    assert len(store.get("f", ["a", "b"])) == 1
