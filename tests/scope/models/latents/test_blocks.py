"""Blocks are found in a model whatever they are called."""

import threading
import types

import pytest

from scope.errors import ModelError
from scope.models.huggingface import checkpoint_source
from scope.models.latents import Blocks, changes_while_reading, longest_unchanged, side_by_side
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_threads, load_torch, quiet_transformers


def head_of(folder):
    return checkpoint_source(str(folder), ModelOptions(device="cpu")).load()


def test_nothing_is_kept_of_a_failure_or_of_what_others_ask_the_model(folders):
    model = head_of(folders["bert"]).model
    blocks = Blocks(model, "hf:bert")
    before = blocks.read([[5, 6]], slice(0, 1))
    with pytest.raises(IndexError):
        blocks.read([[10**6]], slice(0, 1))
    with load_torch().inference_mode():
        model(input_ids=load_torch().tensor([[7, 8, 9]]))
    load_torch().testing.assert_close(blocks.read([[5, 6]], slice(0, 1)), before)


def in_parts(scale=1.0, begins_with=1, part=0.0, layers=3):
    """A model whose only list may hold but a part of each block.

    Its state is doubled and shifted by each block, and ``part`` of it lies beside the list.
    """
    torch = load_torch()

    class Block(torch.nn.Module):
        def forward(self, states):
            return (2 * states + torch.tensor([0.0, 1.0, -1.0, 0.5])) * scale

    class InParts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.config = quiet_transformers().BertConfig(num_hidden_layers=layers)
            self.table = torch.nn.Embedding.from_pretrained(torch.arange(40.0).reshape(10, 4))
            self.list = torch.nn.ModuleList(Block() for _ in range(layers))

        def forward(self, input_ids, output_hidden_states=None):
            found = [self.table(input_ids)]
            for block in self.list:
                given = block(found[-1]) / scale
                found.append(given + part * torch.tensor([9.0, -70.0, 0.0, 0.0]))
            last = found[-1] - found[-1].mean()
            wanted = self.config.output_hidden_states or output_hidden_states
            states = (*found[:-1], last) if begins_with else (*found[1:], last)
            return types.SimpleNamespace(hidden_states=states if wanted else None)

    return InParts()


@pytest.mark.parametrize("begins_with", [0, 1])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_blocks_are_believed_where_the_model_has_the_same_hidden_states(scale, begins_with):
    """Some models give no embeddings among them, some scale their states between blocks."""
    found = Blocks(in_parts(scale, begins_with), "hf:whole").read([[1, 2]], slice(0, 1))
    assert found[0, :2].tolist() == [
        [8 * scale, 11 * scale, 11 * scale, 14.5 * scale],
        [16 * scale, 23 * scale, 21 * scale, 29.5 * scale],
    ]


def test_a_list_that_holds_a_part_of_each_block_is_not_taken_for_the_blocks():
    found = Blocks(in_parts(part=1.0), "hf:parts").read([[1, 2]], slice(0, 1))
    assert found[0, :2].tolist() == [[17, -59, 11, 14.5], [43, -187, 21, 29.5]]


def test_a_block_that_changes_its_layout_later_is_refused(folders):
    model = head_of(folders["bert"]).model
    blocks = Blocks(model, "hf:bert")
    first = model.encoder.layer[0]
    first.forward = lambda states, *_, **__: (states.flatten(),)
    with pytest.raises(
        ModelError, match=r"`hf:bert` is a BertModel .* shape \(\d+,\) for tokens of shape \(1, 2\)"
    ):
        blocks.read([[5, 6]], slice(0, 1))


@pytest.mark.parametrize(
    ("name", "most"), [("bert", None), ("albert", 1), ("xlnet", 1), ("xlm", 1)]
)
def test_models_that_are_asked_answer_one_thread_at_a_time(head, name, most):
    blocks = Blocks(head(name, dtype="float32").model, f"hf:{name}")
    assert blocks.most_at_once == most
    assert blocks.width == 16


def test_a_model_that_changes_while_it_reads_answers_one_thread_at_a_time(folders):
    model = head_of(folders["llama"]).model
    assert Blocks(model, "hf:llama").most_at_once is None
    choose_threads(model, 3)
    assert Blocks(model, "hf:llama").most_at_once == 3
    changing = llama(rope_type="longrope", **FACTORS)
    choose_threads(changing, 3)
    assert Blocks(changing, "hf:llama").most_at_once == 1


SMALL = {
    "vocab_size": 20,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 24,
}
FACTORS = {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4, "factor": 2.0}
LLAMA = {**SMALL, "num_key_value_heads": 2}


def model(kind, **settings):
    transformers = quiet_transformers()
    return getattr(transformers, f"{kind}Model")(
        getattr(transformers, f"{kind}Config")(**settings)
    ).eval()


def llama(**scaling):
    return model("Llama", **LLAMA, rope_scaling=scaling or None)


def esm():
    return model("Esm", **SMALL, position_embedding_type="rotary", pad_token_id=1, mask_token_id=2)


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (llama, False),
        (lambda: model("Bert", **SMALL), False),
        (lambda: llama(rope_type="dynamic", factor=2.0), True),
        (lambda: llama(rope_type="longrope", **FACTORS), True),
        # From transformers 5 on, which has parameters of positions, it keeps nothing.
        (esm, not hasattr(quiet_transformers().LlamaConfig(), "rope_parameters")),
        (lambda: model("BigBird", **SMALL, attention_type="original_full"), True),
        (lambda: type("Own", (type(llama()),), {})(llama().config), True),
    ],
    ids=["llama", "bert", "dynamic", "longrope", "esm", "bigbird", "own"],
)
def test_models_that_keep_something_of_a_text_change_while_they_read(make, changes):
    assert changes_while_reading(make()) is changes


def test_dynamic_positions_are_stretched_by_texts_that_are_longer_than_was_foreseen():
    torch, dynamic = load_torch(), llama(rope_type="dynamic", factor=2.0)
    longest = longest_unchanged(dynamic)
    assert longest == 24
    assert longest_unchanged(llama(rope_type="longrope", **FACTORS)) is None

    def after(length):
        with torch.inference_mode():
            dynamic(torch.ones(1, length, dtype=torch.long))
        return dynamic.rotary_emb.inv_freq.clone()

    before = after(2)
    torch.testing.assert_close(after(longest), before, rtol=0, atol=0)
    assert not torch.equal(after(longest + 1), before)


def test_work_is_shared_among_threads_of_one_each_and_torch_is_left_as_it_was(threads):
    torch = load_torch()
    threads(2)
    # Each waits for the other: it would be stuck with fewer at once.
    together = threading.Barrier(2, timeout=60)

    def work(number):
        together.wait()
        return number, torch.get_num_threads()

    assert side_by_side(work, range(4)) == [(number, 1) for number in range(4)]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 1 / number, [1, 0, 2])
    assert torch.get_num_threads() == 2
