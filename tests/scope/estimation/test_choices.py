"""The numbers of tasks with options, on answers made by hand."""

import pytest
from made_up_tasks import NOT_ASKED, choice_task
from scipy import stats

from scope.estimation.tasks import measure_task
from scope.records import GOLD, Answer, Estimate, Item, Question, TaskAnswers, Undefined


def numbers(answers, models=("first", "second")):
    return measure_task(answers, models, normalize=False, seed=0)


def estimates(answers, models=("first", "second")):
    """Every estimate by metric, target, against and subset."""
    return {
        (one.metric, one.target, one.against, *([one.subset] if one.subset else [])): one.estimate
        for one in numbers(answers, models).measurements
    }


def between(answers):
    """The estimates between two models, by metric."""
    return {
        key[0]: one for key, one in estimates(answers).items() if key[1:] == ("first", "second")
    }


def test_every_number_of_two_models_by_hand():
    found = estimates(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)))
    assert found["accuracy", "first", GOLD].value == 0.5
    assert found["accuracy", "second", GOLD].value == 0.25
    of_pair = between(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)))
    assert of_pair["agreement"].value == 0.5
    # Chance: 3/4 · 2/4 + 1/4 · 1/4 = 7/16.
    assert of_pair["cohen_kappa"].value == pytest.approx((1 / 2 - 7 / 16) / (9 / 16))
    # Chance: 1/2 · 1/4 + 1/2 · (1/2 · 3/4) = 5/16.
    assert of_pair["capa_discrete"].value == pytest.approx((1 / 2 - 5 / 16) / (11 / 16))
    # Right or wrong alike on 3 of 4; chance: 1/2 · 1/4 + 1/2 · 3/4 = 1/2.
    assert of_pair["error_consistency"].value == pytest.approx(0.5)
    assert {one.n for one in of_pair.values() if isinstance(one, Estimate)} == {4}


def test_probabilities_give_capa_and_divergence():
    found = between(
        choice_task((0, (0.9, 0.1), (0.9, 0.1)), (0, (0.5, 0.5), (0.5, 0.5)), options=2)
    )
    assert found["capa"].value == pytest.approx((0.66 - 0.58) / 0.42)
    assert found["js_divergence"].value == 0
    assert found["js_divergence"].high < 1


def test_an_answer_not_given_is_wrong_and_equals_no_other_not_even_a_missing_one():
    sure = {None: None, 0: (1.0, 0.0, 0.0), 1: (0.0, 1.0, 0.0)}
    rows = ((0, 0, 0), (1, 1, None), (2, None, None), (2, 0, 0))
    answers = choice_task(*((right, sure[a], sure[b]) for right, a, b in rows))
    assert estimates(answers)["accuracy", "second", GOLD].value == 0.25
    # c_exp: κ 2/4 · 2/4; CAPA 1/2 · 1/4 + 1/2 · (1/2 · 3/4) = 5/16; errors 1/8 + 3/8.
    expected = {
        "agreement": 1 / 2,
        "cohen_kappa": (1 / 2 - 1 / 4) / (3 / 4),
        "capa": (1 / 2 - 5 / 16) / (11 / 16),
        "capa_discrete": (1 / 2 - 5 / 16) / (11 / 16),
        "error_consistency": (3 / 4 - 1 / 2) / (1 / 2),
        "js_divergence": 1 / 2,
    }
    found = between(answers)
    assert {key: one.value for key, one in found.items()} == pytest.approx(expected)
    assert {one.n for one in found.values()} == {4}
    (cells,) = numbers(answers).cells
    assert (cells.neither.value, cells.other_wrong.value) == (1 / 2, 1 / 4)


def test_a_question_that_was_not_put_to_a_model_counts_nowhere():
    rows = [(0, 0, 0), (1, 1, NOT_ASKED), (2, NOT_ASKED, 2), (2, 0, 2)]
    found = estimates(choice_task(*rows, categories="xxyy"))
    accuracy = found["accuracy", "first", GOLD]
    assert (accuracy.value, accuracy.n) == (pytest.approx(2 / 3), 3)
    assert found["accuracy", "second", GOLD, "category = x"].n == 1
    assert found["agreement", "first", "second"].n == 2
    difference, *_ = numbers(choice_task(*rows)).differences
    assert (difference.estimate.value, difference.estimate.n) == (-0.5, 2)


def test_items_without_a_known_right_option_count_where_none_is_needed():
    found = estimates(choice_task((0, 0, 0), (None, 1, 2), (1, 0, 1)))
    assert found["accuracy", "first", GOLD].n == 2
    of_pair = {key[0]: one.n for key, one in found.items() if key[2] == "second"}
    assert (of_pair["agreement"], of_pair["cohen_kappa"]) == (3, 3)
    assert (of_pair["capa_discrete"], of_pair["error_consistency"]) == (2, 2)


def test_no_known_right_option_leaves_undefined_what_needs_one():
    found = estimates(choice_task((None, 0, 0), (None, 1, 2)))
    unknown = Undefined(reason="no item has a known right option")
    assert found["accuracy", "first", GOLD] == unknown
    assert found["capa_discrete", "first", "second"] == unknown
    assert found["error_consistency", "first", "second"] == unknown
    assert found["agreement", "first", "second"].value == 0.5


def test_a_model_without_probabilities_is_named():
    found = between(choice_task((0, (0.8, 0.2), 0), (1, (0.6, 0.4), 0), options=2))
    reason = Undefined(reason="second gives no probabilities")
    assert (found["capa"], found["js_divergence"]) == (reason, reason)
    assert isinstance(found["capa_discrete"], Estimate)


def test_items_with_the_probabilities_of_one_model_only_are_left_out():
    sure = (1.0, 0.0)
    found = between(choice_task((0, sure, sure), (0, sure, 0), (1, sure, sure), options=2))
    assert (found["capa"].n, found["js_divergence"].n, found["agreement"].n) == (2, 2, 3)
    apart = between(choice_task((0, sure, 0), (0, 0, sure), options=2))
    assert apart["capa"].reason == "no item has probabilities of both models"
    assert apart["js_divergence"].reason == "no item has probabilities of both models"


def test_items_may_have_unequal_numbers_of_options():
    def item(number, options):
        question = Question(id=f"q{number}", text="Which?", options=tuple("abcd"[:options]))
        return Item(question=question, right=0)

    answers = TaskAnswers(
        task="choice",
        items=(item(0, 2), item(1, 4)),
        answers=(
            (
                Answer(choice=0, probabilities=(0.5, 0.5)),
                Answer(choice=3, probabilities=(0.25,) * 4),
            ),
        )
        * 2,
    )
    found = between(answers)
    # p̄ = 3/8 and the mean of 1/1 and 1/3 is 2/3: c_exp = 9/64 + 2/3 · 25/64.
    expected = 9 / 64 + 2 / 3 * 25 / 64
    assert found["capa"].value == pytest.approx((3 / 8 - expected) / (1 - expected))


def test_accuracy_is_split_by_category():
    answers = choice_task(
        (0, 0, 1),
        (1, 1, 1),
        (1, 0, 1),
        (None, 0, 0),
        (2, 2, 2),
        categories=["b", "b", "a", "a", None],
    )
    found = {key: one for key, one in estimates(answers).items() if len(key) == 4}
    assert [(key[1], key[3], one.value, one.n) for key, one in found.items()] == [
        ("first", "category = a", 0, 1),
        ("first", "category = b", 1, 2),
        ("second", "category = a", 1, 1),
        ("second", "category = b", 0.5, 2),
    ]


def test_the_difference_in_accuracy_is_paired_and_tested():
    rows = [(0, 0, 1)] * 6 + [(1, 1, 1)] * 14
    (difference,) = numbers(choice_task(*rows)).differences
    assert (difference.metric, difference.first, difference.second) == (
        "accuracy",
        "first",
        "second",
    )
    assert difference.capability == "choice"
    assert difference.estimate.value == pytest.approx(0.3)
    assert difference.estimate.n == 20
    # Six signs, each as likely: all alike in 2 of 64 exchanges.
    assert difference.p_value == pytest.approx(stats.binomtest(6, 6).pvalue, abs=0.01)
    assert difference.p_adjusted == difference.p_value
