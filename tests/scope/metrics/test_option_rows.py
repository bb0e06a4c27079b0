import numpy as np
import pytest

from scope.metrics.option_rows import checked_option_rows


def test_rows_off_by_rounding_are_made_to_sum_to_one():
    rows, counts = checked_option_rows("any", [[0.50004, 0.5], [0.0, 1.0]], None)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-15)
    assert counts.tolist() == [2, 2]


def test_a_chance_behind_the_last_option_is_refused():
    with pytest.raises(ValueError, match="any: row 1 gives more than 2 options a chance"):
        checked_option_rows("any", [[0.5, 0.5, 0], [0.5, 0.3, 0.2]], [2, 2])


def test_there_is_one_number_of_options_a_row():
    with pytest.raises(ValueError, match="any: 1 rows for 2 numbers of options"):
        checked_option_rows("any", [[0.5, 0.5]], [2, 2])


def test_what_is_no_distribution_is_refused():
    with pytest.raises(ValueError, match="any: row 0"):
        checked_option_rows("any", [[0.5, 0.6]], None)
