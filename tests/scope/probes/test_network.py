import math

import pytest

from scope.models.torch_setup import load_torch
from scope.probes.network import (
    HEAD,
    dissimilarity,
    encode,
    head_size,
    layer_distances,
    starting_head,
)


def head(**changed):
    torch = load_torch()
    start = starting_head(2, 3, torch.Generator().manual_seed(0))
    return start | {name: torch.tensor(value) for name, value in changed.items()}


def test_the_size_of_a_head_is_that_of_its_tensors():
    assert sum(tensor.numel() for tensor in head().values()) == head_size(2, 3)
    assert tuple(head()) == HEAD


def test_encodings_have_length_1_and_bend_only_if_told():
    torch = load_torch()
    inputs = torch.tensor([[[3.0, 4.0]], [[0.0, -2.0]]])
    parameters = {
        "encoders": torch.eye(2).repeat(2, 1, 1),
        "offsets": torch.zeros(2, 1, 2),
    }
    straight = encode(inputs, parameters, nonlinear=False)
    assert straight.flatten().tolist() == pytest.approx([0.6, 0.8, 0.0, -1.0])
    bent = encode(inputs, parameters, nonlinear=True)
    size = math.hypot(math.tanh(3), math.tanh(4))
    assert bent[0, 0].tolist() == pytest.approx([math.tanh(3) / size, math.tanh(4) / size])


def test_distances_are_1_less_the_cosine_and_exactly_0_for_equal_vectors():
    torch = load_torch()
    first = torch.nn.functional.normalize(torch.randn(2, 50, 7), dim=-1)
    second = torch.nn.functional.normalize(torch.randn(2, 50, 7), dim=-1)
    cosines = (first * second).sum(-1).T
    assert torch.allclose(layer_distances(first, second), 1 - cosines, atol=1e-6)
    assert (layer_distances(first, first) == 0).all()


def test_a_head_that_has_learned_nothing_sums_the_distances_with_equal_weights():
    torch = load_torch()
    found = dissimilarity(torch.tensor([[0.5, 0.25], [0.0, 0.0]]), head())
    assert found.tolist() == pytest.approx([1.5 * 0.75, 0.0])
    assert found[1] == 0


def test_the_dissimilarity_is_the_formula_by_hand():
    torch = load_torch()
    parameters = head(
        weights=[0.0, 1.0],
        hidden=[[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]],
        hidden_offsets=[0.0, 0.0, 0.25],
        out=[1.0, -1.0, 2.0],
        out_offset=0.1,
    )
    apart = math.log(2) * 0.5 + math.log1p(math.e) * 0.25
    gate = math.tanh(0.0) - math.tanh(0.5) + 2 * math.tanh(0.25) + 0.1
    found = dissimilarity(torch.tensor([[0.5, 0.25]]), parameters)
    assert found.item() == pytest.approx(apart * math.exp(gate), rel=1e-5)


def test_the_gate_is_held_between_bounds():
    torch = load_torch()
    distances = torch.tensor([[0.5, 0.25]])
    widest = dissimilarity(distances, head(out_offset=100.0)) / dissimilarity(distances, head())
    assert widest.item() == pytest.approx(math.exp(3), rel=1e-5)
