"""Latents never depend on company, order or threads, in any precision."""

import numpy as np
import pytest

from scope.errors import ModelError
from scope.models.latents import Readout
from scope.models.latents.blocks import Blocks
from scope.models.torch_setup import load_torch

TEXTS = ["the film was good", "ann", "who saw bob in paris?", "zoé", "the dull film", "a b c d e f"]
# XLNet cannot run in it.
FAMILIES = ["llama", "gpt2", "mistral", "mamba", "bert", "roberta", "albert", "xlm", "t5", "bart"]
MEAN = Readout(kind="mean")


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.bits
def test_in_bfloat16_nothing_depends_on_company_order_or_threads(reader, name):
    half = reader(name, MEAN, dtype="bfloat16")
    alone = np.stack([half.latents([text])[0] for text in TEXTS])
    torch = load_torch()
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            together = half.latents([*TEXTS[::-1], "a film", "ann saw bob"])
            np.testing.assert_array_equal(together[: len(TEXTS)], alone[::-1])
    finally:
        torch.set_num_threads(before)


def test_a_model_that_cannot_run_in_bfloat16_says_so(reader):
    with pytest.raises(
        ModelError, match=r"XLNetModel .* in bfloat16 \((?s:.*)--dtype float32 alone"
    ):
        _ = reader("xlnet", dtype="bfloat16").layers


@pytest.fixture
def shapes(monkeypatch):
    """Rows and tokens of every batch that the model reads."""
    seen = []
    read = Blocks._read

    def watched(self, tokens, places):
        seen.append(tuple(tokens.shape))
        return read(self, tokens, places)

    monkeypatch.setattr(Blocks, "_read", watched)
    return seen


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], ["the film"] * 40])
def test_but_in_float32_the_shape_of_a_batch_follows_from_its_length(
    reader, shapes, monkeypatch, dtype, texts
):
    monkeypatch.setattr("scope.models.latents.reader.TOKENS_A_BATCH", 24)
    half = reader("bert", dtype=dtype, token_budget=1000)
    assert half.reproducible == "to the byte, always 24 tokens a batch, one thread"
    shapes.clear()
    found = half.latents([*texts, "the film " * 19])
    assert found.shape == (len(texts) + 1, 2, 16)
    assert set(shapes) >= {(1, 40)}
    assert {rows for rows, length in shapes if length == 4} <= {6}
    assert all(rows == max(1, 24 // length) for rows, length in shapes)
