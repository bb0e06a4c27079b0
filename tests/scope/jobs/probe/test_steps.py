"""Steps are fitted, scored and compared as a user of the library would do it by hand."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_pairs import made_up_rows
from toy_readers import Bags

from scope.jobs.probe.correlations import (
    pearson,
    pearson_difference,
    pearson_estimate,
    spearman_difference,
    spearman_estimate,
)
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.layers import align_layers, layer_curve, leave_one_layer_out
from scope.jobs.probe.network import PRETRAINED, STEPS
from scope.jobs.probe.pairs import GivenPairs, LeakageGroups, sentences_of
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.steps import (
    FittedStep,
    PairLatents,
    ablate,
    alignments,
    fit_steps,
    judge_model,
    latents_of,
    layer_scores,
    misjudged_pairs,
)
from scope.progress import Silent
from scope.records import ScoredPair
from scope.statistics import mean_estimate

POOL = ("the good film", "paris in a film", "who saw bob", "a dull a dull", "ann was in paris")


def scored_pairs(rows):
    return tuple(
        ScoredPair(id=str(place), first=first, second=second, score=score)
        for place, (first, second, score) in enumerate(rows)
    )


def plan(seeds=2, ablate=None):
    request = ProbeRequest(
        models=["python:toy_readers:Bags"],
        data="x",
        steps=STEPS,
        seeds=seeds,
        seed=5,
        hidden=2,
        ablate=ablate,
    )
    train, development, test = (
        scored_pairs(made_up_rows(count, seed)) for seed, count in enumerate((60, 20, 20))
    )
    pairs = GivenPairs(train=train, development=development, test=test, cards=())
    ends = SimpleNamespace(ends=(0.0, 5.0))
    return SimpleNamespace(request=request, pairs=pairs, unlabelled=POOL, chosen=ends)


@pytest.fixture
def table(bags):
    return bags((*plan().pairs.sentences, *POOL)).table


def test_every_step_and_seed_is_the_probe_fitted_by_hand_and_counted(table):
    pairs = plan().pairs
    train, development, test = (
        latents_of(table, part) for part in (pairs.train, pairs.development, pairs.test)
    )
    np.testing.assert_array_equal(test.second, Bags().latents([pair.second for pair in pairs.test]))
    assert test.scores.tolist() == [pair.score for pair in pairs.test]
    counted = []

    class Counting:
        def task(self, description, total, done=0):
            counted.append(total)
            return nullcontext(lambda units=1: counted.append(units))

    fitted = fit_steps(plan(), table, Counting())
    # Six steps, four of them with two seeds; autoencoders are pretrained for each seed.
    assert counted[0] == sum(counted[1:]) == 15
    assert tuple(step.probe.step for step in fitted) == STEPS
    assert [len(step.given) for step in fitted] == [1, 1, 2, 2, 2, 2]
    for step in fitted:
        for number, scores in enumerate(step.given):
            by_hand = SimilarityProbe(step=step.probe.step, seed=5 + number, hidden=2)
            # An autoencoder depends on the seed as well.
            if step.probe.step in PRETRAINED:
                by_hand.pretrain(table.rows([*dict.fromkeys((*POOL, *sentences_of(pairs.train)))]))
            by_hand.fit(*train, development=development)
            np.testing.assert_array_equal(scores, by_hand.predict(test.first, test.second))
        # The probe that is kept is that of the first seed.
        np.testing.assert_array_equal(step.probe.predict(test.first, test.second), step.given[0])
        assert step.probe.seed == 5
    assert not np.array_equal(*fitted[-1].given)


PAIRS = scored_pairs(
    [
        ("the good film", "a good film", 4.0),
        ("who saw bob", "bob saw who", 5.0),
        ("paris", "the dull film", 0.0),
        ("ann was in paris", "bob was in paris", 3.0),
        ("a dull film", "the good film", 2.0),
        ("in paris", "in a", 1.0),
    ]
)
WANTED = np.array([pair.score for pair in PAIRS])
ALONE = np.arange(6)
GROUPS = np.array([0, 0, 1, 2, 3, 4])
EACH_ALONE = LeakageGroups(ALONE, np.ones(6, dtype=np.bool_))


@pytest.fixture
def model(bags):
    return bags(sentences_of(PAIRS))


@pytest.fixture
def latents(model):
    return latents_of(model.table, PAIRS)


def fitted_step(step, latents, *given):
    probe = SimilarityProbe(step=step, hidden=1, epochs=1).fit(
        *(np.concatenate([part] * 3) for part in latents)
    )
    return FittedStep(probe=probe, given=given or (probe.predict(*latents[:2]),))


@pytest.fixture
def scores_of(model):
    """The scores of steps, by their leakage groups."""
    return lambda steps, leakage=EACH_ALONE: judge_model(model, steps, PAIRS, leakage).scores


@pytest.fixture
def three_steps(latents):
    """Three steps, of which two have scores of two seeds."""
    noise = np.random.default_rng(0).normal(size=(5, 6))
    return [
        fitted_step("raw", latents, WANTED + noise[0]),
        fitted_step("mlp", latents, WANTED + noise[1], WANTED + noise[2]),
        fitted_step("siamese", latents, WANTED + noise[3], WANTED + noise[4]),
    ]


def test_the_worst_pairs_come_first_and_equals_in_their_order():
    scores = WANTED + np.array([0, -2, 1, 3, 1, -1])
    worst = misjudged_pairs("m", PAIRS, scores)
    assert [pair.id for pair in worst] == ["3", "1", "2", "4", "5", "0"]
    assert (worst[0].wanted, worst[0].given, worst[0].first) == (3.0, 6.0, "ann was in paris")
    assert len(misjudged_pairs("m", PAIRS * 3, np.tile(scores, 3))) == 10


SENTENCES = tuple(
    f"{first} {number} saw bob in {number % 5}"
    for number, first in enumerate(("the", "a", "who", "ann", "bob", "paris") * 5)
)
FIFTEEN = scored_pairs(zip(SENTENCES[::2], SENTENCES[1::2], [1.0] * 15, strict=True))


def test_a_map_is_that_of_the_sentences_in_groups_of_their_pairs(bags, other):
    models = [bags(SENTENCES), other(SENTENCES)]
    (alignment,), notes = alignments(models, FIFTEEN, seed=4)
    rows = [model.table.rows(SENTENCES) for model in models]
    expected = align_layers(*rows, seed=4, groups=np.arange(30) // 2)
    assert (alignment.first, alignment.second, alignment.sentences) == ("bags", "other", 30)
    np.testing.assert_array_equal(alignment.values, expected.values)
    np.testing.assert_array_equal(alignment.margins, expected.margins)
    assert alignment.chance == expected.chance
    assert notes == ()


def test_too_few_sentences_give_a_note_instead_of_a_map(bags, other):
    maps, notes = alignments([bags(SENTENCES), other(SENTENCES)], FIFTEEN[:4], seed=0)
    assert maps == ()
    assert notes == ("no CKA map of bags and other: 4 groups of sentences",)


def test_a_step_has_the_numbers_of_its_scores_with_pairs_in_groups(three_steps, scores_of):
    unseen = np.array([True, True, True, False, True, True])
    first, score, third = scores_of(three_steps, LeakageGroups(GROUPS, unseen))
    before, (given, of_other_seed) = three_steps[0].given[0], three_steps[1].given
    assert (score.step, score.parameters) == ("mlp", 3 + 1)
    assert score.pearson == pearson_estimate(given, WANTED, GROUPS)
    assert score.spearman == spearman_estimate(given, WANTED, GROUPS)
    assert score.unseen == pearson_estimate(given[unseen], WANTED[unseen], GROUPS[unseen])
    assert score.error == replace(
        mean_estimate(np.abs(given - WANTED), list("aabcde"), high=5), n=6
    )
    assert score.pearsons == pytest.approx((pearson(given, WANTED), pearson(of_other_seed, WANTED)))
    # A gain is over the step before.
    assert first.gain is None
    assert score.gain == pearson_difference(given, before, WANTED, GROUPS)
    assert third.gain == pearson_difference(three_steps[2].given[0], given, WANTED, GROUPS)
    score, *_ = scores_of(three_steps, LeakageGroups(GROUPS, np.zeros(6, dtype=np.bool_)))
    assert score.unseen.reason == "every test pair shares a sentence with the other pairs"


def test_layers_are_those_of_the_curves(latents):
    step = fitted_step("siamese", latents)
    layers = layer_scores("m", [step], latents, GROUPS)
    assert [layer.layer for layer in layers] == [0, 1, 2]
    assert tuple(layer.raw for layer in layers) == layer_curve(*latents, groups=GROUPS)
    encoded = layer_curve(*latents, probe=step.probe, groups=GROUPS)
    assert tuple(layer.encoded for layer in layers) == encoded
    lost = leave_one_layer_out(step.probe, *latents, groups=GROUPS)
    assert tuple(layer.lost for layer in layers) == lost
    alone = PairLatents(latents.first[:, :1], latents.second[:, :1], WANTED)
    (only,) = layer_scores("m", [fitted_step("mlp", alone)], alone, GROUPS)
    assert (only.layer, only.encoded, only.lost) == (0, None, None)


@pytest.mark.parametrize("step", ["raw", "mlp", "final"])
def test_without_a_block_of_layers_the_probe_is_the_one_fitted_by_hand_on_the_others(bags, step):
    asked = plan(ablate=2)
    model = bags((*asked.pairs.sentences, *POOL))
    parts = (asked.pairs.train, asked.pairs.development, asked.pairs.test)
    train, development, test = (latents_of(model.table, part) for part in parts)
    pool, groups = model.table.rows(POOL), np.arange(20) // 2
    whole = SimilarityProbe(step=step, seed=5, hidden=2)
    if step == "final":
        whole.pretrain(pool)
    whole.fit(*train, development=development)
    scores = whole.predict(*test[:2])
    ablations = list(ablate(asked, model, FittedStep(whole, (scores,)), groups, Silent()))
    assert [(each.first, each.last, each.step) for each in ablations] == [
        (0, 1, step),
        (2, 2, step),
    ]
    for each, kept in zip(ablations, ([2], [0, 1]), strict=True):
        by_hand = SimilarityProbe(step=step, seed=5, hidden=2)
        if step == "final":
            by_hand.pretrain(pool[:, kept])
        by_hand.fit(*train.of_layers(kept), development=development.of_layers(kept))
        rest = by_hand.predict(*test.of_layers(kept)[:2])
        assert each.pearson == pearson_difference(scores, rest, test.scores, groups)
        assert each.spearman == spearman_difference(scores, rest, test.scores, groups)
