"""Blocks are found in a model whatever they are called."""

import pytest

from scope.models import ModelOptions
from scope.models.latents.blocks import Blocks, _listed_blocks
from scope.models.latents.source import checkpoint_source
from scope.models.torch_setup import load_torch


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("llama", "LlamaDecoderLayer", 2),
        ("gpt2", "GPT2Block", 3),
        ("bert", "BertLayer", 2),
        ("t5", "T5Block", 2),
        ("bart", "BartEncoderLayer", 1),
        ("albert", None, 0),
    ],
)
def test_blocks_are_the_outermost_list_of_as_many_as_there_are_layers(folders, name, kind, count):
    model = checkpoint_source(str(folders[name]), ModelOptions(device="cpu")).load().model
    found = _listed_blocks(model)
    assert [type(block).__name__ for block in found] == [kind] * count


def test_nothing_listens_on_after_a_failure(folders):
    head = checkpoint_source(str(folders["bert"]), ModelOptions(device="cpu")).load()
    blocks = Blocks(head.model, "hf:bert")
    with pytest.raises(IndexError):
        blocks.read([[10**6]], slice(0, 1))
    assert not any(module._forward_hooks for module in head.model.modules())


def test_several_places_are_averaged(folders):
    head = checkpoint_source(str(folders["bert"]), ModelOptions(device="cpu")).load()
    blocks = Blocks(head.model, "hf:bert")
    rows = [[5, 6, 7], [7, 8, 9]]
    single = [blocks.read(rows, slice(place, place + 1)) for place in range(3)]
    both = blocks.read(rows, slice(1, 3))
    assert both.shape == (2, 2, 16)
    load_torch().testing.assert_close(both, (single[1] + single[2]) / 2)
