"""The examples of a case."""

import numpy as np
from made_up_cases import make_case, strangers


def test_units_are_the_examples_of_the_probes_as_they_first_come():
    rows, gold = strangers(0, controls=2, items=6)
    case = make_case(rows, gold, units=["b", "a", "b", "c", "a", "b"])
    assert case.units == ("b", "a", "c")
    assert [case.units[number] for number in case.answers.units] == ["b", "a", "b", "c", "a", "b"]
    assert np.array_equal(case.answers.answers, rows)
