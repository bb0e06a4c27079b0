"""How much work a run gives to a model, and how long it takes; on a clock that a model moves."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from ten_tokens import ten_tokens
from toy_models import Reference

from capabilities.tasks import ExtractiveQA
from capabilities.typo import Typo
from scope.answers.asking import REPEATED
from scope.jobs import drift, runner as cost_estimate
from scope.jobs.runner import questions_work, search_work, seconds_to_answer, texts_work
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS
from scope.models.scheme import Model
from scope.models.written import WrittenClassifier
from scope.protocols import SearchOptions
from scope.records import Answer, Example, Prediction, Question
from scope.records.text_parts import joined

EXAMPLES = tuple(
    Example(id=str(number), text=f"several different words are number {number} here", label=None)
    for number in range(12)
)
OPTIONS = SearchOptions(trials=2, seed=0)


@pytest.fixture
def clock(monkeypatch):
    """Stands still but where a model answers."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(cost_estimate, "time", clock)
    return clock


def test_the_time_for_all_is_that_of_a_part_and_of_the_first_answer(clock):
    asked = []

    def ask(some):
        asked.extend(some)
        clock.now += 10.0 if len(asked) == 1 else 0.5 * len(some)

    assert seconds_to_answer(range(1000), ask) == pytest.approx(10 + 999 * 0.5)
    assert len(set(asked)) == len(asked) < 50


class Slow(Reference):
    """Takes a hundredth of a second a text."""

    spec, fingerprint = "python:slow", "slow"

    def __init__(self, clock):
        self.clock, self.texts = clock, set()

    def classify(self, texts):
        self.texts |= set(texts)
        self.clock.now += 0.01 * len(texts)
        return [Prediction(probabilities=tuple(row)) for row in super().classify(texts)]


@dataclass
class Endpoint:
    spec: str = "openai:http://localhost:1/v1#vendor"
    labels = ("negative", "positive")
    prompts = None


def named(model, **more):
    return Model(name="one", role="target", adapter=model, **more)


def test_an_endpoint_is_not_asked_but_its_tokens_are_counted():
    model = Endpoint()
    model.prompts = {"classify": "x" * 40}
    found = texts_work(named(model), EXAMPLES[:10], 10).measured()
    assert found.seconds is None
    assert found.queries == 20 + REPEATED
    # As many as a reply with a letter may have: its price is said to be at most this.
    assert found.tokens_out == found.queries * LETTER_TOKENS
    letters = len(EXAMPLES[0].text) + 40
    assert found.tokens_in == found.queries * letters / 4
    model.thought_tokens = THOUGHT_TOKENS
    thinking = texts_work(named(model), EXAMPLES[:10], 10).measured()
    assert thinking.tokens_out == found.queries * (LETTER_TOKENS + THOUGHT_TOKENS)
    model.thought_tokens = 0
    searched = search_work(Typo(), named(model), EXAMPLES, OPTIONS).measured()
    assert searched.seconds is None
    assert searched.tokens_out == searched.queries * LETTER_TOKENS > 0
    model.prompts = {}  # only next tokens are asked without a prompt
    assert texts_work(named(model), EXAMPLES[:10], 10).measured().tokens_out == 28


def test_an_endpoint_that_writes_answers_and_scores_each_text():
    model = Endpoint()
    model.prompts, model.writes, model.most_tokens = {"answer": "x" * 40}, True, 7
    found = texts_work(named(model), EXAMPLES[:10], 10).measured()
    written = 20 + REPEATED
    # Each of 10 answers is sent once more, to count its tokens.
    scored = written + 10
    assert found.queries == written + scored
    assert found.tokens_out == 7 * written + scored
    letters = len(EXAMPLES[0].text) + 40
    assert found.tokens_in == round(found.queries * letters / 4) + 7 * scored


def test_the_drift_of_each_target_takes_a_pass_of_both_models(monkeypatch):
    monkeypatch.setattr(drift, "MOST_TEXTS", 2)
    models = [
        Model(name=name, adapter=WrittenClassifier(ten_tokens(), ("prompt",))) for name in "abc"
    ]
    texts = [joined([f"{name} saw", "ann"]) for name in ("who", "ann", "bob")]
    examples = [Example(id=text, text=text, label=None) for text in texts]
    work = [planned.measured() for planned in drift.drift_work(models, examples)]
    rows = [(part.model, part.purpose, part.queries) for part in work]
    assert rows == [
        *(("a", "drift of b", 2), ("b", "drift of b", 2)),
        *(("a", "drift of c", 2), ("c", "drift of c", 2)),
    ]


def test_a_search_that_ends_within_the_trial_is_known_exactly(clock):
    model = Slow(clock)
    found = search_work(Typo(), named(model), EXAMPLES[:4], OPTIONS).measured()
    asked = model.texts - {"a first text prepares the model"}
    assert found.queries == len(asked)
    assert found.seconds == pytest.approx(0.01 * len(asked), rel=0.01)


def test_a_long_search_is_tried_for_some_seconds_alone(clock, monkeypatch):
    monkeypatch.setattr(cost_estimate, "SECONDS_A_TRIAL", 0.5)
    model = Slow(clock)
    found = search_work(Typo(), named(model), EXAMPLES, OPTIONS).measured()
    assert len(model.texts) < found.queries
    assert found.seconds == pytest.approx(0.01 * found.queries, rel=0.05)


def test_a_search_that_asks_an_endpoint_is_not_tried(clock):
    class Asking(Typo):
        def asked_models(self):
            return [Endpoint()]

        def search(self, classifier, examples, options):
            raise AssertionError

    found = search_work(Asking(), named(Slow(clock)), EXAMPLES, OPTIONS).measured()
    assert found.purpose == "search: typo"
    assert found.seconds == pytest.approx(0.01 * found.queries)
    assert found.queries > 0


def test_equal_questions_are_asked_once(clock):
    class Answerer:
        spec = "python:answerer"

        def answer(self, questions):
            clock.now += 1.0 * len(questions)
            return ((place, Answer(text="yes")) for place in range(len(questions)))

    questions = [Question(id=str(one), text="who?", context="ann") for one in range(3)]
    model = Model(name="one", adapter=Answerer())
    found = questions_work(model, ExtractiveQA(), questions, 32).measured()
    assert (found.queries, found.seconds) == (1, 1.0)
