"""The numbers of tasks answered in words, on answers made by hand."""

import numpy as np
import pytest
from made_up_tasks import NOT_ASKED, choice_task, text_task

from scope.estimation.tasks import cosines_of, distinct_texts, measure_task
from scope.records import GOLD, TaskAnswers


def test_distinct_texts_are_answers_and_right_ones_once_each_in_order_and_none_is_empty():
    rows = [
        (["Rome", "Paris"], "in Paris", "Paris"),
        (["", " "], "", None),
        ([], "Berne", NOT_ASKED),
    ]
    assert distinct_texts(text_task(*rows)) == ["Berne", "Paris", "Rome", "in Paris"]


def test_texts_are_encoded_when_the_comparison_is_made_and_never_again():
    asked = []

    def encode(texts):
        asked.append(list(texts))
        return np.eye(2)

    compare = cosines_of(["Paris", "Rome"], encode)
    assert asked == [["Paris", "Rome"]]
    assert compare(["Paris", "Rome"], ["Rome", "Rome"]).tolist() == [0, 1]
    assert compare(["Paris"], [""]).tolist() == [0]
    assert len(asked) == 1


VECTORS = {
    "Paris": (1.0, 0.0),
    "in Paris": (0.96, 0.28),
    "Rome": (0.6, 0.8),
    "nowhere": (-1.0, 0.0),
}


class Encoder:
    """Looks vectors up, and keeps what it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(list(texts))
        return np.array([VECTORS[text] for text in texts])


def numbers(
    answers, models=("first", "second"), *, normalize=False, encode=None, words=None, cosines=True
):
    texts = distinct_texts(answers)
    return measure_task(
        answers,
        models,
        normalize=normalize,
        seed=0,
        by_meaning=encode and cosines_of(texts, encode),
        by_words=words and cosines_of(texts, words),
        cosines=cosines,
    )


def measured(*args, **options):
    """Every measurement by metric, target and against."""
    found = numbers(*args, **options).measurements
    return {(one.metric, one.target, one.against): one for one in found}


def values(rows, metric, target="first", against=GOLD, **options):
    return measured(text_task(*rows), **options)[metric, target, against].values


def test_models_are_held_against_gold_and_against_each_other():
    found = measured(text_task((["Paris"], "Paris", "in Paris"), (["Rome"], "Rome", "rome")))
    assert found["word_f1", "first", GOLD].values == (1, 1)
    assert found["word_f1", "second", GOLD].values == pytest.approx((2 / 3, 0))
    assert found["word_f1", "first", "second"].values == pytest.approx((2 / 3, 0))
    assert found["character_f1", "first", "second"].values == pytest.approx((5 / 6, 3 / 4))
    assert found["exact_match", "first", GOLD].values == (1, 1)
    assert found["share_f1_zero", "second", GOLD].values == (0, 1)
    assert found["share_f1_zero", "first", "second"].values == (0, 1)
    for one in found.values():
        assert one.estimate.value == pytest.approx(np.mean(one.values))
        assert (one.estimate.n, one.example_ids, one.capability) == (
            2,
            ("q0", "q1"),
            "extractive_qa",
        )


def test_without_an_encoder_only_the_overlap_is_measured():
    found = numbers(text_task((["Paris"], "Paris", "Rome"))).measurements
    overlap = ["word_f1", "character_f1", "exact_match", "share_f1_zero"]
    assert [one.metric for one in found] == overlap * 3


def test_encoders_add_semscore_its_share_from_the_threshold_on_and_the_word_cosine():
    rows = [(["Paris"], "in Paris", "Paris"), (["Paris"], "Rome", "nowhere")]
    found = measured(text_task(*rows), encode=Encoder(), words=Encoder())
    assert found["sem_score", "first", GOLD].values == pytest.approx((0.96, 0.6))
    assert found["sem_score_at_least(threshold=0.9)", "first", GOLD].values == (1, 0)
    assert found["word_cosine", "second", GOLD].values == pytest.approx((1, -1))
    assert found["sem_score", "first", "second"].values == pytest.approx((0.96, -0.6))
    estimate = found["sem_score", "second", GOLD].estimate
    assert estimate.value == 0
    assert -1 <= estimate.low < 0 < estimate.high <= 1


def test_scores_that_are_no_cosines_have_no_share_from_the_threshold_on_and_none_below_zero():
    rows = [(["Paris"], "in Paris", "Rome")]
    by_cosines = measured(text_task(*rows), encode=Encoder())
    by_scores = measured(text_task(*rows), encode=Encoder(), cosines=False)
    gone = {key for key in by_cosines if key not in by_scores}
    assert {metric for metric, _, _ in gone} == {"sem_score_at_least(threshold=0.9)"}
    assert len(gone) == 3
    scored = by_scores["sem_score", "second", GOLD]
    assert scored.values == pytest.approx((0.6,))
    assert scored.estimate.low > 0 > by_cosines["sem_score", "second", GOLD].estimate.low
    assert by_scores["word_f1", "first", GOLD] == by_cosines["word_f1", "first", GOLD]


def test_saying_that_there_is_no_answer_is_an_answer_and_giving_none_is_not():
    rows = [([""], "", None)]
    for metric in ("word_f1", "character_f1", "exact_match", "sem_score"):
        assert values(rows, metric, "first", encode=Encoder()) == (1,)
        assert values(rows, metric, "second", encode=Encoder()) == (0,)
    assert values(rows, "share_f1_zero", "second") == (1,)


def test_items_without_a_known_answer_count_between_models_only():
    found = measured(text_task((["Paris"], "Paris", "Rome"), ([], "Rome", "Rome")))
    assert found["word_f1", "first", GOLD].example_ids == ("q0",)
    assert found["word_f1", "first", "second"].values == (0, 1)


def test_normalization_is_asked_for():
    rows = [(["the Paris."], "paris", "Paris")]
    assert values(rows, "exact_match") == (0,)
    assert values(rows, "exact_match", normalize=True) == (1,)
    assert values(rows, "exact_match", against="second", normalize=True) == (1,)


def test_differences_in_word_f1_and_semscore_are_tested_together():
    rows = [(["Paris"], "Paris", "Rome")] * 6 + [(["Paris"], "Paris", "Paris")] * 6
    found = numbers(text_task(*rows), encode=Encoder()).differences[:2]
    assert [one.metric for one in found] == ["word_f1", "sem_score"]
    assert [one.estimate.value for one in found] == pytest.approx([0.5, 0.2])
    assert found[0].p_value == found[1].p_value
    assert [one.p_adjusted for one in found] == pytest.approx([2 * one.p_value for one in found])


def test_a_task_whose_items_have_options_here_and_none_there_is_refused():
    words, choices = text_task((["Paris"], "Paris")), choice_task((0, 0))
    mixed = TaskAnswers(
        task="mixed",
        items=words.items + choices.items,
        answers=((*words.answers[0], *choices.answers[0]),),
    )
    with pytest.raises(ValueError, match="mixed: 1 of 2 items have options"):
        numbers(mixed, models=("only",))
