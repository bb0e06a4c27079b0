import numpy as np
import pytest
import tiny_zoo
import torch
from zoo.altering import add_noise, keep_layers, prune_magnitudes, round_to_int8, weight_matrices


@pytest.fixture(params=["llama", "bert"])
def model(request):
    return tiny_zoo.BASES[request.param](["so good", "so dull"], None, 0).model


def copies(model):
    return {name: weights.clone() for name, weights in weight_matrices(model)}


def everything_else(model):
    inside = {f"{name}.weight" for name, _ in weight_matrices(model)}
    return {
        name: tensor.clone() for name, tensor in model.state_dict().items() if name not in inside
    }


class Pair(torch.nn.Module):
    """One linear layer with known weights."""

    def __init__(self, rows):
        super().__init__()
        self.linear = torch.nn.Linear(len(rows[0]), len(rows))
        self.linear.weight.data = torch.tensor(rows)


def test_weight_matrices_are_those_of_all_linear_layers_and_no_embeddings(model):
    names = [name for name, _ in weight_matrices(model)]
    assert any("embed" in name for name in model.state_dict())
    assert not any("embed" in name for name in names)
    assert any(name in ("score", "classifier") for name in names)


def test_int8_by_hand():
    pair = Pair([[127.0, -50.4, 0.6], [0.0, 0.0, 0.0], [-2.54, 1.27, 0.015]])
    round_to_int8(pair)
    expected = [[127.0, -50.0, 1.0], [0.0, 0.0, 0.0], [-2.54, 1.28, 0.02]]
    torch.testing.assert_close(pair.linear.weight.data, torch.tensor(expected))


def test_int8_leaves_255_steps_a_row_and_moves_no_weight_by_more_than_half_a_step(model):
    before, rest = copies(model), everything_else(model)
    round_to_int8(model)
    for name, weights in weight_matrices(model):
        step = before[name].abs().amax(dim=1, keepdim=True) / 127
        steps = weights / step
        torch.testing.assert_close(steps, steps.round(), atol=1e-4, rtol=0)
        assert ((weights - before[name]).abs() <= step * 0.5001).all()
    assert all(torch.equal(tensor, rest[name]) for name, tensor in everything_else(model).items())


def test_pruning_sets_the_smallest_share_of_each_matrix_to_zero_and_nothing_else(model):
    before, rest = copies(model), everything_else(model)
    prune_magnitudes(model, 0.4)
    for name, weights in weight_matrices(model):
        gone = weights == 0
        assert gone.sum() == round(0.4 * weights.numel())
        assert before[name][gone].abs().max() <= before[name][~gone].abs().min()
        assert torch.equal(weights[~gone], before[name][~gone])
    assert all(torch.equal(tensor, rest[name]) for name, tensor in everything_else(model).items())


def test_noise_has_the_size_that_was_asked_for_and_the_seed_decides_it():
    matrix = torch.randn(200, 300, generator=torch.Generator().manual_seed(0)) * 3
    noises = []
    for seed in (1, 1, 2):
        pair = Pair(matrix.tolist())
        add_noise(pair, 0.1, seed)
        noises.append((pair.linear.weight.data - matrix).numpy())
    assert noises[0].std() == pytest.approx(0.1 * matrix.std().item(), rel=0.02)
    # Six standard errors of the mean of 60,000 numbers.
    assert abs(noises[0].mean()) < 6 * 0.3 / np.sqrt(60_000)
    assert (noises[0] == noises[1]).all()
    assert abs(np.corrcoef(noises[0].ravel(), noises[2].ravel())[0, 1]) < 0.05


def test_kept_layers_stay_in_order_and_answer_as_if_the_others_were_passed_over():
    model, tokens = tiny_zoo.tiny_llama([], None, 0).model, torch.tensor([[3, 4, 5, 2]])
    passed_over = model.base_model.layers[1]
    # A layer that adds nothing to its input is one that might as well not be there.
    for part in (passed_over.self_attn.o_proj, passed_over.mlp.down_proj):
        part.weight.data.zero_()
    whole = model.eval()(input_ids=tokens).logits
    keep_layers(model, (0, 2))
    torch.testing.assert_close(model(input_ids=tokens).logits, whole)
    assert [layer.self_attn.layer_idx for layer in model.base_model.layers] == [0, 1]
    assert model.config.num_hidden_layers == 2
