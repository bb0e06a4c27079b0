"""What a run on larger models does not show: maps of layers, one layer, pairs that are all seen."""

import numpy as np
import pytest

from scope.jobs.probe.estimator import SimilarityProbe, align_layers
from scope.jobs.probe.pairs import LeakageGroups, sentences_of
from scope.jobs.probe.steps import (
    FittedStep,
    PairLatents,
    alignments,
    judge_model,
    latents_of,
    layer_scores,
)
from scope.records import ScoredPair

SENTENCES = tuple(
    f"{first} {number} saw bob in {number % 5}"
    for number, first in enumerate(("the", "a", "who", "ann", "bob", "paris") * 5)
)
FIFTEEN = tuple(
    ScoredPair(id=first, first=first, second=second, score=float(place % 5))
    for place, (first, second) in enumerate(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
)


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


@pytest.fixture
def model(bags):
    return bags(sentences_of(FIFTEEN))


def fitted(step, latents):
    probe = SimilarityProbe(step=step, hidden=1, epochs=1).fit(*latents)
    return FittedStep(probe=probe, given=(probe.predict(*latents[:2]),))


def test_where_every_pair_is_seen_nothing_is_told_of_unseen_ones(model):
    steps = [fitted("mlp", latents_of(model.table, FIFTEEN))]
    leakage = LeakageGroups(np.arange(15), np.zeros(15, dtype=np.bool_))
    (score,) = judge_model(model, steps, FIFTEEN, leakage).scores
    assert score.unseen.reason == "every test pair shares a sentence with the other pairs"


def test_of_a_single_layer_nothing_is_lost(model):
    latents = latents_of(model.table, FIFTEEN)
    alone = PairLatents(latents.first[:, :1], latents.second[:, :1], latents.scores)
    (layer,) = layer_scores("m", [fitted("mlp", alone)], alone, np.arange(15))
    assert (layer.layer, layer.encoded, layer.lost) == (0, None, None)
