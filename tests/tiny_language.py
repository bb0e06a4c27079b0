"""Tiny causal language models: random, but decided, with and without a chat template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scope.models.torch_setup import load_torch, quiet_transformers

LIMIT = 160
"""Most tokens of a prompt and its answer."""

SPECIAL = ("<s>", "</s>", "<|user|>", "<|reply|>")
WORDS = ("the", "film", "was", "good", "dull", "who", "saw", "ann", "bob", "paris", "in", "a")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|user|>{{ message['content'] | trim }}</s>"
    "{% endfor %}{% if add_generation_prompt %}<|reply|>{% endif %}"
)


def write_tiny_llama(folder: Path, *, chat: bool, seed: int = 0) -> None:
    """A Llama whose tokens are bytes and words; it begins every text with ``<s>``."""
    import tokenizers

    transformers = quiet_transformers()
    inner = byte_level_words(SPECIAL, WORDS)
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=list(SPECIAL[2:]),
        clean_up_tokenization_spaces=False,
    )
    if chat:
        tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=inner.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=32,
        max_position_embeddings=LIMIT,
        initializer_range=0.5,
        bos_token_id=0,
        eos_token_id=1,
    )
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        transformers.LlamaForCausalLM(config).save_pretrained(folder)


def write_tiny_gguf(path: Path, folder: Path, **settings: Any) -> None:
    """The Llama of a folder as a GGUF file, with its chat template if it has one.

    The settings are those of the writer.
    """
    import gguf

    transformers = quiet_transformers()
    model = transformers.LlamaForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    writer = gguf.GGUFWriter(path, "llama", **settings)
    _write_sizes(writer, model.config)
    _write_tokenizer(writer, tokenizer)
    for name, weights in model.state_dict().items():
        values = weights.numpy()
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            config = model.config
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            values = _rotated(values, heads)
        writer.add_tensor(_gguf_name(name), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_sizes(writer: Any, config: Any) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    # Up to transformers 5 it is a setting of its own.
    parameters = getattr(config, "rope_parameters", None) or vars(config)
    writer.add_rope_freq_base(parameters["rope_theta"])
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)


def _write_tokenizer(writer: Any, tokenizer: Any) -> None:
    import json

    saved = json.loads(tokenizer.backend_tokenizer.to_str())
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(names)
    writer.add_token_types([3 if name in SPECIAL else 1 for name in names])
    writer.add_token_merges([" ".join(pair) for pair in saved["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(True)
    if tokenizer.chat_template is not None:
        writer.add_chat_template(tokenizer.chat_template)


def _rotated(values: Any, heads: int) -> Any:
    """Rows in llama.cpp's order, which turns neighbours where Llama turns halves."""
    rows = values.shape[0] // heads // 2
    return values.reshape(heads, 2, rows, -1).swapaxes(1, 2).reshape(values.shape).copy()


def _gguf_name(name: str) -> str:
    for theirs, ours in (
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("post_attention_layernorm", "ffn_norm"),
        ("input_layernorm", "attn_norm"),
    ):
        name = name.replace(theirs, ours)
    return name


def byte_level_words(special: Sequence[str], words: Sequence[str]) -> Any:
    """One token a byte, one a word with the space before it, and what merges to these."""
    import tokenizers

    pieces = [*special, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    merges: list[tuple[str, str]] = []
    for word in words:
        built = "Ġ"
        for letter in word:
            if built + letter not in pieces:
                merges.append((built, letter))
                pieces.append(built + letter)
            built += letter
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    return inner
