import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scope.probes.calibration import Calibration, calibrate, scores_of


@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=9),
    st.floats(0.01, 100),
    st.floats(0.05, 20),
)
def test_scores_fall_with_the_strain_within_their_range(strains, scale, power):
    strains = np.sort(strains)
    scores = scores_of(strains, Calibration(scale, power), 0.1, 0.7)
    assert (np.diff(scores) <= 0).all()
    assert ((scores >= 0.1) & (scores <= 0.7)).all()


def test_no_strain_is_exactly_the_top_of_any_range():
    for low, high in [(0.0, 5.0), (0.1, 0.7), (-1.0, 1.0), (1.0, 1.1)]:
        assert scores_of(np.zeros(1), Calibration(3.3, 0.7), low, high)[0] == high


def test_a_calibration_lessens_the_error_and_never_leaves_its_bounds():
    generator = np.random.default_rng(0)
    strains, scores = generator.uniform(0, 3, 50), generator.uniform(0, 5, 50)
    found = calibrate(strains, scores, 0.0, 5.0)
    errors = [
        np.square(scores_of(strains, one, 0.0, 5.0) - scores).mean()
        for one in (found, Calibration())
    ]
    assert errors[0] < errors[1]
    constant = calibrate(np.zeros(3), scores[:3], 0.0, 5.0)
    assert np.isfinite(constant).all()
