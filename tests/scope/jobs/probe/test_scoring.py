"""What is found of one model, by hand."""

import numpy as np
import pytest

from scope.jobs.probe.leakage_groups import LeakageGroups
from scope.jobs.probe.scoring import judge_model, layer_scores, misjudged_pairs, step_scores
from scope.jobs.probe.steps import FittedStep, PairLatents, latents_of
from scope.probes import (
    SimilarityProbe,
    layer_curve,
    leave_one_layer_out,
    mean_error_estimate,
    pearson_difference,
    pearson_estimate,
    spearman_estimate,
)
from scope.probes.correlations import pearson
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
GROUPS = np.array([0, 0, 1, 2, 3, 4])
GROUPED = LeakageGroups(np.arange(6), np.ones(6, dtype=np.bool_))


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
    raw, mlp = step_scores("m", [first, second], WANTED, GROUPED)
    assert (raw.model, raw.step, raw.gain, raw.parameters) == ("m", "raw", None, 0)
    assert raw.pearson.value == pytest.approx(pearson(np.sqrt(WANTED), WANTED))
    assert raw.spearman.value == 1
    assert mlp.parameters == 3 + 1
    assert mlp.error.value == pytest.approx(2 / 6)
    assert mlp.gain.value == pytest.approx(mlp.pearson.value - raw.pearson.value)
    assert mlp.pearsons == pytest.approx((mlp.pearson.value, pearson(crooked, WANTED)))
    assert mlp.spearmans[0] == mlp.spearman.value


@pytest.fixture
def three_steps(test_latents):
    """Three steps, of which two have scores of two seeds, made by hand."""
    noise = np.random.default_rng(0).normal(size=(5, 6))
    raw = fitted("raw", test_latents, WANTED + noise[0])
    mlp = fitted("mlp", test_latents, WANTED + noise[1], WANTED + noise[2])
    siamese = fitted("siamese", test_latents, WANTED + noise[3], WANTED + noise[4])
    return [raw, mlp, siamese]


def test_every_seed_has_its_own_correlations(three_steps):
    found = step_scores("m", three_steps, WANTED, GROUPED)
    for step, score in zip(three_steps, found, strict=True):
        assert score.pearsons == pytest.approx([pearson(one, WANTED) for one in step.given])
        assert score.spearmans == tuple(spearman_estimate(one, WANTED).value for one in step.given)
        assert len(set(score.pearsons)) == len(set(score.spearmans)) == len(step.given)


def test_a_gain_is_over_the_step_before_and_not_over_the_first(three_steps):
    found = step_scores("m", three_steps, WANTED, GROUPED)
    values = [score.pearson.value for score in found]
    assert found[1].gain.value == pytest.approx(values[1] - values[0])
    assert found[2].gain.value == pytest.approx(values[2] - values[1])
    assert values[0] != values[1]


def test_intervals_take_pairs_that_hang_together_for_one(three_steps):
    groups = np.array([0, 0, 1, 2, 3, 4])
    _, score, _ = step_scores("m", three_steps, WANTED, GROUPED._replace(groups=groups))
    before, given = three_steps[0].given[0], three_steps[1].given[0]
    assert score.pearson == pearson_estimate(given, WANTED, groups)
    assert score.spearman == spearman_estimate(given, WANTED, groups)
    assert score.error == mean_error_estimate(given, WANTED, groups=groups, low=0.0, high=5.0)
    assert score.gain == pearson_difference(given, before, WANTED, groups)
    assert score.pearson != pearson_estimate(given, WANTED)


def test_unseen_pairs_are_judged_by_themselves(three_steps):
    unseen = np.array([True, True, True, False, True, True])
    _, score, _ = step_scores("m", three_steps, WANTED, LeakageGroups(GROUPS, unseen))
    given = three_steps[1].given[0]
    assert score.unseen == pearson_estimate(given[unseen], WANTED[unseen], GROUPS[unseen])
    assert score.unseen.n == 5
    assert score.unseen.value != score.pearson.value


@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        (None, "the training pairs of a saved probe are unknown"),
        (np.zeros(6, dtype=np.bool_), "every test pair shares a sentence with the other pairs"),
    ],
)
def test_without_unseen_pairs_there_is_a_reason(three_steps, unseen, reason):
    found = step_scores("m", three_steps, WANTED, LeakageGroups(GROUPS, unseen))
    assert {score.unseen for score in found} == {Undefined(reason=reason, n=0)}


def test_a_constant_step_has_no_correlation_and_says_why(test_latents):
    (score,) = step_scores("m", [fitted("raw", test_latents, np.ones(6), WANTED)], WANTED, GROUPED)
    assert score.pearson == Undefined(reason="one side is constant", n=6)
    # The seed without a correlation keeps its place.
    assert score.pearsons == score.spearmans == (None, pytest.approx(1))
    assert score.error.value == pytest.approx(np.abs(WANTED - 1).mean())


def test_layers_are_those_of_the_curves(test_latents):
    probe = fitted("siamese", test_latents).probe
    found = layer_scores("m", probe, test_latents, GROUPS)
    assert [one.raw for one in found] == [
        one.pearson for one in layer_curve(*test_latents, groups=GROUPS)
    ]
    encoded = layer_curve(*test_latents, probe=probe, groups=GROUPS)
    assert [one.encoded for one in found] == [one.pearson for one in encoded]
    lost = leave_one_layer_out(probe, *test_latents, groups=GROUPS)
    assert [one.lost for one in found] == [one.lost for one in lost]
    assert [one.layer for one in found] == [0, 1, 2]


def test_a_step_without_encodings_has_none_and_one_layer_cannot_be_lost(test_latents):
    probe = fitted("raw", test_latents).probe
    assert all(one.encoded is None for one in layer_scores("m", probe, test_latents, GROUPS))
    alone = PairLatents(test_latents.first[:, :1], test_latents.second[:, :1], WANTED)
    (only,) = layer_scores("m", fitted("mlp", alone).probe, alone, GROUPS)
    assert (only.layer, only.lost) == (0, None)


def test_the_worst_pairs_come_first_and_equals_in_their_order():
    given = WANTED + np.array([0, -2, 1, 3, 1, -1])
    found = misjudged_pairs("m", PAIRS, given)
    assert [one.id for one in found] == ["3", "1", "2", "4", "5", "0"]
    assert (found[0].wanted, found[0].given, found[0].first) == (3.0, 6.0, "ann was in paris")
    assert len(misjudged_pairs("m", PAIRS * 3, np.tile(given, 3))) == 10


def test_all_that_is_found_of_a_model_stands_together(model, test_latents):
    steps = [fitted("raw", test_latents), fitted("mlp", test_latents)]
    found = judge_model(model, steps, PAIRS, GROUPED)
    assert found.model == model.record()
    assert [score.step for score in found.scores] == ["raw", "mlp"]
    assert found.given is steps[-1].given[0]
    assert len(found.layers) == 3
    assert len(found.misjudged) == 6
