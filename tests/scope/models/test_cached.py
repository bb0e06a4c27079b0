import pytest

from scope.errors import ModelError
from scope.models.cached import KEPT_AT_ONCE, CachedClassifier, MemoryStore
from scope.records import Prediction


class Counting:
    """Answers by the text's length, notes what it was asked, and fails at one text."""

    spec = "python:counting:Counting"
    labels = ("short", "long")

    def __init__(self, fails_at=None, fingerprint="f"):
        self.asked = []
        self.fails_at = fails_at
        self.fingerprint = fingerprint

    def classify(self, texts):
        if self.fails_at in texts:
            raise RuntimeError("the power went")
        self.asked.extend(texts)
        return [answer(text) for text in texts]


def answer(text):
    share = round(1 / (1 + len(text)), 6)
    return Prediction(probabilities=(share, 1 - share))


def numbered(count):
    return [f"text {number:04}" for number in range(count)]


def test_answers_stand_in_the_order_of_the_texts_with_repetitions():
    texts = ["three", "a", "three", "to", "a"]
    cached = CachedClassifier(Counting(), MemoryStore())
    assert cached.classify(texts) == [answer(text) for text in texts]


def test_every_distinct_text_is_asked_once_over_several_calls():
    model = Counting()
    cached = CachedClassifier(model, MemoryStore())
    for texts in (["a", "b", "a"], ["b", "c"], ["c", "a"]):
        cached.classify(texts)
    assert sorted(model.asked) == ["a", "b", "c"]


def test_a_store_serves_another_classifier_of_the_same_fingerprint_only():
    store = MemoryStore()
    CachedClassifier(Counting(), store).classify(["a"])
    same, other = Counting(), Counting(fingerprint="g")
    CachedClassifier(same, store).classify(["a"])
    CachedClassifier(other, store).classify(["a"])
    assert (same.asked, other.asked) == ([], ["a"])


def test_a_failure_in_the_second_portion_leaves_the_first_stored():
    texts = numbered(KEPT_AT_ONCE + 5)
    store = MemoryStore()
    told = []
    failing = CachedClassifier(Counting(fails_at=texts[-1]), store)
    with pytest.raises(RuntimeError, match="the power went"):
        failing.classify(texts, told.append)
    assert set(store.get("f", texts)) == set(texts[:KEPT_AT_ONCE])
    assert sum(told) == KEPT_AT_ONCE

    second = Counting()
    CachedClassifier(second, store).classify(texts)
    assert second.asked == texts[KEPT_AT_ONCE:]


def test_advance_counts_every_new_text_once_and_count_known_the_others():
    cached = CachedClassifier(Counting(), MemoryStore())
    cached.classify(["b", "c"])
    texts = [*numbered(KEPT_AT_ONCE + 1), "b", "b"]
    assert cached.count_known(texts) == 1
    told = []
    cached.classify(texts, told.append)
    assert told == [KEPT_AT_ONCE, 1]
    assert cached.count_known(texts) == KEPT_AT_ONCE + 2


def test_no_text_asks_nothing():
    model = Counting()
    assert CachedClassifier(model, MemoryStore()).classify([]) == []
    assert model.asked == []


def test_it_passes_for_the_classifier_it_wraps():
    cached = CachedClassifier(Counting(), MemoryStore())
    assert (cached.spec, cached.fingerprint, cached.labels) == (
        "python:counting:Counting",
        "f",
        ("short", "long"),
    )


class Speaking(Counting):
    """A language model, which has no list of labels."""

    labels = ()

    def __init__(self, tokens, probabilities):
        super().__init__()
        self.prediction = Prediction(tokens=tokens, probabilities=probabilities)

    def classify(self, texts):
        return [self.prediction for _ in texts]


@pytest.mark.parametrize("probabilities", [(0.5, 0.25), (0.5, 0.5), (0.3, 0.3), (1.0, 0.0)])
def test_tokens_with_at_most_all_of_the_mass_are_an_answer(probabilities):
    model = Speaking((" a", " b"), probabilities)
    assert CachedClassifier(model, MemoryStore()).classify(["x"]) == [model.prediction]


@pytest.mark.parametrize(
    ("tokens", "probabilities"),
    [
        ((), (0.5, 0.5)),
        ((), ()),
        ((" a",), (0.5, 0.25)),
        ((" a", " b", " c"), (0.5, 0.25)),
        ((" a", " a"), (0.5, 0.25)),
        ((" a", " b"), (0.25, 0.5)),
        ((" a", " b"), (0.75, 0.5)),
        ((" a", " b"), (0.5, -0.1)),
        ((" a", " b"), (float("nan"), 0.1)),
        ((" a", " b"), (0.5, float("nan"))),
        ((" a", " b"), (0.0, 0.0)),
    ],
)
def test_an_answer_that_names_no_next_tokens_is_refused(tokens, probabilities):
    store = MemoryStore()
    with pytest.raises(ModelError, match="different tokens") as caught:
        CachedClassifier(Speaking(tokens, probabilities), store).classify(["x"])
    assert "python:counting:Counting" in str(caught.value)
    assert store.get("f", ["x"]) == {}


def test_a_classifier_with_labels_does_not_answer_in_tokens():
    model = Speaking((" a", " b"), (0.5, 0.5))
    model.labels = ("short", "long")
    with pytest.raises(ModelError, match="2 probabilities that sum to 1"):
        CachedClassifier(model, MemoryStore()).classify(["x"])
