"""Each job once on real checkpoints: with the newest libraries here, with the oldest in CI."""

import json

import numpy as np
import pytest
from hub.tiny import write_tiny_model
from tiny_heads import write_tiny_bert_mlm
from tiny_language import write_tiny_llama
from word_pieces import write_word_pieces

from scope.models.torch_setup import quiet_transformers

SENTENCES = ("the film is good", "a bad plot", "the plot is not bad", "a dull film is fine")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of tiny checkpoints, by name."""
    folder = tmp_path_factory.mktemp("models")
    for seed in range(5):
        write_tiny_model(folder / f"bert{seed}", seed=seed)
        write_tiny_llama(folder / f"llama{seed}", chat=bool(seed % 2), seed=seed)
    write_tiny_bert_mlm(folder / "mlm")
    return folder


@pytest.fixture
def texts(tmp_path):
    rows = [{"text": f"{one} {end}", "label": "good"} for one in SENTENCES for end in "the a is".split()]
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
    found = result_of(command("audit", *specs, *changes, "--data", texts, "--json"))
    assert {one["capability"] for one in found["estimates"]} >= {"typo", "synonym"}


def test_a_comparison_of_language_models(command, models, questions):
    specs = ["--model", models / "llama0", "--model", models / "llama1"]
    found = result_of(
        command("compare", *specs, "--task", "choice", "--data", questions, "--json")
    )
    assert "capa" in {one["metric"] for one in found["estimates"]}


def test_a_test_of_reuse(command, models, texts):
    specs = ["--suspect", models / "bert0", "--reference", models / "bert1"]
    controls = [part for seed in (2, 3, 4) for part in ("--control", models / f"bert{seed}")]
    found = result_of(command("reuse", *specs, *controls, "--data", texts, "--json"))
    assert found["verdicts"][0]["verdict"] == "undecided"


def test_a_probe(command, models, tmp_path):
    pairs = [(one, other, 5 * (one == other)) for one in SENTENCES for other in SENTENCES]
    rows = "".join(f"{one},{other},{score}\n" for one, other, score in pairs)
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text(f"sentence1,sentence2,score\n{rows}", encoding="utf-8")
    found = result_of(
        command("probe", "--model", models / "mlm", "--train", "train.csv", "--test", "test.csv",
                "--step", "raw", "--json")
    )
    assert found["estimates"]


def test_a_sentence_encoder(tmp_path):
    from sentence_transformers import SentenceTransformer, models as modules

    from scope.models.loading import load_encoder
    transformers = quiet_transformers()
