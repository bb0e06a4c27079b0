"""Unfit controls accuse nobody: a small version of the simulation."""

import pytest
from reuse_error_rates import ALPHA, WORLDS, figures, is_derived

from scope.progress import Silent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def counts():
    return figures(list(WORLDS), (5, 24), 12, Silent())


def test_no_kind_of_unfit_controls_accuses_more_often_than_allowed(counts):
    assert counts["holds"]
    independent = [name for name in WORLDS if not is_derived(name)]
    assert len(independent) == 8
    for name in independent:
        assert max(counts[f"{name}_{controls}_rate_low"] for controls in (5, 24)) <= ALPHA
    assert counts["near_copies_24_related"] == counts["one_family_24_related"] == 0


def test_a_suspect_that_took_much_is_found_among_fit_controls_and_beside_guessing_ones(counts):
    assert counts["derived_30_24_related"] >= 10
    assert counts["half_guess_derived_30_24_related"] >= 10
