"""Tiny checkpoints of every family, written once."""

import functools

import pytest
from tiny_heads import write_tiny_bart, write_tiny_bert_mlm, write_tiny_roberta_mlm, write_tiny_t5
from tiny_language import write_tiny_gguf, write_tiny_llama

from scope.models import ModelOptions
from scope.models.latents import read_checkpoint, read_gguf
from scope.models.torch_setup import load_torch, quiet_transformers


def write_gpt2(folder):
    """Its tokenizer puts nothing before a text."""
    transformers = quiet_transformers()
    write_tiny_llama(folder, chat=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.post_processor = _nothing()
    tokenizer.save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=16,
        n_layer=3,
        n_head=2,
        n_positions=90,
        initializer_range=0.5,
    )
    save(transformers.GPT2LMHeadModel, config, folder)


def write_albert(folder):
    """It uses one block three times over."""
    transformers = quiet_transformers()
    write_tiny_bert_mlm(folder)
    size = transformers.AutoConfig.from_pretrained(folder).vocab_size
    config = transformers.AlbertConfig(
        vocab_size=size,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=0.5,
    )
    save(transformers.AlbertModel, config, folder)


def save(kind, config, folder):
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)


def _nothing():
    import tokenizers

    return tokenizers.processors.ByteLevel(trim_offsets=False)


WRITERS = {
    "llama": functools.partial(write_tiny_llama, chat=True),
    "gpt2": write_gpt2,
    "bert": write_tiny_bert_mlm,
    "roberta": write_tiny_roberta_mlm,
    "albert": write_albert,
    "t5": write_tiny_t5,
    "bart": write_tiny_bart,
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
def reader(folders):
    """Gives a reader of the named checkpoint."""

    @functools.cache
    def load(name, readout=None, **options):
        given = ModelOptions(device="cpu", **options)
        if name == "gguf":
            return read_gguf(str(folders["llama"] / "tiny.gguf"), given, readout)
        return read_checkpoint(str(folders[name]), given, readout)

    return load
