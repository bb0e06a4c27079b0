"""Each thing is asked once, in batches or as answers come, and kept."""

import pytest

from scope.answers import CachedClassifier, Memory, Run, answer_questions
from scope.answers.answers import KEPT_AT_ONCE
from scope.errors import ModelError
from scope.models.scheme import Model
from scope.progress import Silent
from scope.records import Answer, Prediction, Question


def answer(text):
    share = round(1 / (1 + len(text)), 6)
    return Prediction(probabilities=(share, 1 - share))


def numbered(count):
    return [f"text {number:04}" for number in range(count)]


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


class Slow(Counting):
    """Answers one text after another, in reverse order, and fails after some."""

    def __init__(self, fails_after=None, failure=RuntimeError):
        super().__init__()
        self.fails_after, self.failure = fails_after, failure

    def stream(self, texts):
        for place in reversed(range(len(texts))):
            if len(self.asked) == self.fails_after:
                raise self.failure("the line went dead")
            self.asked.append(texts[place])
            yield place, answer(texts[place])

    def classify(self, texts):
        raise AssertionError("asked for all at once")


def classify(model, store, texts, progress=None):
    return store.get(model, "classifier", texts, progress=progress, title="texts")


@pytest.mark.parametrize("model", [Counting, Slow])
def test_answers_stand_in_the_order_of_the_texts_with_repetitions(model):
    texts = ["three", "a", "three", "to", "a"]
    model = model()
    assert classify(model, Memory(), texts) == [answer(text) for text in texts]
    assert len(model.asked) == 3


def test_every_distinct_text_is_asked_once_over_several_calls():
    model = Counting()
    cached = CachedClassifier(model, Memory())
    for texts in (["a", "b", "a"], ["b", "c"], ["c", "a"], []):
        cached.classify(texts)
    assert sorted(model.asked) == ["a", "b", "c"]
    assert (cached.spec, cached.fingerprint, cached.labels) == (model.spec, "f", model.labels)


def test_progress_counts_every_new_text_once_and_begins_with_the_known(seen):
    store = Memory()
    classify(Counting(), store, ["b", "c"])
    classify(Counting(), store, [*numbered(KEPT_AT_ONCE + 1), "b", "b"], seen)
    assert seen.told == ["texts", KEPT_AT_ONCE + 2, 1, KEPT_AT_ONCE, 1]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_what_came_before_a_failure_is_kept_and_never_asked_again(failure):
    texts, store = numbered(10), Memory()
    first, second = Slow(fails_after=7, failure=failure), Slow()
    with pytest.raises(failure, match="the line went dead"):
        classify(first, store, texts)
    assert classify(second, store, texts) == [answer(text) for text in texts]
    assert sorted(first.asked + second.asked) == texts


@pytest.mark.parametrize(
    ("places", "message"),
    [([0, 0], "text 0 of 2 twice"), ([0, 2], "text 2 of 2"), ([1], "1 of 2 texts without")],
)
def test_places_that_do_not_fit_the_texts_are_refused_and_the_others_kept(places, message):
    class Astray(Slow):
        def stream(self, texts):
            return ((place, answer("x")) for place in places)

    store = Memory()
    with pytest.raises(ModelError, match=message):
        classify(Astray(), store, ["a", "b"])
    assert len(store.known("f", ["a", "b"])) == 1


class Speaking(Counting):
    """A language model, which has no list of labels."""

    labels = ()

    def __init__(self, tokens, probabilities):
        super().__init__()
        self.prediction = Prediction(tokens=tokens, probabilities=probabilities)

    def classify(self, texts):
        return [self.prediction for _ in texts]


@pytest.mark.parametrize(
    ("tokens", "probabilities"),
    [
        ((), (0.5, 0.5)),
        ((" a",), (0.5, 0.25)),
        ((" a", " a"), (0.5, 0.25)),
        ((" a", " b"), (0.75, 0.5)),
        ((" a", " b"), (0.5, -0.1)),
        ((" a", " b"), (0.0, 0.0)),
    ],
)
def test_an_answer_that_names_no_next_tokens_is_refused(tokens, probabilities):
    store = Memory()
    with pytest.raises(ModelError, match="different tokens") as caught:
        classify(Speaking(tokens, probabilities), store, ["x"])
    assert "python:counting:Counting" in str(caught.value)
    assert store.known("f", ["x"]) == {}


class Teller:
    """Answers by the length of the question, from the last to the first."""

    spec = "python:x:Teller"

    def __init__(self, fingerprint="teller"):
        self.fingerprint, self.asked = fingerprint, []

    def answer(self, questions):
        for place in reversed(range(len(questions))):
            self.asked.append(questions[place].text)
            yield place, Answer(text=str(len(questions[place].text)))


class Answering:
    name = "extractive_qa"
    role = "answerer"


class Choosing:
    name = "choice"
    role = "choice_scorer"


QUESTIONS = tuple(
    Question(id=str(place), text="?" * (place + 1), context="so it is") for place in range(6)
)


@pytest.fixture
def run(tmp_path):
    with Run.open(tmp_path / "run", {"job": "compare"}) as opened:
        yield opened


def put(run, model, questions=QUESTIONS, task=Answering, **facts):
    named = Model(name="teller", adapter=model, **facts)
    return answer_questions(named, task(), questions, run, Silent())


def test_a_question_without_an_answer_is_told(run):
    class Chooser(Teller):
        def choose(self, questions):
            yield 0, Answer(choice=0)

    questions = [Question(id=text, text=text, options=("a", "b")) for text in ("x", "y")]
    with pytest.raises(ModelError) as caught:
        put(run, Chooser(), questions, Choosing)
    assert caught.value.found == (
        "`python:x:Teller` leaves 1 of 2 questions without an answer, such as 'y'"
    )


def test_saved_answers_are_looked_up_anew_and_not_kept(run):
    model = Teller()
    model.spec = "predictions:answers.jsonl"
    for _ in range(2):
        put(run, model)
    assert len(model.asked) == 12
    assert run.known("teller", QUESTIONS, "answerer") == {}


def test_what_a_server_failed_at_is_asked_again_and_a_models_failure_is_kept(run):
    class Failing(Teller):
        def answer(self, questions):
            missing = ("server", "refused")
            for place, question in enumerate(questions):
                self.asked.append(question.text)
                yield place, Answer(missing=missing[len(question.text) % 2])

    model = Failing()
    assert put(run, model) == put(run, model)
    assert model.asked == ["?" * n for n in (1, 2, 3, 4, 5, 6, 2, 4, 6)]
