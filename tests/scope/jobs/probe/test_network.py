import math
from dataclasses import replace

import pytest

from scope.jobs.probe.network import RECIPES, dissimilarity, starting_head, train
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


@pytest.mark.parametrize(
    ("values", "epochs", "best"),
    [([1, 2, 3, 4, 5], 5, 4), ([1, 3, 2, 2, 9], 4, 1), ([5, 5, 5, 9, 9], 3, 0)],
)
def test_the_best_epoch_is_kept_and_two_without_a_gain_end_it(values, epochs, best):
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    start = {"encoders": torch.randn(3, 4, 2, generator=generator)}
    start |= starting_head(3, 2, generator)
    sides = torch.randn(2, 3, 20, 4, generator=generator)
    scores = torch.rand(20, generator=generator) * 5
    recipe = replace(RECIPES["siamese"], epochs=5, batch=8, patience=2)
    seen = []

    def judge(parameters):
        seen.append(parameters)
        return values[len(seen) - 1]

    kept = train(start, tuple(sides), scores, recipe, judge, generator)
    assert len(seen) == epochs
    assert all((kept[name] == seen[best][name]).all() for name in kept)
