"""Brings a checkpoint to a local folder, safely, and takes its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scope.errors import ModelError
from scope.foreign import loading
from scope.models.files import OTHER_FORMATS, wanted_files
from scope.models.foreign_code import refuse_foreign_code
from scope.models.options import ModelOptions
from scope.paths import expanded
from scope.printing import first_line

_READ = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors", "*.tiktoken", "*.codes")
_PICKLES = ("*.bin", "*.pt", "*.pth")
_CODE = ("*.py",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A checkpoint's files on this machine, and a hash over their content."""

    folder: Path
    fingerprint: str


def fetch_checkpoint(name: str, options: ModelOptions) -> Checkpoint:
    """The folder of a name or path, downloaded from the hub if need be.

    Parameters
    ----------
    name
        A folder, or ``NAME`` or ``NAME@REVISION`` on the hub.

    Raises
    ------
    ModelError
        When there is no such folder or repository, it holds weights only as pickles and
        ``allow_pickle`` is off, names code of its own and ``trust_remote_code`` is off, or has a
        file that cannot be read.
    """
    with loading(name):
        return _fetch(name, options)


def _fetch(name: str, options: ModelOptions) -> Checkpoint:
    folder = expanded(name)
    if folder.is_file():
        scheme = "gguf" if folder.suffix == ".gguf" else "predictions"
        raise ModelError(
            f"`{name}` is a file",
            expected="a checkpoint's folder, or NAME[@REVISION] of a model on the hub",
            fix=f"did you mean {scheme}:{name}?",
        )
    if not folder.is_dir():
        folder = _download(name, options)
    _refuse_pickles(name, folder, options)
    files = wanted_files(name, folder, _wanted_files(options))
    if not options.trust_remote_code:
        refuse_foreign_code(name, folder)
    return Checkpoint(folder=folder, fingerprint=_fingerprint(folder, files, options))


def _wanted_files(options: ModelOptions) -> tuple[str, ...]:
    return (
        _READ
        + (_PICKLES if options.allow_pickle else ())
        + (_CODE if options.trust_remote_code else ())
    )


def _download(name: str, options: ModelOptions) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    try:
        return Path(
            snapshot_download(
                repository,
                revision=revision or None,
                allow_patterns=list(_wanted_files(options)),
                ignore_patterns=[f"{folder}/*" for folder in OTHER_FORMATS],
            )
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"no folder `{name}`, and the hub did not give a model of that name "
            f"({first_line(error)})",
            expected="a checkpoint's folder, or NAME[@REVISION] of a model on the hub",
            fix="check the spelling and the network; for a private model set HF_TOKEN",
        ) from error


def _refuse_pickles(name: str, folder: Path, options: ModelOptions) -> None:
    if any(folder.glob("*.safetensors")):
        return
    if options.allow_pickle and any(path for kind in _PICKLES for path in folder.glob(kind)):
        return
    here = sorted(path.name for path in folder.iterdir())
    raise ModelError(
        f"`{name}` has no *.safetensors file among {here[:12]}",
        expected="weights as safetensors: a pickled checkpoint can run any code when it is read",
        fix="convert it to safetensors, or, if you trust its author, add --allow-pickle",
    )


def _fingerprint(folder: Path, files: Sequence[Path], options: ModelOptions) -> str:
    digest = hashlib.sha256(options.dtype.encode())
    for path in files:
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
