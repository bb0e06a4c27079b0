"""Tiny checkpoints of every family, written once."""

import dataclasses
from functools import cache, partial

import pytest
from seeded import save
from tiny_heads import write_tiny_bart, write_tiny_bert_mlm, write_tiny_roberta_mlm, write_tiny_t5
from tiny_language import write_tiny_gguf, write_tiny_llama

from scope.models import gguf, huggingface
from scope.models.latents import CheckpointReader
from scope.models.options import ModelOptions
from scope.models.torch_setup import quiet_transformers


def write_on_llama(folder, kind, change=lambda tokenizer: None, **settings):
    """A causal language model with the tokenizer of the tiny Llama."""
    transformers = quiet_transformers()
    write_tiny_llama(folder, chat=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    change(tokenizer.backend_tokenizer)
    tokenizer.save_pretrained(folder)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer), initializer_range=0.5, **settings
    )
    head = "LMHeadModel" if kind == "GPT2" else "ForCausalLM"
    save(getattr(transformers, f"{kind}{head}"), config, folder)


def puts_nothing_before_a_text(tokenizer):
    import tokenizers

    tokenizer.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)


def write_on_words(folder, kind, **settings):
    """A model with the tokenizer of the tiny BERT."""
    transformers = quiet_transformers()
    write_tiny_bert_mlm(folder)
    size = transformers.AutoConfig.from_pretrained(folder).vocab_size
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=size, initializer_range=0.5, **settings
    )
    save(getattr(transformers, f"{kind}Model"), config, folder)


SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 90,
}
ON_LLAMA = {
    "gpt2": {"kind": "GPT2", "change": puts_nothing_before_a_text}
    | {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 90},
    # Its blocks see four tokens back, and no further.
    "mistral": {"kind": "Mistral", "num_key_value_heads": 1, "sliding_window": 4, **SMALL},
    # It has no attention, and adds its layers up in float32 whatever it multiplies in.
    "mamba": {"kind": "Mamba", "hidden_size": 16, "num_hidden_layers": 2}
    | {"state_size": 4, "time_step_rank": 2},
}
ON_WORDS = {
    # It uses one block three times over.
    "albert": {"kind": "Albert", **SMALL, "embedding_size": 8, "num_hidden_layers": 3}
    | {"max_position_embeddings": 40},
    # Its blocks give tokens, texts, width.
    "xlnet": {"kind": "XLNet", "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32},
    # It has a list for each part of its blocks.
    "xlm": {"kind": "XLM", "emb_dim": 16, "n_layers": 2, "n_heads": 2, "pad_index": 0},
}
WRITERS = {
    "llama": partial(write_tiny_llama, chat=True),
    "bert": write_tiny_bert_mlm,
    "roberta": write_tiny_roberta_mlm,
    "t5": write_tiny_t5,
    "bart": write_tiny_bart,
    **{name: partial(write_on_llama, **settings) for name, settings in ON_LLAMA.items()},
    **{name: partial(write_on_words, **settings) for name, settings in ON_WORDS.items()},
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """By name; beside the Llama's files lies the same as a GGUF file."""
    root = tmp_path_factory.mktemp("latents")
    for name, write in WRITERS.items():
        write(root / name)
    write_tiny_gguf(root / "llama" / "tiny.gguf", root / "llama")
    return {name: root / name for name in WRITERS}


@pytest.fixture(scope="session")
def head(folders):
    """Gives the named model, loaded once: nobody may change it."""
    return cache(lambda name, **options: unread(folders, name, **options)._source.load())


@pytest.fixture(scope="session")
def reader(folders, head):
    """Gives a reader of the named checkpoint; those of one precision share their model."""

    @cache
    def load(name, readout=None, dtype="float32", token_budget=4096):
        source = unread(folders, name, dtype=dtype)._source
        shared = dataclasses.replace(source, load=lambda: head(name, dtype=dtype))
        options = ModelOptions(device="cpu", dtype=dtype, token_budget=token_budget)
        return CheckpointReader(shared, options, readout)

    return load


def unread(folders, name, **options):
    given = ModelOptions(device="cpu", **options)
    if name == "gguf":
        return gguf.SCHEME.latent_reader(str(folders["llama"] / "tiny.gguf"), given, None)
    return huggingface.SCHEME.latent_reader(str(folders[name]), given, None)
