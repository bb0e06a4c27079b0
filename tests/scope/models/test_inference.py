"""The rule by which products are padded is found by measurement, and every call obeys it."""

import itertools
from types import SimpleNamespace

import pytest
from breaking_models import inference_of, model_of

from scope.models import inference
from scope.models.inference import AS_GIVEN, NOT_TO_THE_BYTE, Inference, RowRule
from scope.models.torch_setup import load_torch, quiet_transformers

torch = load_torch()


@pytest.mark.parametrize(
    ("breaks", "in_product", "rule"),
    [
        (lambda rows: False, True, AS_GIVEN),
        (lambda rows: 0 < rows < 2, True, RowRule(least=2)),
        (lambda rows: 0 < rows < 4, True, RowRule(least=4)),
        (lambda rows: rows % 8 != 0, True, RowRule(least=8, multiple=8)),
        # What breaks beside the products is found by the model itself.
        (lambda rows: 0 < rows < 4, False, RowRule(least=4, batches=True)),
        # As in the attention of T5, which lays out a single text otherwise.
        (lambda rows: rows == 1, False, RowRule(least=2, texts=2)),
    ],
)
def test_the_first_rule_that_holds_is_found(breaks, in_product, rule):
    found = inference_of(breaks, in_product=in_product)
    assert found.rule == rule
    assert found.reproducible == str(rule)


def test_a_batch_is_filled_up_with_its_last_row_and_cut_again():
    found = inference_of(lambda rows: 0 < rows < 4, in_product=False)
    seen = {}

    def compute(tokens, texts):
        seen.update(tokens=tokens.tolist(), texts=texts)
        return tokens * 2, {"cache of": len(texts)}

    tokens = torch.tensor([[1, 2], [3, 4]])
    doubled, cache = found.run(compute, tokens=tokens, texts=["a", "b"])
    assert seen == {"tokens": [[1, 2], [3, 4], [3, 4], [3, 4]], "texts": ["a", "b", "b", "b"]}
    assert doubled.tolist() == [[2, 4], [6, 8]]
    assert cache == {"cache of": 4}
    full = torch.ones(5, 1)
    assert found.run(lambda tokens: (id(tokens),), tokens=full) == (id(full),)


def test_where_several_threads_break_every_rule_one_thread_computes(monkeypatch, threads):
    monkeypatch.setattr("scope.models.torch_setup.waiting_threads_sleep", lambda: True)
    threads(2)
    found = inference_of(lambda rows: torch.get_num_threads() > 1 and 0 < rows < 300)
    assert found.rule == RowRule(one_thread=True)
    seen = found.run(lambda rows: (torch.get_num_threads(), rows), rows=torch.ones(2, 1))[0]
    assert (seen, torch.get_num_threads()) == (1, 2)


def test_where_no_rule_holds_the_difference_is_measured_and_batches_are_left_as_they_are():
    found = inference_of(lambda rows: 0 < rows < 300)
    assert found.rule is None
    assert found.reproducible == "to about 1e-07"
    assert inference_of(lambda rows: 0 < rows < 20).reproducible == "to about 5e-01"
    # Half precision states no less than its rounding.
    half = model_of(lambda rows: 0 < rows < 300).bfloat16()
    assert Inference(half, half).reproducible == "to about 8e-03"
    assert found.run(lambda texts: (len(texts),), texts=["a"]) == (1,)


@pytest.mark.bits
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("family", ["Bert", "Electra", "Llama", "T5"])
def test_a_texts_bits_are_the_same_alone_and_beside_others(family, count, threads):
    """Many lengths, among them those at which kernels and threads divide their work."""
    library = quiet_transformers()
    inner = {"T5": "d_ff"}.get(family, "intermediate_size")
    shape = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, inner: 96}
    config = getattr(library, f"{family}Config")(vocab_size=64, **shape)
    torch.manual_seed(0)
    model = {"T5": library.T5EncoderModel}.get(family, library.AutoModel.from_config)(config).eval()
    threads(count)

    def compute(tokens):
        return model(input_ids=tokens).last_hidden_state

    found = Inference(model, compute)
    if found.reproducible.startswith(NOT_TO_THE_BYTE):
        pytest.skip(f"no number of rows gives equal bits here: {found.reproducible}")
    for length in (2, 5, 9, 17, 33, 65):
        tokens = torch.randint(3, 64, (13, length))
        together = found.run(compute, tokens=tokens)
        for part in (slice(0, 1), slice(4, 6), slice(6, 13), slice(3, 12)):
            assert found.run(compute, tokens=tokens[part]).equal(together[part]), length


def test_lengths_that_a_model_refuses_are_left_out():
    """As CANINE and Funnel refuse texts of few tokens."""
    model = model_of(lambda rows: 0 < rows < 4)
    # Several tokens may end a text, as in the configurations of Llama 3.1 and Gemma 3.
    model.config = SimpleNamespace(
        get_text_config=lambda: SimpleNamespace(eos_token_id=[-1, 2, 3], pad_token_id=None)
    )

    def picky(tokens):
        if tokens.shape[1] < 4:
            raise IndexError("too short")
        return model(tokens)

    assert Inference(model, picky).rule == RowRule(least=4)


def test_nothing_is_stated_of_a_model_that_could_not_be_tried():
    """As where a new release of a library no longer takes what the trial gives it."""
    model = model_of(lambda rows: False)
    found = Inference(model, lambda tokens: model(token=tokens))
    assert found.rule is None
    assert found.reproducible == ""


def test_large_products_are_compared_by_allowed_numbers_of_rows_alone(monkeypatch):
    monkeypatch.setattr(inference, "_ROWS_BY_SIZE", ((float("inf"), 16),))
    found = inference_of(lambda rows: rows % 16 != 0)
    assert found.rule == RowRule(least=16, multiple=16)


def test_a_layer_that_is_no_plain_product_ends_no_run():
    """As the routers between experts, which return several things."""
    model = model_of(lambda rows: False)
    model.router = type("Router", (torch.nn.Linear,), {"forward": lambda self, rows: (rows, 1)})(
        8, 3
    )
    assert Inference(model, model).reproducible.startswith(NOT_TO_THE_BYTE)


def test_a_shape_that_is_always_the_same_needs_no_product_to_agree():
    """As in half precision, where the libraries choose their kernel by the shape."""
    model = model_of(lambda rows: rows not in (24, 12, 4))
    found = Inference(model, model, rules=[RowRule(tokens=24)])
    assert found.reproducible == "to the byte, always 24 tokens a batch"
    assert found.run(lambda tokens: (len(tokens),), tokens=torch.ones(1, 6)) == (4,)
    calls = itertools.count()
    restless = model_of(lambda rows: next(calls) % 3)
    found = Inference(restless, restless, rules=[RowRule(tokens=24)])
    assert found.reproducible.startswith(NOT_TO_THE_BYTE)
    assert found.run(lambda tokens: (len(tokens),), tokens=torch.ones(1, 6)) == (4,)
