"""The oracle of attention is torch's own, one text at a time."""

import random
from types import SimpleNamespace

import pytest

from scope.models.paths import BLOCK, Attention, Remembered
from scope.models.torch_setup import load_torch


def test_no_more_is_kept_than_the_capacity_but_for_a_single_batch():
    chance, remembered = random.Random(0), Remembered(40)
    for _ in range(200):
        rows = [[chance.randrange(3) for _ in range(chance.randrange(1, 15))] for _ in range(3)]
        plan = remembered.plan(rows, [1] * 3)
        distinct = {tuple(row[: end + 1]) for row in rows for end in range(len(row))}
        assert remembered.capacity == 40 >= len(distinct)
        assert max(plan.slots) < remembered.capacity
        assert len(remembered._slots) + len(remembered._free) == 40
    remembered.plan([list(range(90))], [1])
    assert remembered.capacity == 90
    remembered.plan([[5, 6]], [1])
    assert remembered.capacity == 40


HEADS, SHARED, NUMBERS = 2, 3, 8
ROWS = [[*range(BLOCK + 5)], [0, 1, 2, 90, 91], [0, 1, 2, 90], [*range(BLOCK), 92]]


@pytest.mark.parametrize("window", [None, 1, 4])
@pytest.mark.parametrize("asked", [[ROWS], [ROWS[:1], ROWS[1:]], [[row] for row in ROWS[::-1]]])
def test_each_text_sees_itself_alone(window, asked, monkeypatch):
    torch = load_torch()
    monkeypatch.setattr("scope.models.paths.MOST_KEYS", 1)
    model = SimpleNamespace(device="cpu", config=SimpleNamespace(_attn_implementation="sdpa"))
    random = torch.Generator().manual_seed(0)
    queries, keys, values = (
        # Of every token at every place.
        torch.randn(heads, 100, 2 * BLOCK, NUMBERS, generator=random)
        for heads in (HEADS * SHARED, HEADS, HEADS)
    )
    attention, remembered = Attention(), Remembered(100)
    for rows in asked:
        plan = remembered.plan(rows, [1] * len(rows))
        with attention.reading(plan, remembered.capacity, model):
            given = [one[None, :, plan.tokens, plan.positions] for one in (queries, keys, values)]
            seen = attention("layer", *given, 0.3, window)
        assert seen.shape == (1, len(plan.tokens), HEADS * SHARED, NUMBERS)
        for row, (place,) in zip(rows, plan.wanted, strict=True):
            q, k, v = (one[:, row, range(len(row))] for one in (queries, keys, values))
            first = 0 if window is None else max(0, len(row) - window)
            wanted = torch.nn.functional.scaled_dot_product_attention(
                q[:, -1:],
                *(one[:, first:].repeat_interleave(SHARED, 0) for one in (k, v)),
                scale=0.3,
            )
            assert torch.allclose(seen[0, place], wanted[:, 0], atol=1e-6)
    assert model.config._attn_implementation == "sdpa"
    assert attention.windows == {"layer": window}
