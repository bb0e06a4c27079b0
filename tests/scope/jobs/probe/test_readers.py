"""Models are known before they are loaded, and named once."""

import json
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from tiny_heads import write_tiny_bert_mlm
from toy_readers import Bags

from scope.errors import RunError, ScopeError, SpecError
from scope.jobs.probe.readers import (
    NamedProgress,
    card_of,
    load_readers,
    names_of,
    prepare_folder,
    read_texts,
    readout_of,
    source_of,
    with_dtype,
)
from scope.jobs.probe.saving import DESCRIPTION
from scope.models import ModelOptions
from scope.models.latents import Readout, natural_dtype
from scope.models.latents.reader import ONE_WORD
from scope.probes import LatentSource
from scope.progress import Silent

CPU = ModelOptions(device="cpu")


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "bert"
    write_tiny_bert_mlm(folder)
    return folder


def test_auto_is_the_natural_precision_and_another_is_taken_as_it_is():
    assert with_dtype(CPU, "auto").dtype == natural_dtype("cpu")
    assert with_dtype(CPU, "float16").dtype == "float16"
    assert with_dtype(CPU, "float16").device == "cpu"


def test_a_prompt_alone_is_a_readout_and_nothing_is_none(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("\nSay {text} \n", encoding="utf-8")
    assert readout_of(None, None) is None
    assert readout_of("last", None) == Readout(kind="last")
    assert readout_of("prompt", None).prompt == ONE_WORD
    assert readout_of(None, path) == readout_of("prompt", "Say {text} ")


def test_a_prompts_file_must_be_text(tmp_path):
    (tmp_path / "prompt.txt").write_bytes(b"\xff{text}")
    for path in (tmp_path, tmp_path / "gone.txt", tmp_path / "prompt.txt"):
        with pytest.raises(SpecError, match="the prompt's file"):
            readout_of(None, path)


@pytest.mark.parametrize(("kind", "prompt"), [("first", None), ("mean", "{text}"), (None, "say")])
def test_a_readout_that_cannot_be_is_refused(kind, prompt):
    with pytest.raises(ScopeError):
        readout_of(kind, prompt)


def test_what_is_told_of_a_checkpoint_is_how_it_is_read(bert):
    (reader,) = load_readers([str(bert)], CPU, readout_of(None, "a {text} film"))
    source = source_of(reader)
    assert (source.spec, source.dtype) == (f"hf:{bert}", "float32")
    assert (source.readout, source.prompt) == ("prompt", "a {text} film")
    assert source.fingerprint == reader.fingerprint
    assert names_of([source]) == ("bert",)
    card = card_of("bert", source, SimpleNamespace(truncated=3, reproducible=""))
    assert (card.role, card.fingerprint, card.truncated) == ("model", reader.fingerprint, 3)


def test_a_reader_of_python_says_itself_where_it_reads():
    source = source_of(Bags())
    assert (source.readout, source.prompt, source.dtype) == ("its own", None, "float32")


def test_texts_are_read_once_and_the_record_tells_the_shape():
    texts = ("the film", "who saw bob in paris again", "the film")
    model = read_texts("bags", Bags(), texts, Silent())
    record = model.record()
    assert (record.name, record.layers, record.width, record.prompt) == ("bags", 3, 8, None)
    assert model.table.truncated == 1


def test_progress_is_told_by_name():
    told = []

    class Telling(Silent):
        def task(self, description, total, done=0):
            told.append((description, total, done))
            return super().task(description, total, done)

    with NamedProgress("bert", Telling()).task("latents", 5, 2) as advance:
        advance()
    assert told == [("bert: latents", 5, 2)]


SOURCE = LatentSource(
    spec="hf:llama", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
)


def test_a_new_folder_is_made_and_left_empty(tmp_path):
    prepare_folder(tmp_path / "a" / "b", SOURCE)
    assert list((tmp_path / "a" / "b").iterdir()) == []
    prepare_folder(tmp_path / "a" / "b", SOURCE)


def test_a_folder_of_a_probe_is_taken_as_it_is(tmp_path):
    (tmp_path / DESCRIPTION).write_text("old", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)
    assert (tmp_path / DESCRIPTION).read_text(encoding="utf-8") == "old"


def test_other_files_are_never_mixed_with_a_probe(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=r"contains no probe, but `notes.txt`"):
        prepare_folder(tmp_path, SOURCE)
    with pytest.raises(RunError, match=r"notes.txt` is a file"):
        prepare_folder(tmp_path / "notes.txt", SOURCE)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_in_which_no_file_can_be_made_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("scope.store.folder.os.access", lambda *_: False)
    with pytest.raises(RunError) as error:
        prepare_folder(tmp_path / "kept", SOURCE)
    assert "cannot be read or written: Permission denied" in error.value.found
    assert error.value.fix == "choose another folder with --save"


def test_a_probe_of_the_same_model_is_replaced_wherever_the_model_lies(tmp_path):
    kept = json.dumps({"source": asdict(replace(SOURCE, spec="hf:moved"))})
    (tmp_path / DESCRIPTION).write_text(kept, encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)


def test_a_probe_of_another_model_is_not_replaced_and_both_are_named(tmp_path):
    kept = json.dumps({"source": asdict(replace(SOURCE, spec="hf:bert", fingerprint="34cd"))})
    (tmp_path / DESCRIPTION).write_text(kept, encoding="utf-8")
    with pytest.raises(RunError) as error:
        prepare_folder(tmp_path, SOURCE)
    assert "contains a probe of `hf:bert` with the fingerprint `34cd`" in error.value.found
    assert "`hf:llama`" in error.value.expected
    assert "the fingerprint `12ab`" in error.value.expected
    assert (tmp_path / DESCRIPTION).read_text(encoding="utf-8") == kept


@pytest.mark.parametrize("text", ["[]", "{}", '{"source": 3}', '{"source": {"spec": "hf:a"}}'])
def test_a_probe_that_says_nothing_of_its_model_may_be_replaced(tmp_path, text):
    (tmp_path / DESCRIPTION).write_text(text, encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)
