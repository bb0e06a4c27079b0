"""Models are known before they are loaded, and named once."""

from dataclasses import replace

import numpy as np
import pytest

from scope.errors import RunError
from scope.jobs.probe.saving import (
    DESCRIPTION,
    prepare_folder,
    readout_of,
    with_dtype,
)
from scope.models.latents.source import natural_dtype
from scope.models.options import ONE_WORD, ModelOptions, Readout
from scope.probes import LatentSource, SavedProbe, SimilarityProbe, save_probe

CPU = ModelOptions(device="cpu")


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


SOURCE = LatentSource(
    spec="hf:llama", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
)


def test_other_files_are_never_mixed_with_a_probe(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=r"contains no probe, but `notes.txt`"):
        prepare_folder(tmp_path, SOURCE)
    with pytest.raises(RunError, match=r"notes.txt` is a file"):
        prepare_folder(tmp_path / "notes.txt", SOURCE)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_is_new_or_has_a_probe_of_the_same_model(tmp_path):
    prepare_folder(tmp_path / "a" / "b", SOURCE)
    assert list((tmp_path / "a" / "b").iterdir()) == []
    latents = np.random.default_rng(0).normal(size=(2, 3, 1, 4))
    probe = SimilarityProbe(step="raw").fit(*latents, [0, 1, 2])
    source = replace(SOURCE, spec="hf:moved")
    save_probe(SavedProbe(probe=probe, source=source), tmp_path / "a" / "b")
    prepare_folder(tmp_path / "a" / "b", SOURCE)
    # Nothing is known of the model of a damaged one.
    (tmp_path / DESCRIPTION).write_text("old", encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)
