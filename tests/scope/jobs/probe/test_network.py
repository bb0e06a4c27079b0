import math

import pytest

from scope.jobs.probe.network import (
    dissimilarity,
)
from scope.models.torch_setup import load_torch


def test_the_dissimilarity_is_the_formula_by_hand():
    numbers = {
        "weights": [0.0, 1.0],
        "hidden": [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]],
        "hidden_offsets": [0.0, 0.0, 0.25],
        "out": [1.0, -1.0, 2.0],
        "out_offset": 0.1,
    }
    torch = load_torch()
    parameters = {name: torch.tensor(value) for name, value in numbers.items()}
    apart = math.log(2) * 0.5 + math.log1p(math.e) * 0.25
    gate = math.tanh(0.0) - math.tanh(0.5) + 2 * math.tanh(0.25) + 0.1
    found = dissimilarity(torch.tensor([[0.5, 0.25]]), parameters)
    assert found.item() == pytest.approx(apart * math.exp(gate), rel=1e-5)


@pytest.mark.parametrize(("kept", "logit"), [(None, 0.75), ([0.0, 1.0], 0.0)])
def test_a_head_without_hidden_units_is_a_sigmoid_on_the_weighted_cosines(kept, logit):
    torch = load_torch()
    plain = {"weights": torch.tensor([1.0, -2.0]), "out_offset": torch.tensor(0.5)}
    # Cosines .75 and .25: 1 * .75 - 2 * .25 + .5 = .75; of the second layer alone 0.
    left = [] if kept is None else [torch.tensor(kept)]
    similarity = (-dissimilarity(torch.tensor([[0.25, 0.75]]), plain, *left)).exp()
    assert similarity.item() == pytest.approx(1 / (1 + math.exp(-logit)))
