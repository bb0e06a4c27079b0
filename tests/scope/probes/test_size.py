import pytest
import toy_latents
from sklearn.exceptions import NotFittedError
from toy_latents import SMALL

from scope.probes.probe import SimilarityProbe
from scope.probes.size import trained_parameters

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
