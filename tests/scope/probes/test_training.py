import pytest

from scope.models.torch_setup import load_torch
from scope.probes.network import starting_head
from scope.probes.recipes import RECIPES
from scope.probes.training import Pairs, Schedule, train


def trained(judge, *, epochs=5, patience=2):
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    start = {
        "encoders": torch.randn(3, 4, 2, generator=generator),
        "offsets": torch.zeros(3, 1, 2),
        **starting_head(3, 2, generator),
    }
    sides = torch.randn(2, 3, 20, 4, generator=generator)
    pairs = Pairs(sides[0], sides[1], torch.rand(20, generator=generator) * 5)
    schedule = Schedule(epochs, 8, patience)
    found = train(start, pairs, RECIPES["final"], schedule, judge=judge, generator=generator)
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
