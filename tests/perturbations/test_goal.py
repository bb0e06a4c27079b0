import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturbations.goal import KeepsPrediction, distance_between
from perturbations.transformations import WordSynonyms

ANSWERS = {
    "fine": (0.7, 0.3),
    "good": (0.6, 0.4),
    "nice": (0.9, 0.1),
    "poor": (0.4, 0.6),
    "even": (0.5, 0.5),
    "sure": (1.0, 0.0),
}


class Model:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts):
        self.asked.append(list(texts))
        return [ANSWERS[text] for text in texts]


@pytest.fixture
def model() -> Model:
    return Model()


def judged(model, *changed, original="fine", **options):
    """The goal's results for changed texts."""
    from textattack.shared import AttackedText

    goal = KeepsPrediction(model, **options)
    goal.init_attack_example(AttackedText(original), 0)
    return goal.get_results([AttackedText(text) for text in changed])[0]


def succeeded(model, *changed, **options):
    from textattack.goal_function_results import GoalFunctionResultStatus

    results = judged(model, *changed, **options)
    return [one.goal_status == GoalFunctionResultStatus.SUCCEEDED for one in results]


def test_l1_score_is_one_over_one_plus_the_sum_of_the_moves(model):
    # |0.7 - 0.6| + |0.3 - 0.4| = 0.2; 1 / 1.2
    assert [one.score for one in judged(model, "good")] == [0.833333]


def test_kl_score_is_one_over_one_plus_the_divergence_from_the_original(model):
    divergence = 0.7 * math.log(0.7 / 0.6) + 0.3 * math.log(0.3 / 0.4)
    assert divergence == pytest.approx(0.021601, abs=5e-7)
    scores = [one.score for one in judged(model, "good", distance="kl")]
    assert scores == [pytest.approx(1 / 1.021601, abs=1e-6)]


def test_kl_of_an_answer_without_doubt_counts_zero_as_a_millionth():
    # 0.7 ln 0.7 + 0.3 ln(0.3 / 1e-6)
    by_hand = 0.7 * math.log(0.7) + 0.3 * math.log(300_000)
    assert distance_between((0.7, 0.3), (1.0, 0.0), "kl") == pytest.approx(by_hand, abs=1e-6)
    assert distance_between((1.0, 0.0), (0.7, 0.3), "kl") == pytest.approx(
        math.log(1 / 0.7) + 1e-6 * math.log(1e-6 / 0.3), abs=1e-6
    )


def test_the_original_scores_zero_and_is_not_admitted(model):
    assert [one.score for one in judged(model, "fine")] == [0.0]
    assert succeeded(model, "fine") == [False]


def test_the_original_is_asked_for_once(model):
    judged(model, "good", "nice", "fine")
    assert model.asked == [["fine"], ["good", "nice"]]


def test_a_text_is_admitted_only_if_the_most_probable_label_stays(model):
    assert succeeded(model, "good", "nice", "poor", "sure") == [True, True, False, True]


def test_of_labels_that_are_equally_probable_the_first_counts(model):
    assert succeeded(model, "even") == [True]
    assert succeeded(model, "even", original="poor") == [False]


def test_texts_of_earlier_trials_are_not_admitted(model):
    assert succeeded(model, "good", "nice", taken=["good"]) == [False, True]


def test_rows_may_be_arrays():
    def model(texts):
        return np.array([ANSWERS[text] for text in texts])

    assert [one.score for one in judged(model, "good", "sure")] == [0.833333, 0.625]


def test_only_texts_that_a_transformation_made_count_as_tried(model):
    from textattack.shared import AttackedText

    goal = KeepsPrediction(model)
    original = AttackedText("fine")
    goal.init_attack_example(original, 0)
    goal.get_results([original.replace_word_at_index(0, "good")])
    assert goal.tried is False
    goal.get_results(WordSynonyms(lambda word: ["nice"])(original))
    assert goal.tried is True


def test_making_a_goal_logs_nothing(model, caplog):
    KeepsPrediction(model)
    assert caplog.records == []


shares = st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any)


@given(shares, shares, st.sampled_from(["l1", "kl"]))
def test_distances_are_at_six_decimals_and_zero_for_equal_answers(first, second, distance):
    p, q = (np.round(np.array(row) / sum(row), 6) for row in (first, second))
    moved = distance_between(p, q, distance)
    assert moved == round(moved, 6) >= 0
    assert distance_between(p, p, distance) == 0
    if distance == "l1":
        assert moved == distance_between(q, p, "l1") <= 2.000001
