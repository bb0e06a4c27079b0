"""Which models must be read one text after the other."""

import pytest

from scope.models.latents.changing import changes_while_reading, longest_unchanged
from scope.models.torch_setup import load_torch, quiet_transformers

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


def of_another_library():
    class Own(type(llama())):
        """A user's own class."""

    return Own(llama().config)


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (llama, False),
        (lambda: llama(rope_type="linear", factor=2.0), False),
        (lambda: model("Bert", **SMALL), False),
        (lambda: llama(rope_type="dynamic", factor=2.0), True),
        (lambda: llama(rope_type="longrope", **FACTORS), True),
        (esm, True),
        (lambda: model("BigBird", **SMALL, attention_type="original_full"), True),
        (of_another_library, True),
    ],
    ids=["llama", "linear", "bert", "dynamic", "longrope", "esm", "bigbird", "own"],
)
def test_models_that_keep_something_of_a_text_change_while_they_read(make, changes):
    assert changes_while_reading(make()) is changes


def test_dynamic_positions_are_stretched_by_texts_that_are_longer_than_was_foreseen():
    torch, dynamic = load_torch(), llama(rope_type="dynamic", factor=2.0)
    longest = longest_unchanged(dynamic)
    assert longest == 24

    def after(length):
        with torch.inference_mode():
            dynamic(torch.ones(1, length, dtype=torch.long))
        return dynamic.rotary_emb.inv_freq.clone()

    before = after(2)
    torch.testing.assert_close(after(longest), before, rtol=0, atol=0)
    assert not torch.equal(after(longest + 1), before)


def test_other_positions_have_no_such_limit():
    assert longest_unchanged(llama()) is None
    assert longest_unchanged(llama(rope_type="longrope", **FACTORS)) is None
