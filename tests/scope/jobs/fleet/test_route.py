"""Routing on small fleets of means, which need no encoder."""

import numpy as np
import pytest

import scope
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.route import routing_note
from scope.jobs.fleet.text_factors import TextFactors

EASY = 20
QUESTIONS = 200
USUAL = [f"usual-{number}" for number in range(10)]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes answers by model and question as a long table, and says where."""
    monkeypatch.chdir(tmp_path)

    def to(name, answers):
        lines = [f"{model},{one},{right}" for model, one, right in answers]
        (tmp_path / name).write_text("\n".join(["model,id,correct", *lines]) + "\n", "utf-8")
        return name

    return to


def right(share, number):
    """Every question below 20 is easy; of the others every so many-th is answered correctly."""
    return int(number < EASY or (number * 37 % 100) < 100 * share)


def learned(usual=0.5, best=0.85):
    shares = {"best": best, **{name: usual + 0.01 * place for place, name in enumerate(USUAL)}}
    return [
        (name, f"q{number}", right(share, number))
        for name, share in shares.items()
        for number in range(QUESTIONS)
    ]


def asked(strong):
    """New questions on which one model alone is always right."""
    return [
        (name, f"new{number}", int(name == strong or number % 3 == 0))
        for name in ("best", *USUAL)
        for number in range(30)
    ]


def single_best(found):
    (one,) = (
        score for score in found.routers if score.router == "single best" and score.category is None
    )
    return one.model


def test_a_lucky_added_model_of_easy_questions_is_not_the_single_best(write):
    scope.embed_fleet(data=write("train.csv", learned()), forecaster="mean", run="ours")
    added = write("lucky.csv", [("lucky", f"q{number}", 1) for number in range(EASY)])
    questions = write("new.csv", asked("usual-0"))
    found = scope.route_fleet(fleet="ours", add=added, questions=questions, run="routed")
    assert single_best(found) == "best"
    assert [one.name for one in found.fleet if one.added] == ["lucky"]


def test_a_model_of_three_answers_in_a_sparse_matrix_is_not_the_single_best(write):
    few = [("few", f"q{number}", 1) for number in range(3)]
    data = write("train.csv", [*learned(), *few])
    scope.embed_fleet(data=data, forecaster="mean", run="ours")
    questions = write("new.csv", asked("usual-0"))
    assert single_best(scope.route_fleet(fleet="ours", questions=questions, run="to")) == "best"


@pytest.mark.parametrize("strong", ["usual-0", "usual-9"])
def test_the_single_best_is_chosen_without_the_answers_it_is_judged_by(write, strong):
    scope.embed_fleet(data=write("train.csv", learned()), forecaster="mean", run="ours")
    found = scope.route_fleet(fleet="ours", questions=write("new.csv", asked(strong)), run="to")
    assert single_best(found) == "best"
    (score,) = (one for one in found.routers if one.router == "single best")
    assert score.accuracy.value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("weight", "told"),
    [(0.0, "only the models' skills"), (0.5, "from cross-validation is 0.50 (at most 1)")],
)
def test_a_note_gives_the_weight_of_the_text(weight, told):
    forecaster = TextFactors(layout=QuestionLayout(vector=1))
    forecaster.route_weights_ = np.array([weight])
    assert told in routing_note(forecaster)


def test_categories_in_which_skill_alone_decides_are_named():
    forecaster = TextFactors(layout=QuestionLayout(vector=1, categories=("arc", "gsm8k")))
    forecaster.route_weights_ = np.array([0.0, 0.5, 0.5])
    assert "the weight is 0 for `arc`, where it is harmful" in routing_note(forecaster)
