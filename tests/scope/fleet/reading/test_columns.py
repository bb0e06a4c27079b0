"""Which column of a table plays which role."""

import pytest

from scope.errors import DataError, SpecError
from scope.fleet.reading.columns import choose_matrix_columns

EMBEDLLM = ("prompt_id", "model_id", "category_id", "label", "prompt", "model_name", "category")


def test_the_columns_of_embedllm_are_known():
    assert choose_matrix_columns(EMBEDLLM, {}, "train.csv")[:5] == (
        "model_name",
        "prompt_id",
        "prompt",
        "category",
        "label",
    )


def test_a_column_that_is_named_for_one_role_serves_no_other():
    columns = choose_matrix_columns(
        ("model", "text", "label", "ok"), {"category": "label"}, "a.csv"
    )
    assert (columns.category, columns.correct) == ("label", None)


def test_a_column_can_be_declined():
    assert choose_matrix_columns(EMBEDLLM, {"category": "none"}, "a.csv").category is None


def test_a_missing_column_is_named_with_those_there_are():
    with pytest.raises(DataError, match=r"(?s)no column `y` in a\.csv.*`model`, `id`"):
        choose_matrix_columns(("model", "id"), {"correct": "y"}, "a.csv")


def test_nothing_tells_a_question_from_others():
    with pytest.raises(DataError, match=r"(?s)no column for item in a\.csv.*--column item=NAME"):
        choose_matrix_columns(("model", "correct"), {}, "a.csv")


def test_the_text_may_be_called_the_question():
    columns = choose_matrix_columns(("model", "body", "correct"), {"question": "body"}, "a.csv")
    assert columns.text == "body"
    with pytest.raises(SpecError, match="two columns for text: `body` and `model`"):
        choose_matrix_columns(("model", "body"), {"question": "body", "text": "model"}, "a.csv")


def test_an_unknown_role_is_held_against_the_known_ones():
    with pytest.raises(SpecError, match=r"(?s)no column has the role `modl`.*did you mean `model`"):
        choose_matrix_columns(EMBEDLLM, {"modl": "x"}, "a.csv")
