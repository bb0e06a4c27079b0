"""A saved probe opens with its own model alone, and scores texts by that model's latents."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tiny_heads import write_tiny_bert_mlm
from tiny_language import write_tiny_llama
from tiny_probe import write_probe
from toy_readers import Bags, Other

import scope
from scope.errors import DataError, ModelError
from scope.jobs.probe import saving as similarity_module
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.saving import SavedProbe, open_probe, save_probe, source_of
from scope.models.options import ModelOptions, Readout
from scope.models.scheme import load_latent_reader

CPU = ModelOptions(device="cpu", dtype="bfloat16", token_budget=64)
FREE = replace(CPU, trust_remote_code=True, allow_pickle=True)
TEXTS = ["the film was good", "a dull film", "ann", "paris", "who saw bob in paris"]
NO_TOKEN = "\u200b"
"""BERT's tokenizer removes it."""


@pytest.fixture
def tiny(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    readout = Readout(kind="prompt", template="the film {text} was")
    return write_probe(tmp_path / "probe", tmp_path / "model", readout)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    root = tmp_path_factory.mktemp("llama")
    write_tiny_llama(root / "model", chat=False)
    readout = Readout(kind="prompt", template="the film {text} was")
    return write_probe(root / "probe", root / "model", readout)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    root = tmp_path_factory.mktemp("bert")
    write_tiny_bert_mlm(root / "model")
    return write_probe(root / "probe", root / "model", Readout(kind="mean"))


def read(probe, texts):
    return open_probe(probe.folder, CPU).read(texts)


@pytest.mark.parametrize("empty", ["", " \n", NO_TOKEN])
def test_a_text_without_a_token_counts_as_an_empty_one(bert, empty):
    texts = read(bert, ["ann", empty, "bob", NO_TOKEN + " "])
    values = texts.similarity(["ann", empty, empty, "ann"], [empty, "", NO_TOKEN, "bob"])
    assert values.tolist() == [0, 1, 1, bert.value("ann", "bob")]
    # Without any token no latent is needed.
    assert read(bert, [NO_TOKEN, ""]).similarity([NO_TOKEN], [""]).tolist() == [1]


def test_portions_change_no_value(llama, monkeypatch):
    first, second = [TEXTS[0]] * 4 + TEXTS, [*TEXTS[1:], *TEXTS[::-1]]
    whole = read(llama, TEXTS).similarity(first, second)
    # Of the Llama's latents, two layers of width 16, a text has 128 bytes.
    monkeypatch.setattr(similarity_module, "BYTES_A_PORTION", 256)
    np.testing.assert_array_equal(read(llama, TEXTS).similarity(first, second), whole)


FIRST, SECOND = ["the film was good", "ann", "paris", ""], ["a dull film", "ann", "bob saw", "bob"]


def test_scores_of_texts_are_in_the_range_that_the_probe_was_fitted_on(llama):
    scores = scope.similarity(FIRST, SECOND, probe=llama.folder)
    expected = [1 + 4 * llama.value(*pair) for pair in zip(FIRST[:3], SECOND[:3], strict=True)]
    assert scores.tolist() == pytest.approx([*expected, 1.0])
    assert scores[1] == 5.0
    # A full stop more makes another text, with latents of its own.
    (stopped,) = scope.similarity(["ann"], ["ann ."], probe=llama.folder)
    assert stopped == pytest.approx(1 + 4 * llama.value("ann", "ann ."))
    assert np.array_equal(scores, scope.similarity(SECOND, FIRST, probe=str(llama.folder)))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [("ann", "bob", "`ann` beside `bob`"), (["ann", "bob"], ["ann"], "2 beside 1")],
)
def test_texts_are_two_lists_of_the_same_length(llama, first, second, found):
    with pytest.raises(DataError) as error:
        scope.similarity(first, second, probe=llama.folder)
    assert error.value.found == found


def test_a_moved_model_opens_where_the_user_names_it(tiny, tmp_path):
    before = scope.similarity(FIRST, SECOND, probe=tiny.folder)
    (tmp_path / "model").rename(tmp_path / "moved")
    moved = str(tmp_path / "moved")
    assert np.array_equal(before, scope.similarity(FIRST, SECOND, probe=tiny.folder, model=moved))
    with pytest.raises(ModelError) as error:
        open_probe(tiny.folder, CPU, str(tmp_path / "nowhere"))
    assert "current location" not in error.value.fix


def test_the_digest_changes_with_the_numbers(tiny, tmp_path):
    before = open_probe(tiny.folder, CPU)
    tiny.probe.calibration_ = tiny.probe.calibration_._replace(scale=7.0)
    save_probe(SavedProbe(probe=tiny.probe, source=before.source), tmp_path / "changed")
    assert open_probe(tmp_path / "changed", CPU).digest != before.digest


SENTENCES = ["the film", "ann saw", "bob in paris", "a dull film"]


def save_of_python(folder, *, latents=None, **source):
    """A probe of the toy reader, with the latents by which the reader is recognised."""
    read = Bags().latents(SENTENCES)
    probe = SimilarityProbe(step="raw").fit(read[:2], read[2:], [1, 4])
    canaries = {} if latents is None else dict(zip(SENTENCES, latents, strict=True))
    source = replace(source_of(Bags()), **source)
    save_probe(SavedProbe(probe=probe, source=source, canaries=canaries), folder)


def test_a_python_reader_opens_where_the_user_names_it(tmp_path):
    nearly = Bags().latents(SENTENCES) * np.float32(1.0005)
    save_of_python(tmp_path / "kept", latents=nearly)
    opened = open_probe(tmp_path / "kept", CPU, "python:toy_readers:Bags")
    assert opened.source == source_of(Bags())
    with pytest.raises(ModelError, match="fingerprint `toy-Other`"):
        open_probe(tmp_path / "kept", CPU, "python:toy_readers:Other")


def test_another_reader_under_the_same_fingerprint_is_not_the_probes_model(tmp_path):
    save_of_python(tmp_path / "kept", latents=Other().latents(SENTENCES))
    with pytest.raises(ModelError, match="`python:toy_readers:Bags` is not the model") as error:
        open_probe(tmp_path / "kept", CPU, "python:toy_readers:Bags")
    assert error.value.fix.endswith(f"fit the probe in `{tmp_path / 'kept'}` again")


@pytest.mark.parametrize("spec", ["python:crafted:Reader", "crafted-plugin:x", "openai:http://a#b"])
def test_code_that_only_a_probe_names_never_runs(tmp_path, spec):
    (tmp_path / "crafted.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    save_of_python(tmp_path / "kept", spec=spec)
    with pytest.raises(ModelError) as error:
        open_probe(tmp_path / "kept", FREE)
    assert f"needs the model `{spec}`" in error.value.found
    assert error.value.fix == "if you trust the model, add --model SPEC"
    assert not (tmp_path / "ran").exists()
    assert "crafted" not in sys.modules


def test_pickles_and_foreign_code_are_only_for_models_that_the_user_names(
    tiny, tmp_path, monkeypatch
):
    loaded = []

    def watched(spec, options, readout):
        loaded.append((options.allow_pickle, options.trust_remote_code, options.dtype))
        return load_latent_reader(spec, options, readout)

    monkeypatch.setattr(similarity_module, "load_latent_reader", watched)
    open_probe(tiny.folder, FREE)
    open_probe(tiny.folder, FREE, str(tmp_path / "model"))
    assert loaded == [(False, False, "float32"), (True, True, "float32")]


def test_a_model_with_code_of_its_own_opens_where_it_is_named_with_the_option(tiny, tmp_path):
    (tmp_path / "model" / "modeling_own.py").write_text("WORD = 1\n", encoding="utf-8")
    free = replace(CPU, trust_remote_code=True)
    reader = load_latent_reader(
        tiny.reader.spec,
        replace(free, dtype="float32"),
        Readout(kind="prompt", template=tiny.reader.prompt),
    )
    assert reader.fingerprint != tiny.reader.fingerprint
    save_probe(SavedProbe(probe=tiny.probe, source=source_of(reader)), tmp_path / "own")
    with pytest.raises(ModelError) as error:
        open_probe(tmp_path / "own", free)
    assert "current location: --model SPEC, with --allow-pickle or --trust" in error.value.fix
    named = open_probe(tmp_path / "own", free, str(tmp_path / "model"))
    assert named.reader.fingerprint == reader.fingerprint
