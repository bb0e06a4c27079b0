"""Kinds: contracts of arrays on disk; what a folder is for stands in its files' names alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from scope.errors import RunError
from scope.store.files import SavedParts

FILES = SavedParts(
    numbers="toy.safetensors",
    description="toy.json",
    origin="`play`",
    first="play first",
    again="play again",
)
ARRAYS = {
    "one": np.arange(6, dtype=np.float32).reshape(2, 3),
    "two": np.array(7),
    "three": np.array([True, False]),
}


def refusal(folder: Path, sha256: str) -> str:
    with pytest.raises(RunError) as caught:
        FILES.read(folder, sha256)
    return str(caught.value)


def test_arrays_are_read_back_as_they_were_and_may_be_written_to(tmp_path: Path) -> None:
    digest = FILES.write(tmp_path, ARRAYS)
    content = (tmp_path / "toy.safetensors").read_bytes()
    assert digest == hashlib.sha256(content).hexdigest()
    found = FILES.read(tmp_path, digest)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)
    found["one"][0, 0] = 5


def test_a_changed_file_is_told_from_the_digest_and_a_missing_one_by_name(tmp_path: Path) -> None:
    digest = FILES.write(tmp_path, ARRAYS)
    path = tmp_path / "toy.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert f"`{path}` is damaged: its digest is not the one in `toy.json`\n" in refusal(
        tmp_path, digest
    )
    path.unlink()
    assert f"`{path}` is damaged: there is no such file" in refusal(tmp_path, digest)


@dataclass(frozen=True, kw_only=True)
class Toy:
    """A record with its format."""

    format: Literal[2]
    colours: tuple[str, ...]


def test_a_record_is_read_back_as_it_was(tmp_path: Path) -> None:
    toy = Toy(format=2, colours=("red", "blü"))
    FILES.describe(tmp_path, toy)
    assert FILES.described(tmp_path, Toy, 2) == toy
    assert '"blü"' in (tmp_path / "toy.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no `toy.json` in"),
        ('{"format": 3, "colours": 1}', "has format 3"),
        ('{"format": 2, "colours": 1}', "is damaged: at `colours`: Input should be"),
        ("red", "is damaged: Invalid JSON"),
    ],
)
def test_what_is_no_such_record_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "toy.json").write_text(text)
    with pytest.raises(RunError) as caught:
        FILES.described(tmp_path, Toy, 2)
    assert message in caught.value.found
    assert caught.value.fix.endswith("play again") or caught.value.fix.endswith("play first")
