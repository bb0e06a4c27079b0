"""A saved probe opens with its own model alone."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from tiny_language import write_tiny_llama
from tiny_probe import write_probe
from toy_readers import Bags, Other

from scope.errors import ModelError, RunError, SpecError
from scope.jobs.probe import opening
from scope.jobs.probe.opening import open_probe
from scope.jobs.probe.readers import source_of
from scope.models import ModelOptions
from scope.models.latents import Readout
from scope.models.loading import load_latent_reader
from scope.probes import SavedProbe, SimilarityProbe, save_probe
from scope.probes.saving import DESCRIPTION

CPU = ModelOptions(device="cpu", dtype="bfloat16", token_budget=64)


@pytest.fixture
def tiny(tmp_path):
    write_tiny_llama(tmp_path / "model", chat=False)
    readout = Readout(kind="prompt", template="the film {text} was")
    return write_probe(tmp_path / "probe", tmp_path / "model", readout)


def test_the_model_is_read_as_the_probe_knows_it_whatever_the_options(tiny):
    opened = open_probe(tiny.folder, CPU)
    assert (opened.source.dtype, opened.source.prompt) == ("float32", "the film {text} was")
    assert opened.reader.fingerprint == tiny.reader.fingerprint
    latents = opened.reader.latents(["ann saw bob", "a dull film"])
    np.testing.assert_array_equal(
        opened.probe.predict(latents[:1], latents[1:]),
        tiny.probe.predict(latents[:1], latents[1:]),
    )


def test_the_model_may_have_moved(tiny, tmp_path):
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(ModelError) as error:
        open_probe(tiny.folder, CPU)
    assert error.value.fix == "give its current location: --model SPEC"
    assert tiny.reader.fingerprint in error.value.expected
    opened = open_probe(tiny.folder, CPU, str(tmp_path / "moved"))
    assert opened.source.spec == f"hf:{tmp_path / 'moved'}"
    with pytest.raises(ModelError) as error:
        open_probe(tiny.folder, CPU, str(tmp_path / "nowhere"))
    assert error.value.fix != "give its current location: --model SPEC"


def test_another_model_is_refused_with_both_fingerprints(tiny, tmp_path):
    write_tiny_llama(tmp_path / "other", chat=False, seed=1)
    with pytest.raises(ModelError) as error:
        open_probe(tiny.folder, CPU, str(tmp_path / "other"))
    assert f"`{tiny.reader.fingerprint}`" in error.value.expected
    assert "with fingerprint `" in error.value.found


def test_a_model_of_another_scheme_is_none_of_the_probes(tiny):
    with pytest.raises(SpecError, match="the readout prompt for the scheme `python`"):
        open_probe(tiny.folder, CPU, "python:toy_readers:Bags")


def test_the_digest_changes_with_the_numbers_and_the_source_but_not_with_the_place(tiny, tmp_path):
    digest = open_probe(tiny.folder, CPU).digest
    (tmp_path / "model").rename(tmp_path / "moved")
    moved = open_probe(tiny.folder, CPU, str(tmp_path / "moved"))
    assert moved.digest == digest
    tiny.probe.calibration_ = tiny.probe.calibration_._replace(scale=7.0)
    save_probe(SavedProbe(probe=tiny.probe, source=moved.source), tmp_path / "changed")
    assert open_probe(tmp_path / "changed", CPU).digest != digest


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dtype": "float33"}, "no dtype is called `float33`"),
        ({"readout": "first"}, "a readout called `first`"),
        ({"prompt": "no slot"}, "a prompt with 0 slots"),
    ],
)
def test_a_source_that_cannot_be_is_a_damaged_file(tiny, changed, said):
    path = tiny.folder / DESCRIPTION
    kept = json.loads(path.read_text(encoding="utf-8"))
    del kept["checksum"]
    told = {**kept, "source": {**kept["source"], **changed}}
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(RunError, match=f"is damaged: {said}"):
        open_probe(tiny.folder, CPU)


SENTENCES = ["the film", "ann saw", "bob in paris", "a dull film"]


def save_with(source, folder):
    """A probe of toy latents in a folder, which says that they are of the source."""
    latents = Bags().latents(SENTENCES)
    probe = SimilarityProbe(step="raw").fit(latents[:2], latents[2:], [1, 4])
    save_probe(SavedProbe(probe=probe, source=source), folder)


def test_a_probe_of_a_reader_of_python_opens_where_the_user_names_it(tmp_path):
    source = source_of(Bags())
    save_with(source, tmp_path / "kept")
    assert open_probe(tmp_path / "kept", CPU, source.spec).source == source
    with pytest.raises(ModelError, match="fingerprint `toy-Other`"):
        open_probe(tmp_path / "kept", CPU, "python:toy_readers:Other")


def save_of_python(folder, latents):
    """A probe of the toy reader, which keeps these latents to recognise it."""
    probe = SimilarityProbe(step="raw").fit(latents[:2], latents[2:], [1, 4])
    canaries = dict(zip(SENTENCES, latents, strict=True))
    saved = SavedProbe(probe=probe, source=source_of(Bags()), canaries=canaries)
    save_probe(saved, folder)


def test_a_reader_of_python_with_the_latents_of_its_probe_is_its_model(tmp_path):
    nearly = Bags().latents(SENTENCES) * np.float32(1.0005)
    save_of_python(tmp_path / "kept", nearly)
    opened = open_probe(tmp_path / "kept", CPU, "python:toy_readers:Bags")
    assert opened.reader.fingerprint == "toy-Bags"


def test_another_reader_under_the_same_fingerprint_is_not_the_probes_model(tmp_path):
    save_of_python(tmp_path / "kept", Other().latents(SENTENCES))
    with pytest.raises(ModelError, match="`python:toy_readers:Bags` is not the model") as error:
        open_probe(tmp_path / "kept", CPU, "python:toy_readers:Bags")
    assert error.value.fix.endswith(f"fit the probe in `{tmp_path / 'kept'}` again")


@pytest.mark.parametrize("spec", ["python:crafted:Reader", "crafted-plugin:x", "openai:http://a#b"])
def test_what_a_probe_names_by_itself_never_runs_as_code(tmp_path, spec):
    (tmp_path / "crafted.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    save_with(replace(source_of(Bags()), spec=spec), tmp_path / "kept")
    with pytest.raises(ModelError) as error:
        open_probe(tmp_path / "kept", replace(CPU, trust_remote_code=True, allow_pickle=True))
    assert f"needs the model `{spec}`" in error.value.found
    assert error.value.fix == "if you trust the model, add --model SPEC"
    assert not (tmp_path / "ran").exists()
    assert "crafted" not in sys.modules


def test_a_probe_that_names_no_model_is_damaged(tmp_path):
    save_with(replace(source_of(Bags()), spec=" "), tmp_path / "kept")
    with pytest.raises(RunError, match="is damaged: it names no model"):
        open_probe(tmp_path / "kept", CPU)


def test_pickles_and_foreign_code_are_for_models_that_the_user_names(tiny, tmp_path, monkeypatch):
    asked = []

    def watched(spec, options, readout):
        asked.append((options.allow_pickle, options.trust_remote_code, options.dtype))
        return load_latent_reader(spec, options, readout)

    monkeypatch.setattr(opening, "load_latent_reader", watched)
    free = replace(CPU, allow_pickle=True, trust_remote_code=True)
    open_probe(tiny.folder, free)
    open_probe(tiny.folder, free, str(tmp_path / "model"))
    assert asked == [(False, False, "float32"), (True, True, "float32")]


def test_a_model_whose_own_code_counts_opens_where_it_is_named_with_the_option(tiny, tmp_path):
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
    assert "--trust-remote-code" in error.value.fix
    assert "add the option and --model SPEC" in error.value.fix
    named = open_probe(tmp_path / "own", free, str(tmp_path / "model"))
    assert named.reader.fingerprint == reader.fingerprint
