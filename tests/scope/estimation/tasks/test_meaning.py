"""What compares answers by meaning, before any encoder or probe is known."""

import numpy as np
import pytest
from made_up_tasks import NOT_ASKED, text_task

from scope.estimation.tasks import cosines_of, distinct_texts


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


def test_where_there_is_no_text_nobody_is_asked():
    compare = cosines_of([], lambda texts: pytest.fail(f"asked for {texts}"))
    assert compare(["", " "], ["", ""]).tolist() == [1, 1]
