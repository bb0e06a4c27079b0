import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy_latents
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from toy_latents import SMALL, STEPS

from scope.errors import DataError, SpecError
from scope.probes.probe import SimilarityProbe, trained_parameters

TOY = toy_latents.pairs()
TRAIN, DEVELOPMENT, TEST = TOY.part(0, 96), TOY.part(96, 128), TOY.part(128, 160)
SENTENCES = toy_latents.sentences(seed=5)[1]
TESTS = Path(toy_latents.__file__).parent
FORECAST = """
import sys
import toy_latents
from scope.probes.probe import SimilarityProbe
toy = toy_latents.pairs()
for step in toy_latents.STEPS:
    probe = SimilarityProbe(step=step, **toy_latents.SMALL)
    probe.fit(*toy.part(0, 96), development=toy.part(96, 128))
    sys.stdout.buffer.write(probe.predict(toy.first, toy.second).tobytes())
"""


def probe_of(step, **parameters):
    return SimilarityProbe(step=step, **SMALL | parameters)


@pytest.fixture(scope="module")
def fitted():
    return {step: probe_of(step).fit(*TRAIN, development=DEVELOPMENT) for step in STEPS}


@pytest.mark.parametrize("step", STEPS)
def test_scores_follow_people_on_pairs_that_were_not_seen(fitted, step):
    assert fitted[step].score(*TEST) > 0.5


def test_whitened_encoders_follow_people_better_than_the_best_raw_layer(fitted):
    assert fitted["final"].score(*TEST) > fitted["raw"].score(*TEST) + 0.05


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.bits
def test_a_pairs_score_does_not_depend_on_its_company(fitted, step):
    together = fitted[step].predict(TEST.first, TEST.second)
    alone = [
        fitted[step].predict(*(side[None] for side in pair[:2])) for pair in zip(*TEST, strict=True)
    ]
    assert together.tobytes() == np.concatenate(alone).tobytes()


@settings(max_examples=10)
@given(order=st.permutations(range(len(TEST.scores))))
@pytest.mark.parametrize("step", ["mlp", "final"])
def test_permuted_pairs_have_permuted_scores(fitted, step, order):
    expected = fitted[step].predict(TEST.first, TEST.second)[order]
    assert (fitted[step].predict(TEST.first[order], TEST.second[order]) == expected).all()


def test_one_seed_gives_the_same_bytes_in_a_process_with_other_threads(fitted):
    done = subprocess.run(
        [sys.executable, "-c", FORECAST],
        cwd=TESTS,
        env=os.environ | {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "3"},
        capture_output=True,
        check=True,
    )
    expected = [fitted[step].predict(TOY.first, TOY.second).tobytes() for step in STEPS]
    assert done.stdout == b"".join(expected)


@pytest.mark.parametrize(("step", "differ"), [("mlp", False), ("siamese", True), ("final", True)])
def test_another_seed_gives_another_probe_where_something_is_drawn(fitted, step, differ):
    other = probe_of(step, seed=1).fit(*TRAIN, development=DEVELOPMENT)
    scores = [one.predict(TEST.first, TEST.second) for one in (other, fitted[step])]
    assert (not np.array_equal(*scores)) == differ


def test_fitting_leaves_torchs_own_random_numbers_and_threads_alone():
    torch = pytest.importorskip("torch")
    before = torch.get_rng_state(), torch.get_num_threads()
    probe_of("autoencoder").fit(*TRAIN)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]


def test_a_copy_by_scikit_learn_has_the_parameters_and_nothing_learned(fitted):
    copy = clone(fitted["final"])
    assert copy.get_params() == fitted["final"].get_params()
    with pytest.raises(NotFittedError):
        copy.predict(TEST.first, TEST.second)


@pytest.mark.parametrize("step", ["autoencoder", "final"])
def test_sentences_without_scores_are_learned_once_and_serve_every_seed(fitted, step):
    probe = probe_of(step).pretrain(SENTENCES)
    pretrained = probe.pretrained_
    first = probe.fit(*TRAIN, development=DEVELOPMENT).predict(TEST.first, TEST.second)
    assert not np.array_equal(first, fitted[step].predict(TEST.first, TEST.second))
    second = probe.set_params(seed=3).fit(*TRAIN, development=DEVELOPMENT)
    assert second.pretrained_ is pretrained
    assert second.score(*TEST) > 0.5


def test_without_sentences_those_of_the_pairs_are_taken(fitted):
    own = np.concatenate([TRAIN.first, TRAIN.second])
    probe = probe_of("final").pretrain(own).fit(*TRAIN, development=DEVELOPMENT)
    expected = fitted["final"].predict(TEST.first, TEST.second)
    assert np.array_equal(probe.predict(TEST.first, TEST.second), expected)


def test_the_raw_step_takes_the_layer_that_the_development_pairs_follow(fitted):
    assert fitted["raw"].measure_.layer == np.argmax(fitted["raw"].measure_.correlations)
    noisy = DEVELOPMENT._replace(first=DEVELOPMENT.first.copy())
    noisy.first[:, 0] = np.random.default_rng(0).normal(size=(32, 8))
    assert fitted["raw"].measure_.layer == 0
    assert probe_of("raw").fit(*TRAIN, development=noisy).measure_.layer == 2


def test_scores_have_the_range_that_was_asked_for():
    scaled = [part._replace(scores=part.scores / 5 * 0.6 + 0.1) for part in (TRAIN, DEVELOPMENT)]
    probe = probe_of("final", low=0.1, high=0.7).fit(*scaled[0], development=scaled[1])
    expected = probe_of("final").fit(*TRAIN, development=DEVELOPMENT)
    scores = probe.predict(TEST.first, TEST.second)
    np.testing.assert_allclose(
        scores, expected.predict(TEST.first, TEST.second) / 5 * 0.6 + 0.1, atol=1e-3
    )
    assert (probe.predict(TEST.first, TEST.first) == 0.7).all()


def test_calibration_brings_scores_nearer_to_peoples_and_keeps_their_order(fitted):
    probe = fitted["final"]
    dissimilarities = probe.measure_.dissimilarity(probe.layer_distances(*TEST[:2]))
    scores = probe.predict(*TEST[:2])
    assert np.array_equal(np.argsort(dissimilarities), np.argsort(-scores))
    raw = 5 * np.exp(-dissimilarities)
    assert np.abs(scores - TEST.scores).mean() < np.abs(raw - TEST.scores).mean()


REFUSED = [
    ({"step": "finale"}, "the step `finale`"),
    ({"low": 5.0, "high": 5.0}, "scores from 5 to 5"),
    ({"high": np.inf}, "scores from 0 to inf"),
    ({"loss": "cubed"}, "the loss `cubed`"),
    ({"seed": -1}, "seed=-1"),
    ({"hidden": 0}, "hidden=0"),
    ({"epochs": 0}, "epochs=0"),
    ({"batch": 1}, "batch=1"),
]


@pytest.mark.parametrize(("parameters", "told"), REFUSED)
def test_a_parameter_that_cannot_be_is_refused(parameters, told):
    with pytest.raises(SpecError, match=told):
        SimilarityProbe(**parameters).fit(*TRAIN)


def test_an_autoencoder_is_drawn_with_the_seed_of_its_call_and_the_final_step_draws_none_there():
    foundations = {
        step: [probe_of(step, seed=seed).pretrain(SENTENCES).pretrained_ for seed in (0, 0, 1)]
        for step in ("autoencoder", "final")
    }
    one, same, other = (found.encoders.weights for found in foundations["autoencoder"])
    assert (one == same).all()
    assert (one != other).any()
    one, _, other = (found.basis.projection for found in foundations["final"])
    assert (one == other).all()
    assert foundations["final"][0].encoders is None


def test_an_autoencoder_learned_anew_for_a_seed_is_that_of_a_new_probe():
    again = probe_of("autoencoder").pretrain(SENTENCES).set_params(seed=3).pretrain(SENTENCES)
    expected = probe_of("autoencoder", seed=3).pretrain(SENTENCES)
    scores = [one.fit(*TRAIN).predict(TEST.first, TEST.second) for one in (again, expected)]
    assert np.array_equal(*scores)


@pytest.mark.parametrize("step", ["raw", "mlp", "siamese"])
def test_sentences_without_scores_are_refused_where_they_would_do_nothing(step):
    with pytest.raises(SpecError, match=f"for the step `{step}`"):
        probe_of(step).pretrain(SENTENCES)


def test_fewer_pairs_than_parameters_of_the_head_are_refused():
    assert probe_of("final").fit(*TRAIN.part(0, 14)) is not None
    with pytest.raises(DataError, match="13 pairs to train a head of 14 parameters"):
        probe_of("final").fit(*TRAIN.part(0, 13))
    with pytest.raises(DataError, match="3 pairs to train a head of 4 parameters"):
        probe_of("mlp").fit(*TRAIN.part(0, 3))


def test_latents_of_another_width_are_refused(fitted):
    for wrong in (TEST.first[:, :, :7], TEST.first[:, :2]):
        with pytest.raises(DataError) as caught:
            fitted["final"].predict(wrong, wrong)
        layers, width = wrong.shape[1:]
        assert f"latents of {layers} layers of width {width}" in str(caught.value)
        assert "expected: 3 layers of width 8" in str(caught.value)


def test_sentences_without_scores_of_another_width_are_noticed():
    probe = probe_of("final").pretrain(SENTENCES[:, :, :6])
    with pytest.raises(DataError, match="latents of 3 layers of width 8"):
        probe.fit(*TRAIN)


def test_pairs_with_nothing_to_tell_them_apart_give_no_warning_and_no_correlation():
    still = np.ones((20, 3, 8), dtype=np.float32)
    for step in STEPS:
        probe = probe_of(step).fit(still, still, TRAIN.scores[:20])
        assert (probe.predict(still, still) == 5).all()
        assert np.isnan(probe.score(still, still, TRAIN.scores[:20]))


HUNDRED = toy_latents.pairs(100)
# Of three layers and a gate of two units: weights, gate, its offsets, outgoing weights, offset.
HEAD = 3 + 3 * 2 + 2 + 2 + 1


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("raw", 0),
        ("mlp", 3 + 1),
        ("siamese", 3 * 6 * 4 + HEAD),
        # The first of the three layers has half of the outputs; each output has an offset.
        ("autoencoder", (2 + 4 + 4) * (6 + 1) + HEAD),
        ("final", 3 * 6 * 4 + HEAD),
    ],
)
def test_what_is_trained_is_counted_by_hand(step, expected):
    probe = SimilarityProbe(step=step, **SMALL | {"components": 6}).fit(*HUNDRED)
    assert trained_parameters(probe) == expected


def test_components_are_those_of_the_time_of_pretraining():
    probe = SimilarityProbe(**SMALL | {"components": 5}).pretrain(HUNDRED.first)
    probe.set_params(components=7).fit(*HUNDRED)
    assert trained_parameters(probe) == 3 * 5 * 4 + HEAD


def test_nothing_is_trained_before_it_is_fitted():
    with pytest.raises(NotFittedError):
        trained_parameters(SimilarityProbe())
