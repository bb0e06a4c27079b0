"""Architectures that transformers knows from release 5 on are audited, compared and probed."""

import json

import pytest
from test_smoke import TEXTS, result_of
from tiny_language import write_tiny_llama
from word_pieces import write_word_pieces

from scope.models.torch_setup import load_torch, quiet_transformers

TRANSFORMERS = quiet_transformers()
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*" ".join(TEXTS).split()}))
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 128,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "mask_token_id": 4,
}
EXPERTS = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 8,
    "shared_expert_intermediate_size": 8,
    "head_dim": 8,
    "linear_num_value_heads": 2,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "layer_types": ["linear_attention", "full_attention"],
}


def of_release_5(name):
    """Skips where the installed transformers is older."""
    if not hasattr(TRANSFORMERS, name):
        pytest.skip(f"transformers {TRANSFORMERS.__version__} has no {name}")
    return getattr(TRANSFORMERS, name)


def save(folder, model, config, seed, **sizes):
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        of_release_5(model)(of_release_5(config)(**SIZES, **sizes)).save_pretrained(folder)


def write_eurobert(folder, seed):
    """An encoder with a classification head."""
    write_word_pieces(folder, PIECES, model_max_length=64)
    names = {"id2label": {0: "bad", 1: "good"}, "label2id": {"bad": 0, "good": 1}}
    model = "EuroBertForSequenceClassification"
    # With the first seed of all it gives every text one label.
    save(folder, model, "EuroBertConfig", seed + 1, vocab_size=len(PIECES), **names)


def write_causal(folder, seed, model, config, **sizes):
    """A language model with the tokenizer of a tiny Llama."""
    write_tiny_llama(folder, chat=False)
    words = len(TRANSFORMERS.AutoTokenizer.from_pretrained(folder))
    save(folder, model, config, seed, vocab_size=words, **sizes)


def write_nanochat(folder, seed):
    write_causal(folder, seed, "NanoChatForCausalLM", "NanoChatConfig")


def write_hybrid(folder, seed):
    """A mixture of experts, with linear attention in every other layer."""
    write_causal(folder, seed, "Qwen3_5MoeForCausalLM", "Qwen3_5MoeTextConfig", **EXPERTS)


NEW = pytest.mark.parametrize(
    ("write", "asked", "task"),
    [
        (write_eurobert, (), None),
        (write_nanochat, ("--label-word", "good=good", "--label-word", "bad=dull"), "choice"),
        pytest.param(
            write_hybrid,
            ("--label-word", "good=good", "--label-word", "bad=dull"),
            "choice",
            # Ten seconds, on paths that the other two take in four.
            marks=pytest.mark.slow,
        ),
    ],
    ids=["encoder", "causal", "hybrid"],
)


@NEW
def test_a_new_architecture_is_audited_compared_and_probed(write, asked, task, command, tmp_path):
    for seed in range(2):
        write(tmp_path / f"model{seed}", seed)
    texts, questions = tmp_path / "texts.jsonl", tmp_path / "questions.jsonl"
    texts.write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    rows = [{"question": f"{text}?", "options": ["good", "bad"], "answer": 0} for text in TEXTS]
    questions.write_text("\n".join(map(json.dumps, rows)))
    audit = ("audit", "--reference", "model0", "--target", "model1", "--capability", "typo")
    assert result_of(command(*audit, "--data", texts, "--n", 12, *asked, "--json"))["estimates"]
    if task:
        compare = ("compare", "--model", "model0", "--model", "model1", "--task", task)
        assert result_of(command(*compare, "--data", questions, "--json"))["estimates"]
    pairs = [f"{one},{other},{len(one) % 6}" for one in TEXTS[:9] for other in TEXTS[:9]]
    for part in ("train", "development", "test"):
        rows = ["sentence1,sentence2,score", *(pair.replace(",", f" {part},", 1) for pair in pairs)]
        (tmp_path / f"{part}.csv").write_text("\n".join(rows))
    parts = [f"--{part}={part}.csv" for part in ("train", "development", "test")]
    probe = ("probe", "--model", "model0", *parts, "--step", "raw", "--json")
    assert result_of(command(*probe))["estimates"]
