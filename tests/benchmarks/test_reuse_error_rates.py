"""Unfit controls accuse nobody: a small version of the simulation."""

import pytest
from reuse_error_rates import ALPHA, WORLDS, figures, is_derived

from scope.progress import Silent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    return figures(list(WORLDS), 12, Silent())


def test_no_kind_of_unfit_controls_accuses_more_often_than_allowed(found):
    assert found["holds"]
    independent = [name for name in WORLDS if not is_derived(name)]
    assert len(independent) == 8
    for name in independent:
        assert found[f"{name}_rate_low"] <= ALPHA
    assert found["near_copies_related"] == found["one_family_related"] == 0


def test_the_rank_alone_would_have_accused_by_near_copies(found):
    assert found["near_copies_by_rank_alone"] >= 6


def test_a_suspect_that_took_much_is_found_among_fit_controls(found):
    assert found["derived_30_related"] >= 10


def test_controls_that_guess_hide_no_suspect_that_took_much(found):
    assert found["half_guess_derived_30_related"] >= 10
