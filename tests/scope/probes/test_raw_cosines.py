import numpy as np
import pytest
import toy_latents
from scipy.optimize import approx_fprime

from scope.probes import raw_cosines
from scope.probes.raw_cosines import PENALTIES, CosineLayer, fit_cosine_layer, raw_distances

TOY = toy_latents.pairs(60)
DISTANCES = raw_distances(TOY.first, TOY.second)


def test_distances_are_1_less_the_cosine():
    first, second = TOY.first[7, 1].astype(float), TOY.second[7, 1].astype(float)
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert DISTANCES[7, 1] == pytest.approx(1 - cosine)


def test_latents_of_nothing_but_0_have_a_distance():
    nothing = np.zeros((1, 1, 4), dtype=np.float32)
    assert raw_distances(nothing, nothing) == 0
    assert raw_distances(nothing, nothing + 1) == pytest.approx(0.5)


def test_the_strain_is_the_formula_by_hand_with_and_without_a_layer():
    layer = CosineLayer(
        mean=np.array([0.5, 0.0]),
        deviation=np.array([0.5, 1.0]),
        weights=np.array([1.0, -2.0]),
        offset=np.asarray(0.5),
    )
    distances = np.array([[0.25, 0.75], [0.0, 0.0]])
    expected = 0.5 * np.exp(1.0 * 0.5 - 2.0 * 0.25 + 0.5)
    assert layer.strain(distances).tolist() == pytest.approx([expected, 0])
    alone = 0.25 * np.exp(0.5 + 0.5)
    assert layer.strain(distances, without=1).tolist() == pytest.approx([alone, 0])


def test_the_development_pairs_choose_the_penalty():
    fitted = []
    best = fit_cosine_layer(
        DISTANCES, TOY.scores / 5, lambda one: fitted.append(one) or len(fitted) == 3
    )
    assert len(fitted) == len(PENALTIES)
    assert best is fitted[2]
    sizes = [np.square(one.weights).sum() for one in fitted]
    assert sizes == sorted(sizes, reverse=True)


def test_the_fit_ends_where_no_small_change_lessens_the_error(monkeypatch):
    monkeypatch.setattr(raw_cosines, "PENALTIES", (0.01,))
    found = fit_cosine_layer(DISTANCES, TOY.scores / 5, lambda _: 0.0)

    def error(numbers):
        changed = found._replace(weights=numbers[:-1], offset=numbers[-1])
        errors = np.exp(-changed.strain(DISTANCES)) - TOY.scores / 5
        return np.square(errors).mean() + 0.01 * np.square(numbers[:-1]).sum()

    slopes = approx_fprime(np.append(found.weights, found.offset), error)
    assert np.abs(slopes).max() < 1e-4
