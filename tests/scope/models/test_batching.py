"""Products and activations are exchanged while a model computes, and put back."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from breaking_models import inference_of, model_of
from hypothesis import given, strategies as st

from scope.models.inference import Inference, RowRule, batches_of_equal_length
from scope.models.torch_setup import load_torch

lengths = st.lists(st.integers(min_value=0, max_value=12), max_size=60)
budgets = st.integers(min_value=1, max_value=40)


@given(lengths, budgets)
def test_batches_hold_texts_as_long_as_each_other_within_the_budget_longest_first(lengths, budget):
    batches = list(batches_of_equal_length(lengths, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[index] for index in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
    drawn = [lengths[batch[0]] for batch in batches]
    assert drawn == sorted(drawn, reverse=True)
    for before, batch in itertools.pairwise(batches):
        # Only the last batch of a length has room.
        if lengths[before[0]] == lengths[batch[0]]:
            assert (len(before) + 1) * max(1, lengths[before[0]]) > budget


torch = load_torch()


@pytest.mark.parametrize(
    ("shape", "seen"),
    [((2, 8), (4, 8)), ((1, 3, 8), (4, 8)), ((2, 3, 8), (2, 3, 8)), ((4, 8),) * 2],
)
def test_a_product_is_filled_up_with_its_last_row_and_cut_again(shape, seen, monkeypatch):
    found = inference_of(lambda rows: 0 < rows < 4)
    given = torch.randint(-8, 8, shape).float()
    whole = torch.cat([given.reshape(-1, 8), torch.ones(5, 8)])
    head, rows = found._model.head, []
    # Whole numbers, of which every order has the same sum.
    head.weight.data.mul_(8).round_()
    head.bias.data.round_()
    expected = head(whole)[: len(whole) - 5].reshape(*shape[:-1], 3)
    plain = type(head).forward
    monkeypatch.setattr(
        type(head), "forward", lambda head, input: rows.append(input) or plain(head, input)
    )
    # By the name that torch gives its argument.
    assert found.run(lambda input: head(input=input), input=given).equal(expected)
    assert rows[-1].shape == seen
    last = given.reshape(-1, 8)[-1]
    assert all(row.equal(last) for row in rows[-1].reshape(-1, 8)[given.numel() // 8 :])


def test_products_compute_as_before_once_the_last_thread_has_left():
    """What others have put in the place of a product's ``forward`` is padded and put back."""
    model = model_of(lambda rows: 0 < rows < 4)
    # The same model, as two adapters run it.
    found, other = Inference(model, model), Inference(model, model)
    head, rows, entered, leave = model.head, [], Event(), Event()

    def of_others(input):
        rows.append(len(input))
        return type(head).forward(head, input)

    def late(input):
        entered.set()
        assert leave.wait(60)
        return head(input)

    assert found.rule == other.rule == RowRule(least=4)
    head.forward = of_others
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(found.run, late, input=torch.ones(1, 8))
        assert entered.wait(60)
        other.run(head, input=torch.ones(2, 8))
        assert head.forward is not of_others
        leave.set()
        waiting.result()
    assert rows == [4, 4]
    assert head.forward is of_others
    del head.forward
    with pytest.raises(ZeroDivisionError):
        found.run(lambda input: 1 / 0, input=torch.ones(1, 8))
    assert "forward" not in vars(head)


def test_an_activation_that_threads_would_share_unevenly_is_computed_by_one(monkeypatch, threads):
    """Where their shares meet, some processors round otherwise than in the middle."""
    monkeypatch.setattr("scope.models.torch_setup.waiting_threads_sleep", lambda: True)

    class Watched(torch.nn.SiLU):
        def forward(self, input):
            counts.append(torch.get_num_threads())
            return super().forward(input)

    Watched.__module__ = torch.nn.SiLU.__module__
    model, counts = model_of(lambda rows: False), []
    model.activation = Watched()
    found = Inference(model, model)
    threads(3)
    for size in (2**14 - 1, 2**14, 2**15, 19_200, 3 * 2**15, 3 * 2**15 + 64):
        found.run(model.activation, input=torch.ones(size))
    assert torch.get_num_threads() == 3
    assert counts == [3, 1, 1, 1, 3, 1]


@pytest.mark.bits
@pytest.mark.parametrize("activation", [torch.nn.SiLU(), torch.nn.GELU(approximate="tanh")])
@pytest.mark.parametrize("count", [2, 3])
def test_even_shares_of_threads_have_the_bits_of_one_thread(activation, count, threads):
    generator = torch.Generator().manual_seed(0)
    for multiple in (512 * count, 512 * count + 1, 900 * count + 7):
        given = torch.randn(64 * count * multiple, generator=generator)
        threads(1)
        alone = activation(given)
        threads(count)
        assert torch.equal(activation(given), alone)
