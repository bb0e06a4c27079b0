import numpy as np
import pytest
import toy_latents
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import DataError
from scope.probes.alignment import linear_cka

LATENTS = toy_latents.sentences(count=20)[1]
OTHERS = np.random.default_rng(1).normal(size=(20, 2, 5)).astype(np.float32)


def slow_cka(first, second, *, standardised):
    """The formula as written: HSIC of two layers over the root of each with itself."""
    count = len(first)

    def kernel(rows):
        rows = rows.astype(np.float64)
        if standardised:
            rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        centring = np.eye(count) - np.ones((count, count)) / count
        return centring @ rows @ rows.T @ centring

    def hsic(one, other):
        return sum(one[i, j] * other[i, j] for i in range(count) for j in range(count))

    one, other = kernel(first), kernel(second)
    return hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))


@pytest.mark.parametrize("standardised", [True, False])
def test_the_map_is_that_of_the_formula_layer_by_layer(standardised):
    found = linear_cka(LATENTS, OTHERS, standardised=standardised)
    expected = [
        [slow_cka(LATENTS[:, i], OTHERS[:, j], standardised=standardised) for j in range(2)]
        for i in range(3)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(st.permutations(range(20)))
def test_the_order_of_the_sentences_does_not_count(order):
    np.testing.assert_allclose(
        linear_cka(LATENTS[order], OTHERS[order]), linear_cka(LATENTS, OTHERS), rtol=1e-9
    )


def test_a_model_beside_itself_has_1_on_the_diagonal_and_the_map_turns_with_the_models():
    own = linear_cka(LATENTS, LATENTS)
    np.testing.assert_allclose(np.diag(own), 1)
    np.testing.assert_allclose(own, own.T)
    np.testing.assert_allclose(linear_cka(OTHERS, LATENTS), linear_cka(LATENTS, OTHERS).T)


def test_unstandardised_it_does_not_feel_rotation_and_standardised_no_change_of_a_scale():
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(8, 8)))[0]
    turned = linear_cka(LATENTS @ turn, OTHERS, standardised=False)
    np.testing.assert_allclose(turned, linear_cka(LATENTS, OTHERS, standardised=False), rtol=1e-4)
    scaled = linear_cka(LATENTS * np.array([1e4, *[1.0] * 7]) + 3, OTHERS)
    np.testing.assert_allclose(scaled, linear_cka(LATENTS, OTHERS), rtol=1e-4)


def test_other_numbers_of_sentences_are_refused():
    with pytest.raises(DataError, match="20 sentences beside latents of 19"):
        linear_cka(LATENTS, OTHERS[1:])


def test_a_layer_that_tells_no_sentences_apart_is_named():
    still = LATENTS.copy()
    still[:, 1] = 4
    with pytest.raises(DataError, match="the same latent for all 20 sentences in layer 1"):
        linear_cka(still, OTHERS)
