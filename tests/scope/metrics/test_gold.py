import pytest

from scope.metrics.gold import best_against_gold
from scope.metrics.overlap import word_f1_values


def test_each_answer_is_held_against_its_own_right_answers():
    gold = [["red", "dark red"], ["dark red"], ["", "blue"]]
    values = best_against_gold(word_f1_values, ["dark red", "red", ""], gold)
    assert values.tolist() == pytest.approx([1, 2 / 3, 1])


def test_no_items_give_no_values():
    assert best_against_gold(word_f1_values, [], []).shape == (0,)


@pytest.mark.parametrize("gold", [[["a"]], [["a"], []]])
def test_an_item_without_a_right_answer_is_refused(gold):
    with pytest.raises(ValueError, match="2 answers, 1 items with right answers"):
        best_against_gold(word_f1_values, ["a", "b"], gold)
