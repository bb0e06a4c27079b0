"""The oracle of attention is torch's own, one text at a time."""

import random
from types import SimpleNamespace

import pytest

from scope.models.paths import BLOCK, Attention, Remembered, batches_by_beginning
from scope.models.torch_setup import load_torch


def test_a_beginning_has_one_slot_a_token():
    remembered = Remembered(100)
    plan = remembered.plan([[1, 2, 3], [1, 2, 4], [1]], [1, 1, 1])
    assert plan.tokens == [1, 2, 3, 4]
    assert plan.positions == [0, 1, 2, 2]
    assert plan.wanted == [[2], [3], [0]]
    assert len(set(plan.slots)) == 4
    # What is known is read again only where an answer is wanted.
    again = remembered.plan([[1, 2, 3, 5], [1, 2]], [3, 1])
    assert again.tokens == [2, 3, 5]
    assert again.slots[:2] == plan.slots[1:3]
    assert again.wanted == [[0, 1, 2], [0]]


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


def test_what_a_batch_needs_is_kept_where_room_is_made():
    remembered = Remembered(8)
    remembered.plan([[1, 2, 3], [7, 8]], [1, 1])
    plan = remembered.plan([[1, 2, 4, 5, 6, 7]], [1])
    assert plan.tokens == [4, 5, 6, 7]
    assert remembered.plan([[7, 8]], [1]).tokens == [7, 8]


def test_rows_that_begin_alike_stand_in_one_batch():
    rows = [[1, 2, 3], [4, 5, 6], [1, 2, 9], [4, 5, 7]]
    assert list(batches_by_beginning(rows, [0] * 4, 4, 48)) == [[0, 2], [1, 3]]
    assert list(batches_by_beginning(rows, [1] * 4, 5, 48)) == [[0], [2], [1], [3]]
    assert list(batches_by_beginning(rows, [0] * 4, 99, 3)) == [[0, 2, 1], [3]]
    assert list(batches_by_beginning([], [], 4, 48)) == []


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
