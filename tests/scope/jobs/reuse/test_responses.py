"""What is asked and how answers are read: of tasks in words, and of texts."""

import json
import random

import pytest
from made_up_tasks import choice

import scope
from capabilities.tasks import Choice, ExtractiveQA
from scope.answers import Run
from scope.jobs.reuse.pool import Response
from scope.jobs.reuse.responses import TaskResponses, match_labels, task_items
from scope.models.scheme import Model
from scope.progress import Silent
from scope.records import Answer, Item, Prediction, Question


@pytest.fixture
def passages(tmp_path):
    """Sixty questions on passages of eight words, every fourth with another right answer too."""
    generator = random.Random(2)
    words = [*("river", "window", "garden", "letter", "morning"), *("castle", "stone", "apple")]
    words += ["silver", "pepper"]
    rows = [
        {
            "question": f"Which word has house {place}?",
            "context": " ".join(generator.sample(words, 8)),
            "answers": generator.sample(words, 1 + (place % 4 == 0)),
        }
        for place in range(60)
    ]
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_answers_in_words_tell_a_copy_even_one_that_says_nothing_to_some(passages, tmp_path):
    (verdict,) = scope.reuse(
        suspect="python:toy_answerers:Terse",
        references="python:toy_answerers:Reader",
        controls=[f"python:toy_suspects:Reader{place}" for place in range(20)],
        task="extractive_qa",
        data=str(passages),
        runs=tmp_path / "runs",
    ).verdicts
    assert verdict.decision == "related"
    assert verdict.p_rank == pytest.approx(1 / 231, abs=1e-6)
    assert verdict.items[0].reference == verdict.items[0].suspect != ""


class Saying:
    """Answers what it is told to."""

    def __init__(self, name, answers):
        self.spec = self.fingerprint = name
        self._answers = answers

    def choose(self, questions):
        places = (int(one.id.removeprefix("q")) for one in questions)
        return enumerate([self._answers[place] for place in places])

    answer = choose


def reuse_model(model, part="control"):
    return Model(name=model.spec, role=part, adapter=model)


@pytest.fixture
def run(tmp_path):
    with Run.open(tmp_path / "run", {"job": "reuse"}) as opened:
        yield opened


def questions_of(*gold, options=()):
    return task_items(
        [
            Item(
                question=Question(id=f"q{place}", text=f"Which {place}?", options=options),
                gold=() if options else tuple(one),
                right=one if options else None,
            )
            for place, one in enumerate(gold)
        ]
    ).items


def test_choices_are_given_by_their_number_and_shown_in_words(run):
    responses = TaskResponses(task=Choice(), run=run, progress=Silent())
    questions = questions_of(0, 1, 1, options=("yes", "no"))
    answers = [choice((0.25, 0.75)), choice(0), Answer()]
    found = responses.answers(reuse_model(Saying("m", answers)), questions)
    assert found == [Response(1, (0.25, 0.75)), Response(0), Response(None)]
    assert [responses.words(*both) for both in zip(found, questions, strict=True)] == [
        "no",
        "yes",
        "",
    ]
    assert responses.pairs(None, ()) == () == responses.warnings()


def test_answers_in_words_are_spelled_alike_and_a_second_right_answer_is_the_first(run):
    responses = TaskResponses(task=ExtractiveQA(), run=run, progress=Silent())
    questions = questions_of(["the red house", "a house"], ["blue"], ["blue"])
    told = [Answer(text=" A  House."), Answer(text="BLUE"), Answer()]
    found = responses.answers(reuse_model(Saying("m", told)), questions)
    assert found == [Response("the red house"), Response("blue"), Response(None)]
    assert [responses.words(*both) for both in zip(found, questions, strict=True)][2] == ""


def test_questions_that_were_cut_are_counted_once(run):
    responses = TaskResponses(task=ExtractiveQA(), run=run, progress=Silent())
    questions = questions_of(["a"], ["b"])
    answers = [Answer(text="a", truncated=True), Answer(text="b")]
    one = reuse_model(Saying("m", answers))
    responses.answers(one, questions[:1])
    responses.answers(one, questions)
    assert sum(answer.truncated for answer in responses.replies["m"].values()) == 1


def sure(label, labels):
    return Prediction(probabilities=tuple(float(place == label) for place in range(labels)))


def said(answers, labels):
    return {f"text {number}": sure(one, labels) for number, one in enumerate(answers)}


def test_a_label_goes_where_most_controls_say_and_one_that_is_never_given_takes_what_is_left():
    own = said([0, 0, 0, 1], 2)
    controls = [said([1, 1, 1, 0], 2), said([1, 1, 1, 0], 2), said([0, 0, 0, 1], 2)]
    assert match_labels(own, controls, 2) == (1, 0)
    own = said([2, 2, 0, 0], 3)
    assert match_labels(own, [said([0, 0, 1, 1], 3)], 3) == (1, 2, 0)
    # More labels than the controls have: each by itself.
    assert match_labels(said([2, 2, 0, 0, 1], 3), [said([0, 0, 1, 1, 1], 2)], 2) == (1, 1, 0)
