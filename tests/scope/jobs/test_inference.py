"""Putting questions to a model: once each, in order, kept as the answers come."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from scope.errors import ModelError
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask
from scope.models import cached
from scope.progress import Silent
from scope.records import Answer, Question
from scope.store import Run


@dataclass
class Teller:
    """Answers by the length of the text, from the last question to the first."""

    spec: str = "python:x:Teller"
    fingerprint: str = "teller"
    breaks_after: int | None = None
    asked: list[str] = field(default_factory=list)

    def answer(self, questions):
        for place in reversed(range(len(questions))):
            if len(self.asked) == self.breaks_after:
                raise ModelError("the line is cut", expected="a server", fix="wait")
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


def put(run, model, questions=QUESTIONS, task=Answering):
    answering_model = NamedModel(name="teller", model=model)
    return ask(answering_model, task(), questions, store=run, progress=Silent())


def test_answers_stand_in_the_order_of_the_questions(run):
    assert [one.text for one in put(run, Teller())] == ["1", "2", "3", "4", "5", "6"]


def test_what_is_known_is_not_asked_again(run):
    put(run, Teller(), QUESTIONS[:4])
    second = Teller()
    assert [one.text for one in put(run, second)] == ["1", "2", "3", "4", "5", "6"]
    assert sorted(second.asked) == [one.text for one in QUESTIONS[4:]]


def test_another_model_another_role_and_another_context_are_other_questions(run):
    put(run, Teller())
    stranger = Teller(fingerprint="stranger")
    put(run, stranger)
    assert len(stranger.asked) == 6
    elsewhere = Teller()
    put(run, elsewhere, [Question(id="0", text="?", context="so it was")])
    assert elsewhere.asked == ["?"]


def test_the_same_words_are_asked_once_and_answered_everywhere(run):
    model = Teller()
    twice = [QUESTIONS[0], Question(id="other", text="?", context="so it is"), QUESTIONS[1]]
    assert [one.text for one in put(run, model, twice)] == ["1", "1", "2"]
    assert sorted(model.asked) == ["?", "??"]


def test_answers_that_came_before_a_failure_are_kept(run):
    with pytest.raises(ModelError, match="the line is cut"):
        put(run, Teller(breaks_after=4))
    second = Teller()
    put(run, second)
    assert sorted(second.asked) == ["?", "??"]


def test_answers_are_written_soon_after_they_come(run, monkeypatch):
    monkeypatch.setattr(cached, "SECONDS_BETWEEN_WRITES", 0.0)
    known_meanwhile = []

    class Watching(Teller):
        def answer(self, questions):
            for place, answer in super().answer(questions):
                known_meanwhile.append(
                    len(run.get_answers(self.fingerprint, "answerer", QUESTIONS))
                )
                yield place, answer

    put(run, Watching())
    assert known_meanwhile == [0, 1, 2, 3, 4, 5]


def test_a_model_that_has_answered_everything_is_not_called(run):
    put(run, Teller())

    class Unready(Teller):
        def answer(self, questions):
            raise AssertionError("nothing is left to ask")

    assert len(put(run, Unready())) == 6


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


def test_half_a_character_in_an_answer_is_kept_as_its_replacement(run):
    class Broken(Teller):
        def answer(self, questions):
            return ((place, Answer(text="a\ud83d")) for place in range(len(questions)))

    assert put(run, Broken())[0] == Answer(text="a\ufffd")


def test_an_answer_not_given_is_an_answer(run):
    class Silence(Teller):
        def answer(self, questions):
            return ((place, Answer()) for place in range(len(questions)))

    assert put(run, Silence()) == (Answer(),) * 6


def test_saved_answers_are_looked_up_anew_and_not_kept(run):
    model = Teller()
    answering_model = NamedModel(name="teller", model=model, saved=True)
    for _ in range(2):
        ask(answering_model, Answering(), QUESTIONS, store=run, progress=Silent())
    assert len(model.asked) == 12
    assert run.get_answers("teller", "answerer", QUESTIONS) == {}
