import numpy as np
import pytest
import toy_latents
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from toy_latents import SMALL, STEPS

from scope.errors import DataError, SpecError
from scope.jobs.probe.estimator import Calibration, SimilarityProbe
from scope.jobs.probe.saving import measure_arrays

TOY = toy_latents.pairs()
TRAIN, DEVELOPMENT, TEST = TOY.part(0, 96), TOY.part(96, 128), TOY.part(128, 160)
SENTENCES = toy_latents.sentences(seed=5)[1]


def probe_of(step, **parameters):
    return SimilarityProbe(step=step, **SMALL | parameters)


@pytest.fixture(scope="module")
def fitted():
    return {step: probe_of(step).fit(*TRAIN, development=DEVELOPMENT) for step in STEPS}


@pytest.mark.parametrize("step", STEPS)
def test_scores_follow_people_on_pairs_that_were_not_seen(fitted, step):
    assert fitted[step].score(*TEST) > 0.5


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


def test_fewer_pairs_than_parameters_of_the_head_are_refused():
    assert probe_of("final").fit(*TRAIN.part(0, 14)) is not None
    with pytest.raises(DataError, match="13 pairs to train a head of 14 parameters"):
        probe_of("final").fit(*TRAIN.part(0, 13))


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
    assert probe.measure_.trained == expected


AGAINST = DEVELOPMENT._replace(scores=5 - DEVELOPMENT.scores)
"""Pairs whose scores are the opposite of what training teaches: the less of it the better."""


@pytest.mark.parametrize("step", STEPS)
def test_the_development_pairs_choose_the_layer_the_penalty_or_the_epoch(step):
    along, against = (
        probe_of(step, epochs=6).fit(*TRAIN, development=pairs) for pairs in (DEVELOPMENT, AGAINST)
    )
    assert against.score(*DEVELOPMENT) < along.score(*DEVELOPMENT)
    before, after = (measure_arrays(probe.measure_) for probe in (along, against))
    assert any((before[name] != after[name]).any() for name in before)


@pytest.mark.parametrize("step", STEPS)
def test_the_calibration_is_that_of_the_development_pairs(step):
    # Scores of which the lesser half alone is there, unlike those of the training pairs.
    low = DEVELOPMENT._replace(scores=DEVELOPMENT.scores / 2)
    probe = probe_of(step).fit(*TRAIN, development=low)
    dissimilarities = probe.measure_.dissimilarity(probe.layer_distances(*low[:2]))
    assert probe.calibration_ == Calibration.fit(dissimilarities, low.scores / 5)


@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=9), st.floats(0.01, 100), st.floats(0.05, 20)
)
def test_scores_fall_with_the_dissimilarity_within_their_range(dissimilarities, scale, power):
    scores = Calibration(scale, power).scores(np.sort(dissimilarities), 0.1, 0.7)
    assert (np.diff(scores) <= 0).all()
    assert ((scores >= 0.1) & (scores <= 0.7)).all()
    assert Calibration(scale, power).scores(np.zeros(1), 0.1, 0.7)[0] == 0.7


def normed(latents):
    return (latents - latents.mean(axis=2, keepdims=True)) / latents.std(axis=2, keepdims=True)


@pytest.fixture(scope="module")
def published():
    return probe_of("published", epochs=8).pretrain(SENTENCES).fit(*TRAIN, development=DEVELOPMENT)


def test_the_published_step_learns_from_raw_latents_and_scores_as_its_sigmoid_does(published):
    assert published.score(*TEST) > 0.5
    arrays = measure_arrays(published.measure_)
    assert set(arrays) == {"centre", "encoders", "offsets", "weights", "out_offset", "trained"}
    # Half of the outputs in the first of three layers, and a weight a layer with an offset.
    assert arrays["trained"] == (2 + 4 + 4) * (8 + 1) + 3 + 1
    units = []
    for side in map(normed, TEST[:2]):
        codes = np.tanh(
            np.einsum("plw,lwo->plo", side, arrays["encoders"]) + arrays["offsets"][:, 0]
        )
        units.append(codes / np.linalg.norm(codes, axis=2, keepdims=True))
    cosines = (units[0] * units[1]).sum(axis=2)
    sigmoid = 1 / (1 + np.exp(-(cosines @ arrays["weights"] + arrays["out_offset"])))
    expected = 5 * sigmoid
    np.testing.assert_allclose(published.predict(TEST.first, TEST.second), expected, rtol=1e-4)
    np.testing.assert_array_equal(
        published.predict(TEST.first, TEST.second), published.predict(TEST.second, TEST.first)
    )


def test_an_error_of_reconstruction_is_a_share_of_the_variance(published):
    errors = published.reconstruction_errors(SENTENCES)
    assert errors.shape == SENTENCES.shape[:2]
    trained = published.pretrained_.encoders
    inputs = normed(SENTENCES)
    for layer in range(3):
        encoder, offset, decoder = (
            trained[name][layer].numpy() for name in ("encoders", "offsets", "decoders")
        )
        rest = np.tanh(inputs[:, layer] @ encoder + offset) @ decoder - inputs[:, layer]
        share = np.square(rest).mean(axis=1) / inputs[:, layer].var(axis=0).mean()
        np.testing.assert_allclose(errors[:, layer], share, rtol=1e-4)


def test_training_of_autoencoders_leaves_less_of_the_latents_unexplained(published, monkeypatch):
    monkeypatch.setattr("scope.jobs.probe.network.EPOCHS", 0)
    untrained = probe_of("published").pretrain(SENTENCES).fit(*TRAIN)
    errors, before = (
        probe.reconstruction_errors(SENTENCES).mean(axis=0) for probe in (published, untrained)
    )
    assert (errors < before).all()


def test_latents_that_the_probe_cannot_use_are_refused(fitted):
    with pytest.raises(DataError, match="2 layers of width 8\nexpected: 3 layers of width 8"):
        fitted["raw"].predict(TEST.first[:, :2], TEST.second[:, :2])
    with pytest.raises(DataError, match="3 layers of width 8\nexpected: 3 layers of width 6"):
        probe_of("final").pretrain(SENTENCES[:, :, :6]).fit(*TRAIN)
    with pytest.raises(SpecError, match="for the step `raw`"):
        probe_of("raw").pretrain(SENTENCES)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.bits
def test_a_pairs_score_does_not_depend_on_its_company(fitted, step):
    together = fitted[step].predict(TEST.first, TEST.second)
    alone = [
        fitted[step].predict(one[None], other[None]) for one, other in zip(*TEST[:2], strict=True)
    ]
    assert together.tobytes() == np.concatenate(alone).tobytes()
