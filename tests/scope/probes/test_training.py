from dataclasses import replace

import pytest

from scope.models.torch_setup import load_torch
from scope.probes.network import starting_head
from scope.probes.recipes import RECIPES
from scope.probes.training import Pairs, Schedule, _kept, train


def trained(judge, *, epochs=5, patience=2, **changes):
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    start = {
        "encoders": torch.randn(3, 4, 2, generator=generator),
        "offsets": torch.zeros(3, 1, 2),
        **starting_head(3, 2, generator),
    }
    sides = torch.randn(2, 3, 20, 4, generator=generator)
    pairs = Pairs(sides[0], sides[1], torch.rand(20, generator=generator) * 5)
    recipe = replace(RECIPES["final"], **changes)
    schedule = Schedule(epochs, 8, patience)
    found = train(start, pairs, recipe, schedule, judge=judge, generator=generator)
    return start, found


def judge_of(values, seen):
    def judge(parameters):
        seen.append(parameters)
        return values[len(seen) - 1]

    return judge


@pytest.mark.parametrize(
    ("values", "epochs", "best"),
    [([1, 2, 3, 4, 5], 5, 4), ([1, 3, 2, 2, 9], 4, 1), ([5, 5, 5, 9, 9], 3, 0)],
)
def test_the_best_epoch_is_kept_and_two_without_a_gain_end_it(values, epochs, best):
    seen = []
    _, found = trained(judge_of(values, seen))
    assert len(seen) == epochs
    assert all((found[name] == seen[best][name]).all() for name in found)


def test_no_epoch_of_any_worth_leaves_the_start():
    start, found = trained(lambda _: float("-inf"))
    assert all((found[name] == start[name]).all() for name in start)


def test_every_epoch_moves_encoders_and_head_but_no_offset_of_a_linear_encoder():
    seen = []
    start, _ = trained(judge_of([1], seen), epochs=1)
    moved = {name for name in start if (seen[0][name] != start[name]).any()}
    assert moved >= {"encoders", "weights", "out", "out_offset"}
    assert "offsets" not in moved


@pytest.mark.parametrize("name", ["dropout", "layer_dropout"])
def test_inputs_and_layers_are_dropped_in_training(name):
    """What is drawn is drawn at any rate, so that nothing but the dropping can differ."""
    without = {"dropout": 0.0, "layer_dropout": 0.0}
    _, whole = trained(judge_of([1], []), epochs=1, **without)
    _, same = trained(judge_of([1], []), epochs=1, **without)
    _, dropped = trained(judge_of([1], []), epochs=1, **without | {name: 0.5})
    assert all((whole[one] == same[one]).all() for one in whole)
    assert (whole["encoders"] != dropped["encoders"]).any()


def test_the_share_that_is_dropped_is_made_up_for():
    kept = _kept((200, 200), 0.25, load_torch().Generator().manual_seed(0))
    assert sorted(set(kept.flatten().tolist())) == pytest.approx([0, 4 / 3])
    assert (kept == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("name", ["loss", "rate"])
def test_the_recipes_loss_and_rate_are_those_of_the_training(name):
    other = {"loss": "squared", "rate": 0.02}[name]
    found = [trained(judge_of([1], []), epochs=1, **one)[1] for one in ({}, {name: other})]
    assert (found[0]["encoders"] != found[1]["encoders"]).any()
