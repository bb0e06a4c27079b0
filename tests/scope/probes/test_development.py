"""What the development pairs decide, and the training pairs do not, where both are given."""

import numpy as np
import pytest
import toy_latents
from toy_latents import SMALL, STEPS

from scope.probes.fitting import calibrate
from scope.probes.probe import SimilarityProbe

TOY = toy_latents.pairs()
TRAIN, DEVELOPMENT = TOY.part(0, 96), TOY.part(96, 160)
AGAINST = DEVELOPMENT._replace(scores=5 - DEVELOPMENT.scores)
"""Pairs whose scores are the opposite of what training teaches: the less of it the better."""


def fitted(step, development, **parameters):
    return SimilarityProbe(step=step, **SMALL | parameters).fit(*TRAIN, development=development)


def arrays(probe):
    return [probe.measure_.arrays[name] for name in sorted(probe.measure_.arrays)]


@pytest.mark.parametrize("step", STEPS)
def test_the_calibration_is_that_of_the_development_pairs(step):
    # Scores of which the lesser half alone is there, unlike those of the training pairs.
    low = DEVELOPMENT._replace(scores=DEVELOPMENT.scores / 2)
    probe = fitted(step, low)
    dissimilarities = probe.measure_.dissimilarity(probe.layer_distances(*low[:2]))
    assert probe.calibration_ == calibrate(dissimilarities, low.scores / 5, 0.0, 1.0)
    given = probe.predict(*low[:2])
    assert abs(given.mean() - low.scores.mean()) < 0.5 < TRAIN.scores.mean() - given.mean()


@pytest.mark.parametrize("step", ["siamese", "autoencoder", "final"])
def test_the_epoch_is_the_best_for_the_development_pairs(step):
    along, against = fitted(step, DEVELOPMENT, epochs=6), fitted(step, AGAINST, epochs=6)
    assert any(
        (one != other).any() for one, other in zip(*map(arrays, (along, against)), strict=True)
    )
    # Opposite scores are followed the better the less was learned.
    assert against.score(*DEVELOPMENT) < along.score(*DEVELOPMENT)


def test_the_penalty_is_the_best_for_the_development_pairs():
    along, against = (fitted("mlp", one).measure_.weighed.weights for one in (DEVELOPMENT, AGAINST))
    assert (along != against).any()


def test_the_layer_is_the_best_for_the_development_pairs():
    along, against = (fitted("raw", one).measure_ for one in (DEVELOPMENT, AGAINST))
    np.testing.assert_allclose(along.correlations, -against.correlations)
    assert along.layer != against.layer
