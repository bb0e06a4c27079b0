import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_latents
from toy_latents import SMALL, STEPS

from scope.errors import RunError
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.saving import (
    DESCRIPTION,
    NUMBERS,
    LatentSource,
    SavedProbe,
    load_probe,
    prepare_folder,
    readout_of,
    save_probe,
    with_dtype,
)
from scope.models.options import ONE_WORD, ModelOptions, Readout
from scope.models.torch_setup import natural_dtype
from scope.paths import unsealed

TOY = toy_latents.pairs()
SOURCE = LatentSource(
    spec="hf:«one»", fingerprint="12ab", readout="prompt", prompt="{text}:", dtype="bfloat16"
)
TESTS = Path(toy_latents.__file__).parent
FORECAST = """
import sys
import toy_latents
from pathlib import Path
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.saving import load_probe
toy = toy_latents.pairs()
for folder in map(Path, sys.argv[1:]):
    fitted = SimilarityProbe(step=folder.name, **toy_latents.SMALL | {"seed": 2}).fit(*toy)
    for probe in (load_probe(folder).probe, fitted):
        sys.stdout.buffer.write(probe.predict(toy.first, toy.second).tobytes())
"""


def saved_of(step="final"):
    probe = SimilarityProbe(step=step, **SMALL | {"seed": np.int64(2)}).fit(*TOY)
    return SavedProbe(probe=probe, source=SOURCE)


def refusal(folder):
    with pytest.raises(RunError) as caught:
        load_probe(folder)
    return str(caught.value)


def change(folder, **changes):
    path = folder / DESCRIPTION
    path.write_text(
        json.dumps(json.loads(unsealed(path.read_text("utf-8")).text) | changes), "utf-8"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("probe")
    save_probe(saved_of(), made)
    return made


@pytest.fixture
def copied(folder, tmp_path):
    for name in (NUMBERS, DESCRIPTION):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


@pytest.mark.slow
def test_a_new_process_with_other_threads_reads_and_fits_the_same_to_the_byte(tmp_path):
    expected = b""
    for step in (*STEPS, "published"):
        saved = saved_of(step)
        save_probe(saved, tmp_path / "new" / step)
        expected += 2 * saved.probe.predict(TOY.first, TOY.second).tobytes()
    folders = [str(tmp_path / "new" / step) for step in (*STEPS, "published")]
    done = subprocess.run(
        [sys.executable, "-c", FORECAST, *folders],
        cwd=TESTS,
        env=os.environ | {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "3"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == expected


def test_the_same_probe_gives_the_same_files_and_replaces_those_there(copied):
    before = {name: (copied / name).read_bytes() for name in (NUMBERS, DESCRIPTION)}
    save_probe(saved_of("raw"), copied)
    assert load_probe(copied).probe.step == "raw"
    save_probe(saved_of(), copied)
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == before


def test_a_probe_of_the_format_before_is_read(copied):
    path = copied / DESCRIPTION
    told = json.loads(unsealed(path.read_text("utf-8")).text)
    del told["canaries"]
    path.write_text(json.dumps(told | {"format": 1}), "utf-8")
    assert load_probe(copied).canaries == {}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unknown": 1}, "at `unknown`"),
        ({"layers": "3"}, "at `layers`"),
        ({"calibration": [1.0]}, "at `calibration"),
        ({"source": vars(SOURCE) | {"dtype": "float33"}}, "at `source.dtype`"),
        ({"source": vars(SOURCE) | {"readout": "first"}}, "at `source.readout"),
        ({"parameters": {"stage": "raw"}}, "do not go together"),
        ({"parameters": {"step": "os"}}, "the step `os`"),
        ({"parameters": {"step": "mlp"}}, "do not go together"),
        ({"parameters": {"low": None}}, "do not go together"),
    ],
)
def test_a_description_that_was_changed_is_refused(copied, changes, told):
    change(copied, **changes)
    assert told in refusal(copied)


def test_a_probe_is_read_back_with_its_source_and_the_latents_that_recognise_its_model(tmp_path):
    saved = saved_of("raw")
    shape = (saved.probe.layers_, saved.probe.width_)
    latents = {text: np.full(shape, place, np.float32) for place, text in enumerate(("a", "ä b"))}
    save_probe(replace(saved, canaries=latents), tmp_path)
    loaded = load_probe(tmp_path)
    assert loaded.source == SOURCE
    assert loaded.probe.get_params() == saved.probe.get_params()
    assert list(loaded.canaries) == list(latents)
    assert all((loaded.canaries[text] == latents[text]).all() for text in latents)
    change(tmp_path, canaries=["a", "ä b", "c"])
    assert "do not go together" in refusal(tmp_path)


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
