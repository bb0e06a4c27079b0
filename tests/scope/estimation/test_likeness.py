"""Paired tests of likeness between models, by hand and against what is known."""

import numpy as np
import pytest
from made_up_tasks import choice_task, text_task

from scope.estimation.tasks import measure_task
from scope.metrics.agreement import capa_discrete


def alike(answers, models):
    found = measure_task(answers, models, normalize=False, seed=0).differences
    return {(one.first, one.second): one for one in found if " ~ " in one.first}


def drawn(models, items=200, seed=0):
    """Right options, then each model's choices: right on three of five, else at random."""
    generator = np.random.default_rng(seed)
    right = generator.integers(0, 3, items)
    chosen = [
        np.where(generator.random(items) < 0.6, right, generator.integers(0, 3, items))
        for _ in range(models)
    ]
    return [right, *chosen]


def test_a_copy_is_more_like_its_original_than_an_independent_model():
    right, a, c = drawn(2)
    b = np.where(np.random.default_rng(9).random(200) < 0.8, a, c)
    rows = choice_task(*zip(*(one.tolist() for one in (right, a, b, c)), strict=True))
    found = alike(rows, ("a", "b", "c"))
    one = found["a ~ b", "a ~ c"]
    kappas = [capa_discrete(a, other, right, np.full(200, 3)).value for other in (b, c)]
    assert one.metric == "capa_discrete"
    assert one.estimate.value == pytest.approx(kappas[0] - kappas[1])
    assert one.estimate.low > 0
    assert one.p_adjusted < 0.05


def test_a_model_is_compared_with_the_right_answers_by_agreement():
    # They agree on three of five, and the first is right on one, the second on three of them.
    rows = choice_task((0, 0, 0), (1, 2, 2), (1, 2, 2), (1, 0, 1), (2, None, 2))
    found = alike(rows, ("a", "b"))
    assert found["a ~ b", "a ~ gold"].estimate.value == pytest.approx(3 / 5 - 1 / 5)
    assert found["b ~ a", "b ~ gold"].estimate.value == pytest.approx(3 / 5 - 3 / 5)
    assert {one.estimate.n for one in found.values()} == {5}
    assert {one.metric for one in found.values()} == {"agreement"}


def test_texts_are_compared_by_word_f1_which_is_0_with_an_answer_not_given():
    rows = text_task(
        (["Paris"], "Rome", "Rome", "Paris"),
        (["Paris"], "Oslo", "Oslo", "Oslo"),
        (["Paris"], "Oslo", "Oslo", None),
    )
    found = alike(rows, ("a", "b", "c"))
    assert found["a ~ b", "a ~ c"].estimate.value == pytest.approx(2 / 3)
    assert found["a ~ b", "a ~ c"].estimate.n == 3
    assert found["a ~ b", "a ~ gold"].estimate.value == pytest.approx(1)
    assert {one.metric for one in found.values()} == {"word_f1"}
    assert len(found) == 3 + 6


@pytest.mark.parametrize(("models", "tests"), [(6, 60 + 30), (7, 0)])
def test_seven_models_are_too_many(models, tests):
    names = [f"m{place}" for place in range(models)]
    columns = [one.tolist() for one in drawn(models)]
    assert len(alike(choice_task(*zip(*columns, strict=True)), names)) == tests
