"""What is found of one model, by hand."""

import numpy as np
import pytest

from scope.jobs.probe.ladder import FittedStep, PairLatents, latents_of
from scope.jobs.probe.scoring import judge_model, layer_scores, misjudged_pairs, step_scores
from scope.probes import SimilarityProbe, layer_curve, leave_one_layer_out, pearson
from scope.records import ScoredPair, Undefined

PAIRS = tuple(
    ScoredPair(id=str(place), first=first, second=second, score=score)
    for place, (first, second, score) in enumerate(
        [
            ("the good film", "a good film", 4.0),
            ("who saw bob", "bob saw who", 5.0),
            ("paris", "the dull film", 0.0),
            ("ann was in paris", "bob was in paris", 3.0),
            ("a dull film", "the good film", 2.0),
            ("in paris", "in a", 1.0),
        ]
    )
)
SENTENCES = tuple(text for pair in PAIRS for text in (pair.first, pair.second))
WANTED = np.array([pair.score for pair in PAIRS])


@pytest.fixture
def model(bags):
    return bags(SENTENCES)


@pytest.fixture
def test_latents(model):
    return latents_of(model.table, PAIRS)


def fitted(step, latents, *given):
    probe = SimilarityProbe(step=step, hidden=1, epochs=1).fit(
        *(np.concatenate([part] * 3) for part in latents)
    )
    return FittedStep(probe=probe, given=given or (probe.predict(*latents[:2]),))


def test_a_step_is_scored_on_the_first_seed_and_gains_on_the_step_before(test_latents):
    shifted = WANTED + np.array([0.5, 0, 0.5, -0.5, 0, 0.5])
    crooked = WANTED[::-1].copy()
    first = fitted("raw", test_latents, np.sqrt(WANTED))
    second = fitted("mlp", test_latents, shifted, crooked)
    raw, mlp = step_scores("m", [first, second], WANTED)
    assert (raw.model, raw.step, raw.gain, raw.parameters) == ("m", "raw", None, 0)
    assert raw.pearson.value == pytest.approx(pearson(np.sqrt(WANTED), WANTED))
    assert raw.spearman.value == 1
    assert mlp.parameters == 3 + 1
    assert mlp.error.value == pytest.approx(2 / 6)
    assert mlp.gain.value == pytest.approx(mlp.pearson.value - raw.pearson.value)
    assert mlp.pearsons == pytest.approx((mlp.pearson.value, pearson(crooked, WANTED)))
    assert mlp.spearmans[0] == mlp.spearman.value


def test_a_constant_step_has_no_correlation_and_says_why(test_latents):
    (score,) = step_scores("m", [fitted("raw", test_latents, np.ones(6))], WANTED)
    assert score.pearson == Undefined(reason="one side is constant", n=6)
    assert (score.pearsons, score.spearmans) == ((), ())
    assert score.error.value == pytest.approx(np.abs(WANTED - 1).mean())


def test_layers_are_those_of_the_curves(test_latents):
    probe = fitted("siamese", test_latents).probe
    found = layer_scores("m", probe, test_latents)
    assert [one.raw for one in found] == [one.pearson for one in layer_curve(*test_latents)]
    encoded = layer_curve(*test_latents, probe=probe)
    assert [one.encoded for one in found] == [one.pearson for one in encoded]
    lost = leave_one_layer_out(probe, *test_latents)
    assert [one.lost for one in found] == [one.lost for one in lost]
    assert [one.layer for one in found] == [0, 1, 2]


def test_a_step_without_encodings_has_none_and_one_layer_cannot_be_lost(test_latents):
    probe = fitted("raw", test_latents).probe
    assert all(one.encoded is None for one in layer_scores("m", probe, test_latents))
    alone = PairLatents(test_latents.first[:, :1], test_latents.second[:, :1], WANTED)
    (only,) = layer_scores("m", fitted("mlp", alone).probe, alone)
    assert (only.layer, only.lost) == (0, None)


def test_the_worst_pairs_come_first_and_equals_in_their_order():
    given = WANTED + np.array([0, -2, 1, 3, 1, -1])
    found = misjudged_pairs("m", PAIRS, given)
    assert [one.id for one in found] == ["3", "1", "2", "4", "5", "0"]
    assert (found[0].wanted, found[0].given, found[0].first) == (3.0, 6.0, "ann was in paris")
    assert len(misjudged_pairs("m", PAIRS * 3, np.tile(given, 3))) == 10


def test_all_that_is_found_of_a_model_stands_together(model, test_latents):
    steps = [fitted("raw", test_latents), fitted("mlp", test_latents)]
    found = judge_model(model, steps, PAIRS)
    assert found.model == model.record()
    assert [score.step for score in found.scores] == ["raw", "mlp"]
    assert found.given is steps[-1].given[0]
    assert len(found.layers) == 3
    assert len(found.misjudged) == 6
