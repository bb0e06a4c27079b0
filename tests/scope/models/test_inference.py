"""The rule by which batches are filled up is found by measurement, and every call obeys it."""

import itertools
from types import SimpleNamespace

import pytest

from scope.models.inference import AS_GIVEN, Inference, RowRule
from scope.models.torch_setup import load_torch

torch = load_torch()


def model_of(breaks, *, in_product=True):
    """A model that gives other bits where ``breaks`` says so of the number of its rows."""

    def off(rows):
        return 0.5 if breaks(rows) else 0.0

    class Linear(torch.nn.Linear):
        def forward(self, given):
            return super().forward(given).round(decimals=3) + off(len(given) * in_product)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = torch.nn.Embedding(30, 8), Linear(8, 3)
            self.config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(eos_token_id=2))

        def get_input_embeddings(self):
            return self.table

        def forward(self, tokens):
            found = self.head(self.table(tokens).mean(dim=1))
            return found + off(len(tokens)) * (not in_product)

    return Model().eval()


def inference_of(breaks, **options):
    model = model_of(breaks, **options)
    return Inference(model, model)


@pytest.mark.parametrize("in_product", [True, False])
@pytest.mark.parametrize(
    ("breaks", "rule"),
    [
        (lambda rows: False, AS_GIVEN),
        (lambda rows: 0 < rows < 2, RowRule(least=2)),
        (lambda rows: 0 < rows < 4, RowRule(least=4)),
        (lambda rows: rows % 8 != 0, RowRule(least=8, multiple=8)),
    ],
)
def test_the_first_rule_that_holds_is_found(breaks, rule, in_product):
    """Whether a product breaks the others, or what the model does besides."""
    assert inference_of(breaks, in_product=in_product).rule == rule


def test_where_several_threads_break_every_rule_one_thread_computes(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = inference_of(lambda rows: torch.get_num_threads() > 1 and 0 < rows < 300)
        assert found.rule == RowRule(one_thread=True)
        seen = found.run(lambda rows: (torch.get_num_threads(), rows), rows=torch.ones(2, 1))[0]
        assert (seen, torch.get_num_threads()) == (1, 2)
    finally:
        torch.set_num_threads(before)


def test_where_no_rule_holds_six_decimals_are_promised_and_batches_left_as_they_are():
    found = inference_of(lambda rows: 0 < rows < 300)
    assert found.rule is None
    assert found.reproducible == "to six decimals"
    assert found.run(lambda texts: (len(texts),), texts=["a"]) == (1,)


def test_rows_are_filled_up_with_the_last_and_cut_again():
    found = inference_of(lambda rows: 0 < rows < 4)
    seen = {}

    def compute(tokens, texts):
        seen.update(tokens=tokens.tolist(), texts=texts)
        return tokens * 2, {"cache of": len(texts)}

    tokens = torch.tensor([[1, 2], [3, 4]])
    doubled, cache = found.run(compute, tokens=tokens, texts=["a", "b"])
    assert seen == {"tokens": [[1, 2], [3, 4], [3, 4], [3, 4]], "texts": ["a", "b", "b", "b"]}
    assert doubled.tolist() == [[2, 4], [6, 8]]
    assert cache == {"cache of": 4}


def test_a_full_batch_is_passed_on_as_it_is():
    found = inference_of(lambda rows: 0 < rows < 4)
    tokens = torch.ones(5, 1)
    assert found.run(lambda tokens: (id(tokens),), tokens=tokens) == (id(tokens),)


def test_the_trial_reads_tokens_that_every_text_may_hold():
    """Different texts of ordinary tokens, of which each ends as the model's texts end."""
    lengths = set()
    model = model_of(lambda rows: False)

    def trial(tokens):
        lengths.add(tokens.shape[1])
        assert tokens.min() >= 0
        assert tokens.max() < 30
        assert set(tokens[:, -1].tolist()) == {2}
        assert 2 not in tokens[:, :-1]
        return model(tokens)

    assert Inference(model, trial).rule == AS_GIVEN
    assert {1} < lengths


def test_several_tokens_may_end_a_text():
    """As in the configurations of Llama 3.1 and Gemma 3."""
    model = model_of(lambda rows: 0 < rows < 4)
    model.config = SimpleNamespace(
        get_text_config=lambda: SimpleNamespace(eos_token_id=[-1, 2, 3], pad_token_id=None)
    )
    assert Inference(model, model).rule == RowRule(least=4)


def test_lengths_that_a_model_refuses_are_left_out():
    """As CANINE and Funnel refuse texts of few tokens."""
    model = model_of(lambda rows: 0 < rows < 4)

    def picky(tokens, shortest):
        if tokens.shape[1] < shortest:
            raise IndexError("too short")
        return model(tokens)

    assert Inference(model, lambda tokens: picky(tokens, 4)).rule == RowRule(least=4)
    refusing = Inference(model, lambda tokens: picky(tokens, 99))
    assert refusing.reproducible == "to six decimals"


def test_half_precision_states_its_own_rounding():
    model = model_of(lambda rows: 0 < rows < 300).bfloat16()
    assert Inference(model, model).reproducible == "to the rounding of bfloat16"


def test_a_shape_that_is_always_the_same_needs_no_product_to_agree():
    """As in half precision, where the libraries choose their kernel by the shape."""
    model = model_of(lambda rows: rows not in (24, 12, 4))
    found = Inference(model, model, rules=[RowRule(tokens=24)])
    assert found.reproducible == "to the byte, always 24 tokens a batch"
    assert found.run(lambda rows: (len(rows),), rows=torch.ones(1, 6)) == (4,)
    calls = itertools.count()
    restless = model_of(lambda rows: next(calls) % 3)
    found = Inference(restless, restless, rules=[RowRule(tokens=24)])
    assert found.reproducible == "to six decimals"
    assert found.run(lambda rows: (len(rows),), rows=torch.ones(1, 6)) == (4,)
