"""Tiny checkpoints of four architectures, random but decided; loaded once for all tests."""

import functools
import json
import shutil

import pytest
from causal_cases import OWN
from hub.tiny import SPECIAL, WORDS, write_tiny_model
from tiny_language import write_tiny_llama
from word_pieces import write_word_pieces

from scope.models import ModelOptions
from scope.models.causal import load
from scope.models.torch_setup import quiet_transformers

ARCHITECTURES = ("bert", "roberta", "distilbert", "gpt2")
LIMIT = 32
"""Most tokens of a text, in all four."""


def write_bert(folder):
    write_tiny_model(folder)
    transformers = quiet_transformers()
    config = transformers.AutoConfig.from_pretrained(folder, initializer_range=0.5)
    save(transformers.BertForSequenceClassification, config, folder)


def write_roberta(folder):
    transformers = quiet_transformers()
    config = transformers.RobertaConfig(
        vocab_size=300,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        # Positions are numbered from the padding index 1 on, so two of them are never used.
        max_position_embeddings=LIMIT + 2,
        initializer_range=0.5,
    )
    tokenizer = bytewise_tokenizer(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], framed=True)
    transformers.RobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    save(transformers.RobertaForSequenceClassification, config, folder)


def write_distilbert(folder):
    transformers = quiet_transformers()
    write_word_pieces(folder, (*SPECIAL, *WORDS))
    config = transformers.DistilBertConfig(
        vocab_size=20,
        dim=16,
        n_layers=2,
        n_heads=2,
        hidden_dim=32,
        max_position_embeddings=LIMIT,
        initializer_range=0.5,
    )
    save(transformers.DistilBertForSequenceClassification, config, folder)


def write_gpt2(folder):
    """Neither its tokenizer nor its configuration knows a padding token."""
    transformers = quiet_transformers()
    tokenizer = bytewise_tokenizer(["<|endoftext|>"], framed=False)
    transformers.GPT2TokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=300,
        n_embd=16,
        n_layer=2,
        n_head=2,
        n_positions=LIMIT,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.5,
    )
    save(transformers.GPT2ForSequenceClassification, config, folder)


def bytewise_tokenizer(special, *, framed):
    """One token a byte, after the special ones."""
    import tokenizers

    pieces = [*special, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    if framed:
        tokenizer.post_processor = tokenizers.processors.RobertaProcessing(
            ("</s>", vocabulary["</s>"]), ("<s>", vocabulary["<s>"])
        )
    return tokenizer


def save(kind, config, folder, **options):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder, **options)


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """A folder for each architecture."""
    root = tmp_path_factory.mktemp("checkpoints")
    writers = (write_bert, write_roberta, write_distilbert, write_gpt2)
    for name, write in zip(ARCHITECTURES, writers, strict=True):
        write(root / name)
    return {name: root / name for name in ARCHITECTURES}


@pytest.fixture
def bert_copy(checkpoints, tmp_path):
    """A copy of the tiny BERT that a test may damage."""
    return shutil.copytree(checkpoints["bert"], tmp_path / "copy")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """A sentence encoder as the hub lays it out: a headless BERT whose tokens are averaged."""
    transformers = quiet_transformers()
    folder = tmp_path_factory.mktemp("encoder")
    write_tiny_model(folder)
    config = transformers.AutoConfig.from_pretrained(folder, initializer_range=0.5)
    save(transformers.BertModel, config, folder)
    modules = ["Transformer", "Pooling"]
    paths = ["", "1_Pooling"]
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {
                    "idx": number,
                    "name": str(number),
                    "path": path,
                    "type": f"sentence_transformers.models.{module}",
                }
                for number, (module, path) in enumerate(zip(modules, paths, strict=True))
            ]
        )
    )
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16}))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )
    return folder


@pytest.fixture
def encoder_copy(encoder_folder, tmp_path):
    """A copy of the tiny encoder that a test may change."""
    return shutil.copytree(encoder_folder, tmp_path / "copy")


@pytest.fixture(scope="session")
def llama_folders(tmp_path_factory):
    """By whether there is a chat template."""
    made = {chat: tmp_path_factory.mktemp("llama") for chat in (True, False)}
    for chat, folder in made.items():
        write_tiny_llama(folder, chat=chat)
    return made


@pytest.fixture(scope="session")
def llama(llama_folders):
    """Gives the model with or without a chat template, with these options, llama once."""

    @functools.cache
    def load_once(chat, token_budget=4096, prompts=OWN, **others):
        options = ModelOptions(
            device="cpu", token_budget=token_budget, prompts=dict(prompts), **others
        )
        return load(str(llama_folders[chat]), options)

    return load_once


@pytest.fixture(scope="session")
def plain_llama(llama_folders):
    """Gives the tokenizer and the model as transformers loads them."""
    transformers = quiet_transformers()

    @functools.cache
    def parts(chat):
        return (
            transformers.AutoTokenizer.from_pretrained(llama_folders[chat]),
            transformers.AutoModelForCausalLM.from_pretrained(llama_folders[chat]).eval(),
        )

    return parts
