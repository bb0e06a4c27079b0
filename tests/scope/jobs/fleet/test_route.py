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
def save(write, tmp_path, monkeypatch):
    """Writes answers by model and question as a long table; gives its path."""
    monkeypatch.chdir(tmp_path)

    def written(name, answers):
        lines = (f"{model},{question},{right}" for model, question, right in answers)
        return str(write(name, "model,id,correct", *lines))

    return written


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


def single_best(result):
    whole = (score for score in result.routers if score.category is None)
    return next(score for score in whole if score.router == "single best")


EASY_ONES = [("lucky", f"q{number}", 1) for number in range(EASY)]


@pytest.mark.parametrize("added", [True, False])
def test_a_lucky_model_of_few_or_easy_questions_is_not_the_single_best(save, added):
    """It is added to the fleet, or was there from the beginning with three answers."""
    data = save("train.csv", learned() if added else [*learned(), *EASY_ONES[:3]])
    scope.embed_fleet(data=data, forecaster="mean", run="ours")
    found = scope.route_fleet(
        fleet="ours",
        add=save("lucky.csv", EASY_ONES) if added else None,
        questions=save("new.csv", asked("usual-0")),
        run="routed",
    )
    assert single_best(found).model == "best"
    assert [model.name for model in found.fleet if model.added] == ["lucky"] * added


@pytest.mark.parametrize("strong", ["usual-0", "usual-9"])
def test_the_single_best_is_chosen_without_the_answers_it_is_judged_by(save, strong):
    scope.embed_fleet(data=save("train.csv", learned()), forecaster="mean", run="ours")
    found = scope.route_fleet(fleet="ours", questions=save("new.csv", asked(strong)), run="to")
    score = single_best(found)
    assert score.model == "best"
    assert score.accuracy.value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([0.0], "only the models' skills"),
        ([0.5], "from cross-validation is 0.50 (at most 1)"),
        # Of two categories, and of questions without one.
        ([0.0, 0.5, 0.5], "the weight is 0 for `arc`, where it is harmful"),
    ],
)
def test_a_note_gives_the_weight_of_the_text_and_where_skill_alone_decides(weights, told):
    categories = ("arc", "gsm8k")[: len(weights) - 1]
    forecaster = TextFactors(layout=QuestionLayout(vector=1, categories=categories))
    forecaster.route_weights_ = np.array(weights)
    assert told in routing_note(forecaster)
