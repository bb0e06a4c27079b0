"""``gguf:PATH``: causal language models in the file format of llama.cpp."""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scope.errors import ModelError
from scope.foreign import converting
from scope.models.causal import CausalModel
from scope.models.gguf_tokenizer import load_tokenizer
from scope.models.heads import Head
from scope.models.huggingface import longest_input
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers
from scope.paths import expanded
from scope.printing import first_line

_MAGIC = b"GGUF"
_ENDINGS = (KeyboardInterrupt, SystemExit)


def load(rest: str, options: ModelOptions) -> CausalModel:
    """Load a GGUF file as a causal language model, its weights unpacked to ``options.dtype``.

    Raises
    ------
    ModelError
        When there is no such file, it is damaged or no GGUF, its architecture cannot be read, or
        the package that reads it is missing.
    SpecError
        When a prompt in the options is none.
    """
    return CausalModel(load_gguf_parts(rest, options), spec=f"gguf:{rest}", options=options)


def identify(rest: str, options: ModelOptions) -> str:
    """The fingerprint of the model that a file holds, which is not loaded for it.

    Raises
    ------
    ModelError
        When there is no such file, or it is not a GGUF file.
    """
    path = expanded(rest)
    _require_gguf(path)
    return _fingerprint(path, options)


def load_gguf_parts(rest: str, options: ModelOptions) -> Head:
    """The language model of a GGUF file with its tokenizer.

    Raises
    ------
    ModelError
        When there is no such file, it is damaged or no GGUF, its architecture cannot be read, or
        the package that reads it is missing.
    """
    path = expanded(rest)
    fingerprint = identify(rest, options)
    library = _library()
    transformers, torch = quiet_transformers(), load_torch()
    device = choose_device(options.device)
    # Damaged files raise whatever the libraries that read them raise; a panic is no Exception.
    with (
        converting(lambda error: _unreadable(path, first_line(error)), passing=_ENDINGS),
        _quietly(),
        _alone(path) as file,
    ):
        fields = _header(library.GGUFReader(path))
        tokenizer = load_tokenizer(file, fields)
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent,
            gguf_file=file.name,
            trust_remote_code=False,
            dtype=getattr(torch, options.dtype),
            output_loading_info=True,
        )
    if report["missing_keys"]:
        raise _unreadable(path, f"it lacks {', '.join(sorted(report['missing_keys'])[:4])}")
    _add_end_of_turn(model, fields)
    return Head(model.to(device).eval(), tokenizer, fingerprint, longest_input(model, tokenizer))


def _require_gguf(path: Path) -> None:
    if not path.is_file():
        raise ModelError(
            f"no file `{path}`",
            expected="the path of a .gguf file",
            fix="check the path; a model on the hub is downloaded first, for example with "
            "`hf download REPOSITORY FILE`",
        )
    with path.open("rb") as file:
        begins = file.read(len(_MAGIC))
    if begins != _MAGIC:
        raise ModelError(
            f"`{path}` begins with {begins!r}",
            expected=f"a GGUF file, which begins with {_MAGIC!r}",
            fix="name the .gguf file itself; for a checkpoint's folder write hf:FOLDER",
        )


def _library() -> Any:
    try:
        import gguf
    except ImportError as error:
        raise ModelError(
            f"the package gguf cannot be imported ({error})",
            expected="the package that reads GGUF files",
            fix="pip install gguf",
        ) from error
    return gguf


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the progress bars and notices of the readers, which know no option for it."""
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _alone(path: Path) -> Iterator[Path]:
    """The file in a folder of its own.

    The library would also read what lies beside it: the names of classes in configurations, and
    even a file of code.
    """
    with TemporaryDirectory(prefix="scope-") as folder:
        link = Path(folder) / path.name
        try:
            link.symlink_to(path.resolve())
        # Not every user may make links on every system.
        except OSError:
            os.link(path, link)
        yield link


def _header(reader: Any) -> Mapping[str, Any]:
    return {name: field.contents() for name, field in reader.fields.items()}


def _add_end_of_turn(model: Any, fields: Mapping[str, Any]) -> None:
    """A chat's replies end with a token of their own, which the library does not read."""
    number = fields.get("tokenizer.ggml.eot_token_id")
    settings = model.generation_config
    ends = settings.eos_token_id
    known = ends if isinstance(ends, list) else [ends] * (ends is not None)
    if number is not None and number not in known:
        settings.eos_token_id = [*known, int(number)]


def _fingerprint(path: Path, options: ModelOptions) -> str:
    digest = hashlib.sha256(options.dtype.encode())
    with path.open("rb") as file:
        digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _unreadable(path: Path, reason: str) -> ModelError:
    return ModelError(
        f"`{path}` cannot be loaded ({reason})",
        expected="a whole GGUF file of an architecture that transformers can read, such as llama, "
        "qwen2, qwen3, gemma2 or gemma3",
        fix="check that the file is complete; or serve it with llama.cpp and name the server as "
        "openai:URL#MODEL",
    )
