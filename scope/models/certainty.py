"""Which models' answers runs may share, and what they depend on besides the model's bytes.

A model is certain if its fingerprint covers the bytes of its files and none of its code is foreign:
checkpoints and GGUF files that are named by a spec. An object that is passed from Python is not,
even if SCoPE loaded it: its weights may have changed since. Nor is a checkpoint that may bring its
own code.
"""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, TypeVar

from scope.models.generations import version
from scope.models.options import ModelOptions
from scope.models.scheme import scheme_of
from scope.models.torch_setup import choose_device, load_torch, waiting_threads_sleep

_MARK = "computed_by"
_LIBRARIES = ("torch", "transformers", "tokenizers", "sentencepiece", "gguf", "numpy")
_VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
)
Model = TypeVar("Model")


def mark_cacheable(model: Model, spec: str, options: ModelOptions) -> Model:
    """Mark a model loaded by a spec with its hardware and settings, if it is certain."""
    if scheme_of(spec).computed and not options.trust_remote_code:
        setattr(model, _MARK, _computed_by(options))
    return model


def carry_mark(wrapper: object, model: object) -> None:
    """Copy the wrapped model's mark."""
    if mark := _mark_of(model):
        setattr(wrapper, _MARK, mark)


def identity_of(model: Any) -> str | None:
    """All that a model's answers depend on, except the input; None where that is uncertain.

    It is also uncertain where no number of rows gives equal bits: an answer then depends on the
    batch.
    """
    mark, reproducible = _mark_of(model), str(getattr(model, "reproducible", ""))
    if not mark or not reproducible.startswith("to the byte"):
        return None
    return f"{model.fingerprint}; {reproducible}; {mark}; {hash_of_source('scope.models')}"


def _mark_of(model: object) -> str:
    # Not by `getattr`: an object of the user's may pass on whatever it is asked for.
    return str(getattr(model, "__dict__", {}).get(_MARK, ""))


def _computed_by(options: ModelOptions) -> str:
    """The device, the libraries and the settings on which the last bits of an answer depend."""
    torch = load_torch()
    device = choose_device(options.device)
    if device.type == "cuda":
        where = f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    else:
        where = f"{_processor()}, {torch.backends.cpu.get_cpu_capability()}"
    variables = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    versions = [f"{name} {_version(name)}" for name in _LIBRARIES]
    precision = (
        f"{torch.get_float32_matmul_precision()} precision, "
        f"TF32 {torch.backends.cuda.matmul.allow_tf32} {torch.backends.cudnn.allow_tf32}"
    )
    wanted = options.threads or torch.get_num_threads()
    threads = f"{wanted} threads, {'asleep' if waiting_threads_sleep() else 'spinning'} in between"
    return ", ".join([device.type, where, precision, threads, options.dtype, *versions, *variables])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


@cache
def _processor() -> str:
    """The processor's name; where the system gives none, its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"{platform.machine()} {platform.processor()}"


@cache
def hash_of_source(*packages: str) -> str:
    """A hash of the source of SCoPE's packages: another release may give other answers.

    Examples
    --------
    >>> len(hash_of_source("scope.models"))
    16
    """
    import importlib.util

    digest = hashlib.sha256()
    for package in packages:
        spec = importlib.util.find_spec(package)
        folders = (spec and spec.submodule_search_locations) or []
        for path in sorted(file for folder in folders for file in Path(folder).rglob("*")):
            if path.suffix in (".py", ".txt", ".tsv"):
                digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
