"""Checkpoints from a folder, from the hub, and from installed packages."""

import concurrent.futures
import hashlib
import shutil
import subprocess
import sys

import pytest
from packages import write_packages

from scope.errors import ModelError, ResourceError
from scope.models import checkpoint as loader
from scope.models.checkpoint import PackagedEncoder, fetch_checkpoint, packaged_encoder
from scope.models.options import ModelOptions


def write(folder, **contents):
    """Files named by stem and suffix, an underscore for the last dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(content)
    return folder


@pytest.fixture
def checkpoint(tmp_path):
    return write(tmp_path / "model", config_json="{}", model_safetensors="weights")


def fingerprint(folder, **options):
    return fetch_checkpoint(str(folder), ModelOptions(**options)).fingerprint


def test_the_fingerprint_covers_content_names_and_dtype(checkpoint):
    seen = {fingerprint(checkpoint), fingerprint(checkpoint, dtype="float16")}
    for name in ("model_safetensors", "config_json", "vocab_txt", "tokenizer_model"):
        write(checkpoint, **{name: "[]"})
        seen.add(fingerprint(checkpoint))
    (checkpoint / "vocab.txt").rename(checkpoint / "vocabulary.txt")
    seen.add(fingerprint(checkpoint))
    assert len(seen) == 7


def test_the_fingerprint_knows_neither_place_nor_reading_matter_nor_speed(checkpoint, tmp_path):
    first = fingerprint(checkpoint)
    write(checkpoint, README_md="x", modeling_py="x", pytorch_model_bin="x")
    moved = checkpoint.rename(tmp_path / "elsewhere")
    assert fingerprint(moved, token_budget=7, device="cpu") == first
    assert fingerprint(moved, allow_pickle=True) != first
    assert fingerprint(moved, trust_remote_code=True) != first


def test_a_missing_folder_that_can_be_no_hub_name_is_named(tmp_path):
    with pytest.raises(ModelError, match=f"no folder `{tmp_path}/none`\n"):
        fetch_checkpoint(str(tmp_path / "none"), ModelOptions())


NAME = "somebody/some-encoder"
WEIGHTS = bytes(range(256)) * 40
CONTENTS = {
    "inner/": b"",
    "inner/modules.json": b"[]",
    "inner/model.safetensors": WEIGHTS,
    "inner/1_Pooling/config.json": b"{}",
}
ENTRY = PackagedEncoder(
    packages=("some-part-001", "some-part-002", "some-part-003"),
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    version="0.0.1",
)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "PACKAGED", {NAME: ENTRY})
    return tmp_path / "cache"


@pytest.fixture
def install(cache, monkeypatch, tmp_path):
    """Installs packages with those contents, for this test alone."""
    monkeypatch.syspath_prepend(tmp_path / "site")

    def write(contents=CONTENTS):
        write_packages(tmp_path / "site", ENTRY.packages, contents)
        return tmp_path / "site"

    return write


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def refusal():
    with pytest.raises(ResourceError) as raised:
        packaged_encoder(NAME)
    return raised.value


def test_the_parts_are_joined_and_unpacked_once_into_the_cache(cache, install):
    site = install()
    folder = packaged_encoder(NAME)
    assert folder == cache / "encoders" / "somebody--some-encoder"
    assert files_of(folder) == ["1_Pooling/config.json", "model.safetensors", "modules.json"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]
    written = (folder / "modules.json").stat().st_mtime_ns
    shutil.rmtree(site)
    assert packaged_encoder(NAME) == folder
    assert (folder / "modules.json").stat().st_mtime_ns == written
    assert packaged_encoder(f"{NAME}@v1") is None


@pytest.mark.parametrize("what", ["some_part_002-0.0.1.dist-info", "some-part-002_folder"])
def test_a_part_that_is_missing_gives_none(cache, install, what):
    shutil.rmtree(install() / what)
    assert packaged_encoder(NAME) is None
    assert not cache.exists()


def test_other_weights_than_the_known_are_refused_and_not_kept(cache, install):
    install({**CONTENTS, "inner/model.safetensors": b"other"})
    error = refusal()
    assert hashlib.sha256(b"other").hexdigest() in error.found
    assert error.expected == ENTRY.sha256
    assert files_of(cache / "encoders") == [".somebody--some-encoder.lock"]


def test_weights_that_were_changed_in_the_cache_are_refused(install):
    install()
    folder = packaged_encoder(NAME)
    (folder / "model.safetensors").write_bytes(WEIGHTS[:-1])
    assert f"remove {folder}" in refusal().fix
    (folder / "model.safetensors").unlink()
    assert refusal().found == f"{folder / 'model.safetensors'} has the SHA-256 no file"


@pytest.mark.parametrize("member", ["inner/../../outside.txt", "/outside.txt"])
def test_nothing_of_an_archive_is_written_outside_of_its_folder(cache, install, member):
    install({**CONTENTS, member: b"x"})
    folder = packaged_encoder(NAME)
    written = list(cache.parent.rglob("outside.txt"))
    assert all(one.is_relative_to(folder) for one in written)


def test_an_archive_that_is_none_or_holds_no_encoder_is_refused(install):
    site = install()
    part = next((site / "some-part-003_folder").rglob("*.003"))
    part.write_bytes(b"")
    error = refusal()
    assert "BadZipFile" in error.found
    assert "some-part-002==0.0.1 some-part-003==0.0.1 --force-reinstall" in error.fix
    shutil.rmtree(site)
    install({"readme.txt": b"x" * 99})
    assert "holds no encoder" in refusal().found


def test_several_at_once_get_the_same_whole_folder(install, monkeypatch):
    install()
    unpacked = []
    unpack = loader._unpack
    monkeypatch.setattr(loader, "_unpack", lambda *given: unpacked.append(1) or unpack(*given))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(packaged_encoder, [NAME] * 4))
    assert len(set(folders)) == 1
    assert len(unpacked) == 1


KILLED = """
import os, shutil
from scope.models import checkpoint
entry = checkpoint.PackagedEncoder(packages={packages!r}, sha256={sha256!r}, version="0.0.1")
checkpoint.PACKAGED = {{{name!r}: entry}}
checkpoint._verify = lambda folder, packaged: os._exit(9)
checkpoint.packaged_encoder({name!r})
"""


def test_a_kill_before_the_end_leaves_no_folder(cache, install):
    site = install()
    program = KILLED.format(packages=ENTRY.packages, sha256=ENTRY.sha256, name=NAME)
    environment = {"SCOPE_CACHE": str(cache), "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    assert done.returncode == 9
    encoders = cache / "encoders"
    assert not (encoders / "somebody--some-encoder").exists()
    assert (encoders / ".somebody--some-encoder.partial").exists()
    assert files_of(packaged_encoder(NAME))[1:] == ["model.safetensors", "modules.json"]
    assert not (encoders / ".somebody--some-encoder.partial").exists()


def test_a_cache_that_cannot_be_written_is_explained(cache, install):
    install()
    cache.write_text("a file")
    assert "SCOPE_CACHE" in refusal().fix
