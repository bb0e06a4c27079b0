"""A saved probe as a measure of likeness: real checkpoints, tiny and random."""

import shutil

import numpy as np
import pytest
from tiny_heads import write_tiny_bert_mlm
from tiny_language import write_tiny_llama
from tiny_probe import write_probe

from scope.answers.vectors import LatentTable
from scope.checksums import unsealed
from scope.errors import ModelError, RunError
from scope.jobs import probe_similarity as job
from scope.jobs.probe_similarity import ProbeSimilarity
from scope.models import ModelOptions
from scope.models.latents import CheckpointReader, Readout

TEXTS = ["the film was good", "a dull film", "ann", "paris", "who saw bob in paris"]
NO_TOKEN = "\u200b"
"""BERT's tokenizer takes it out."""


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A probe with a prompt of its own."""
    root = tmp_path_factory.mktemp("llama")
    write_tiny_llama(root / "model", chat=False)
    readout = Readout(kind="prompt", template="the film {text} was")
    return write_probe(root / "probe", root / "model", readout)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    root = tmp_path_factory.mktemp("bert")
    write_tiny_bert_mlm(root / "model")
    return write_probe(root / "probe", root / "model", Readout(kind="mean"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))


def load(tiny, **options):
    return ProbeSimilarity.load(tiny.folder, ModelOptions(device="cpu", **options))


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_values_are_the_probes_scores_of_the_models_latents_in_their_range(name, request):
    tiny = request.getfixturevalue(name)
    pairs = [(one, other) for one in TEXTS for other in TEXTS]
    found = load(tiny).read(TEXTS).similarity(*zip(*pairs, strict=True))
    assert found.tolist() == [tiny.value(*pair) for pair in pairs]
    assert len(set(found)) > len(TEXTS)
    assert ((found >= 0) & (found <= 1)).all()


def test_equal_texts_have_one_and_others_the_same_both_ways_round(llama):
    read = load(llama).read(TEXTS)
    assert read.similarity(TEXTS, [f" {text}\n" for text in TEXTS]).tolist() == [1] * len(TEXTS)
    there, back = read.similarity(TEXTS, TEXTS[::-1]), read.similarity(TEXTS[::-1], TEXTS)
    np.testing.assert_array_equal(there, back)
    assert there.min() < 1


@pytest.mark.parametrize("empty", ["", " \n", NO_TOKEN])
def test_a_text_without_a_token_counts_as_an_empty_one(bert, empty):
    read = load(bert).read(["ann", empty, "bob", NO_TOKEN + " "])
    ones, others = ["ann", empty, empty, "ann"], [empty, "", NO_TOKEN, "bob"]
    found = read.similarity(ones, others)
    assert found[:3].tolist() == [0, 1, 1]
    assert found[3] == bert.value("ann", "bob")


def test_where_no_text_has_a_token_the_rule_alone_decides(bert):
    read = load(bert).read([NO_TOKEN, ""])
    assert read.similarity([NO_TOKEN, ""], ["", ""]).tolist() == [1, 1]
    assert read.truncated == 0


def test_texts_that_are_longer_than_the_model_reads_are_counted_and_compared_by_their_beginning(
    bert,
):
    words = "ann saw the film " * 20
    read = load(bert).read([f"{words} bob", f"{words} paris", "ann"])
    assert read.truncated == 2
    assert read.similarity([f"{words} bob"], [f"{words} paris"]).tolist() == [1]


def test_portions_keep_the_memory_small_and_leave_the_values_as_they_are(llama, monkeypatch):
    ones, others = [TEXTS[0]] * 4 + TEXTS, [*TEXTS[1:], *TEXTS[::-1]]
    whole = load(llama).read(TEXTS).similarity(ones, others)
    rows, asked = LatentTable.rows, []
    monkeypatch.setattr(job, "PAIRS_A_PORTION", 2)
    monkeypatch.setattr(
        LatentTable, "rows", lambda table, texts: asked.append(len(texts)) or rows(table, texts)
    )
    np.testing.assert_array_equal(load(llama).read(TEXTS).similarity(ones, others), whole)
    # Of the nine pairs one is of equal texts, and three come twice.
    assert asked == [2, 2, 2, 2, 1, 1]


def test_latents_that_are_kept_need_no_model(llama, monkeypatch):
    first = load(llama).read(TEXTS).similarity(TEXTS, TEXTS[::-1])
    monkeypatch.setattr(CheckpointReader, "latents", None)
    again = load(llama).read(TEXTS).similarity(TEXTS, TEXTS[::-1])
    np.testing.assert_array_equal(again, first)


def test_the_precision_is_the_probes_own(llama):
    assert load(llama, dtype="bfloat16").opened.reader.fingerprint == llama.reader.fingerprint


def test_a_model_that_is_not_as_it_was_is_told_with_both_fingerprints(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    tiny = write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))
    write_tiny_llama(tmp_path / "model", chat=False, seed=1)
    with pytest.raises(ModelError) as caught:
        load(tiny)
    assert f"with fingerprint `{tiny.reader.fingerprint}`" in caught.value.expected
    assert "with fingerprint `" in caught.value.found
    assert tiny.reader.fingerprint not in caught.value.found


def test_a_model_that_is_gone_is_to_be_named_where_it_is_now(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    tiny = write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))
    shutil.rmtree(tmp_path / "model")
    with pytest.raises(ModelError) as caught:
        load(tiny)
    assert f"no folder `{tmp_path / 'model'}`" in caught.value.found
    assert caught.value.fix.startswith(
        f"give its current location: --semscore probe:{tiny.folder}#SPEC"
    )
    assert "--model" not in caught.value.fix


def test_a_model_that_was_moved_is_named_by_the_user(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    tiny = write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))
    (tmp_path / "model").rename(tmp_path / "moved")
    moved = f"hf:{tmp_path / 'moved'}"
    found = ProbeSimilarity.load(tiny.folder, ModelOptions(device="cpu"), moved)
    assert found.opened.source.spec == moved
    assert found.opened.reader.fingerprint == tiny.reader.fingerprint


def test_what_is_wrong_with_a_model_that_the_user_named_is_told_as_it_is(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    tiny = write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))
    with pytest.raises(ModelError) as caught:
        ProbeSimilarity.load(tiny.folder, ModelOptions(), f"hf:{tmp_path / 'nowhere'}")
    assert "say where it is now" not in caught.value.fix


def test_a_probe_cannot_have_code_imported_that_the_user_did_not_name(tmp_path, monkeypatch):
    write_tiny_llama(tmp_path / "model", chat=False)
    tiny = write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))
    description = tiny.folder / "probe.json"
    text = unsealed(description.read_text(encoding="utf-8")).text
    assert tiny.reader.spec in text
    crafted = text.replace(tiny.reader.spec, "python:crafted_reader:Reader")
    description.write_text(crafted, encoding="utf-8")
    (tmp_path / "crafted_reader.py").write_text("open('imported', 'w')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError) as caught:
        load(tiny, allow_pickle=True, trust_remote_code=True)
    assert not (tmp_path / "imported").exists()
    assert f"--semscore probe:{tiny.folder}#SPEC" in caught.value.fix


@pytest.mark.parametrize("model", [None, "hf:named"])
def test_what_the_user_allows_holds_for_a_model_that_is_named_alone(llama, monkeypatch, model):
    loaded = []

    def stop(spec, options, readout):
        loaded.append((spec, options.allow_pickle, options.trust_remote_code))
        raise ModelError("stop", expected="nothing", fix="nothing")

    monkeypatch.setattr("scope.jobs.probe.opening.load_latent_reader", stop)
    options = ModelOptions(allow_pickle=True, trust_remote_code=True)
    with pytest.raises(ModelError):
        ProbeSimilarity.load(llama.folder, options, model)
    named = model is not None
    assert loaded == [(model or llama.reader.spec, named, named)]


def test_a_folder_without_a_probe_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"no `probe.json`"):
        ProbeSimilarity.load(tmp_path, ModelOptions())
