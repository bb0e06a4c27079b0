"""A model that answers without reading is found; a good one on skewed data is not."""

import random

import pytest

from scope.estimation.answer_shares import answer_shares, shares_of_models


def labels_of(**counts):
    """Gold labels by id: ``labels_of(good=3, bad=1)`` has four."""
    every = [label for label, count in counts.items() for _ in range(count)]
    return {str(number): label for number, label in enumerate(every)}


@pytest.mark.parametrize(
    ("gold", "constant", "reason"),
    [
        (labels_of(good=6, bad=4), 10, "it answers `good` to 10 of 10 texts"),
        (labels_of(good=80, bad=20), 95, "it answers `good` to 95 of 100 texts"),
        (labels_of(good=3, bad=1), 4, None),  # of so few texts nothing is said
        (labels_of(good=60, bad=40), 94, None),
    ],
)
def test_one_answer_to_nearly_all_texts_is_degenerate(gold, constant, reason):
    ids = list(gold)
    answers = gold | dict.fromkeys(ids[:constant], "good")
    found = answer_shares("m", answers, gold).degenerate
    assert (found or "").startswith(reason or "")
    assert (found is None) == (reason is None)


@pytest.mark.parametrize("right", [17, 90, 900])
def test_a_constant_model_on_skewed_data_is_degenerate(right):
    """Nine of ten are right by chance alone: the answers to the others tell."""
    gold = labels_of(good=right, bad=10)
    found = answer_shares("m", dict.fromkeys(gold, "good"), gold)
    assert found.degenerate == "it answers `good` to all 10 texts whose gold label is another" or (
        right == 17 and "no gold label exceeds" in found.degenerate
    )
    sees_one = dict.fromkeys(gold, "good") | {max(gold, key=int): "bad"}
    assert "gold label is another" not in (answer_shares("m", sees_one, gold).degenerate or "")


@pytest.mark.parametrize("seed", range(5))
def test_a_random_model_on_balanced_data_is_degenerate(seed):
    gold = labels_of(good=200, bad=200)
    draw = random.Random(seed)
    answers = {one: draw.choice(("good", "bad")) for one in gold}
    assert "hardly better than chance" in answer_shares("m", answers, gold).degenerate


def test_fewer_than_fifty_labels_say_nothing_of_chance():
    gold = labels_of(good=24, bad=25)
    backwards = {one: "bad" if label == "good" else "good" for one, label in gold.items()}
    assert answer_shares("m", backwards, gold).degenerate is None
    gold = labels_of(good=25, bad=25)
    backwards = {one: "bad" if label == "good" else "good" for one, label in gold.items()}
    assert answer_shares("m", backwards, gold).degenerate is not None


def test_without_gold_the_reference_shows_what_the_texts_are():
    half, mostly = labels_of(good=10, bad=10), labels_of(good=18, bad=2)
    constant = dict.fromkeys(half, "good")
    reference, target = shares_of_models(("r", "t"), (half, constant), {})
    assert reference.degenerate is None
    assert "no answer of the reference exceeds 10 of 20" in target.degenerate
    assert str(target.accuracy) == "undefined (no text has a known right answer)"
    reference, target = shares_of_models(("r", "t"), (mostly, constant), {})
    assert target.degenerate is None


def test_a_reference_without_labels_must_give_two_answers():
    """Nothing shows that the only answer depends on the texts."""
    ten = labels_of(good=10)
    for known, told in ({}, "none of them"), ({"0": "good"}, "only 1 of them"):
        found = answer_shares("r", ten, known).degenerate
        assert found == f"it answers `good` to all 10 texts, and {told} has a gold label"
    assert answer_shares("r", ten, ten).degenerate is None
    assert answer_shares("r", ten | {"9": "bad"}, {}).degenerate is None
    assert answer_shares("r", labels_of(good=4), {}).degenerate is None


def test_a_constant_target_is_found_where_the_reference_is_skewed_and_no_label_is_known():
    mostly = labels_of(good=90, bad=10)
    found = answer_shares("t", dict.fromkeys(mostly, "good"), {}, mostly).degenerate
    assert found == "it answers `good` to all 10 texts that the reference answers otherwise"
    assert answer_shares("t", mostly, {}, mostly).degenerate is None


@pytest.mark.parametrize("labelled", [0, 20])
def test_a_random_target_is_found_by_the_reference_where_too_few_labels_are_known(labelled):
    reference = labels_of(good=100, bad=100)
    draw = random.Random(0)
    answers = {one: draw.choice(("good", "good", "good", "bad")) for one in reference}
    gold = dict(list(reference.items())[:labelled])
    found = answer_shares("m", answers, gold, reference)
    assert found.degenerate.startswith("its share of the reference's answers of 0.")
    assert "on 200 texts is hardly better than chance" in found.degenerate
    assert found.degenerate.endswith("have next to nothing to do with the reference's")
    assert answer_shares("m", answers, gold).degenerate is None


def test_rare_agreement_is_no_sign_of_chance_where_there_are_many_answers():
    """As of next tokens."""
    texts = [str(place) for place in range(200)]
    reference = {one: f"word {int(one) % 40}" for one in texts}
    other = {one: reference[one] if int(one) % 10 == 0 else "another" for one in texts}
    assert answer_shares("m", other, {}, reference).degenerate is None
    few = {one: "AB"[int(one) % 2] for one in texts}
    turned = {one: "AB"[int(one) // 2 % 2] for one in texts}
    assert "the reference's" in answer_shares("m", turned, {}, few).degenerate


@pytest.mark.parametrize("wrong", [0, 5, 10])
def test_a_good_model_on_skewed_data_is_not_degenerate(wrong):
    gold = labels_of(good=90, bad=10)
    answers = gold | dict.fromkeys(list(gold)[-wrong:] if wrong else [], "good")
    if wrong < 10:
        assert answer_shares("m", answers, gold).degenerate is None
