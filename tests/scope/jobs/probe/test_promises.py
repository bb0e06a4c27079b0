"""What holds for every step whatever was learned, before a probe is saved and after it is read."""

import numpy as np
import pytest
import toy_latents
from hypothesis import given, strategies as st
from toy_latents import SMALL, STEPS

from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.saving import LatentSource, SavedProbe, load_probe, save_probe

TOY = toy_latents.pairs(400)
SOURCE = LatentSource(spec="hf:a", fingerprint="1", readout="last", prompt=None, dtype="float32")
ODD = np.array([0, 1e-40, -1e-20, 1.0, 1e10, -1e20, 3e38, -3e38], dtype=np.float32)
"""Nothing, numbers too small for a square, and the greatest that there are."""


def thousand():
    """Sentences of the training, others, and latents of no model."""
    generator = np.random.default_rng(3)
    known, other = TOY.first[:200], toy_latents.sentences(count=400, seed=9)[1]
    noise = [generator.normal(size=(100, 3, 8)) * size for size in (1e-6, 1, 1e3, 1e8)]
    latents = np.concatenate([known, other, *noise]).astype(np.float32)
    return latents, latents[generator.permutation(1000)]


@pytest.fixture(scope="module", params=STEPS)
def both(request, tmp_path_factory):
    """A probe as it was fitted, and as it was read."""
    folder = tmp_path_factory.mktemp("probe")
    probe = SimilarityProbe(step=request.param, **SMALL).fit(*TOY.part(0, 200))
    save_probe(SavedProbe(probe=probe, source=SOURCE), folder)
    return probe, load_probe(folder).probe


def test_a_thousand_sentences_beside_themselves_score_the_top_exactly(both):
    first, _ = thousand()
    for probe in both:
        assert (probe.predict(first, first) == 5.0).all()


def test_a_thousand_pairs_score_the_same_both_ways_round_and_once_read_to_the_bit(both):
    first, second = thousand()
    fitted, read = (probe.predict(first, second) for probe in both)
    assert fitted.tobytes() == read.tobytes()
    assert fitted.tobytes() == both[0].predict(second, first).tobytes()
    assert ((fitted >= 0) & (fitted <= 5)).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_the_oddest_latents_have_finite_scores_in_the_range(both, seed):
    first, second = np.random.default_rng(seed).choice(ODD, size=(2, 6, 3, 8))
    for probe in both:
        scores = probe.predict(first, second)
        assert ((scores >= 0) & (scores <= 5)).all()
        assert (scores == probe.predict(second, first)).all()
        assert (probe.predict(first, first) == 5).all()


@pytest.mark.parametrize("size", [1e-30, 1e30])
@pytest.mark.parametrize("step", STEPS)
def test_latents_of_any_scale_can_be_learned_from(step, size):
    pairs = toy_latents.Toy(*(side * np.float32(size) for side in TOY[:2]), TOY.scores)
    probe = SimilarityProbe(step=step, **SMALL).fit(*pairs.part(0, 200))
    scores = probe.predict(pairs.first, pairs.second)
    assert ((scores >= 0) & (scores <= 5)).all()
    assert (probe.predict(pairs.first, pairs.first) == 5).all()


@pytest.mark.parametrize("step", ["raw", "mlp", "final"])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (1e6, 1e6 + 1)])
def test_scores_lie_in_the_range_that_was_asked_for(step, low, high):
    shifted = TOY._replace(scores=np.clip(low + TOY.scores / 5 * (high - low), low, high))
    probe = SimilarityProbe(step=step, low=low, high=high, **SMALL).fit(*shifted.part(0, 100))
    first, second = thousand()
    scores = probe.predict(first, second)
    assert ((scores >= low) & (scores <= high)).all()
    assert (probe.predict(first, first) == high).all()
