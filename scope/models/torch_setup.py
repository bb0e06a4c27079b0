"""Imports torch so that answers do not depend on the batch, and chooses devices and threads.

By default a model computes with all available threads. Two threads that share the products of a
small model wait for each other a thousand times a second. They sleep meanwhile; but where torch was
imported before SCoPE they spin, and on a busy machine each of these waits is long: a small model
then computes with one thread.

Where the supported generations of transformers differ, and what depends on the release.

Numbers of a model that are stored beyond one run name the releases of torch and transformers, so
that releases are never mixed: they may round differently.

Which models' answers runs may share, and what they depend on besides the model's bytes. A model is
certain if its fingerprint covers the bytes of its files and none of its code is foreign:
checkpoints and GGUF files that are named by a spec. An object that is passed from Python is not,
even if SCoPE loaded it: its weights may have changed since. Nor is a checkpoint that may bring its
own code.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from platform import python_version
from typing import Any
from weakref import WeakKeyDictionary

from scope.errors import ModelError
from scope.models.options import Device, DType, ModelOptions


def load_torch() -> Any:
    """Torch, with its matrix products set to one order of summation wherever MKL supports it.

    Without this, MKL chooses its kernel by the number of rows, and a text's probabilities change
    in the seventh digit with the size of its batch: enough to change the result of a close search.
    Not every processor does so for few rows: see `scope.models.inference`. MKL reads the setting
    when it first computes, so it is set before; a user's own is kept.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    # Threads that wait for each other must not keep a core from the one that works: on a busy
    # machine a small model is several times as slow otherwise.
    waiting_threads_sleep()
    # OpenMP respects the cores that a process may run on, but not a container's share of their
    # time.
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = str(available_cores())
    import torch

    return torch


@contextmanager
def torch_threads(number: int | None) -> Iterator[Any]:
    """Torch, which computes with ``number`` threads inside, and as before afterwards.

    None leaves the number unchanged.
    """
    torch = load_torch()
    before = torch.get_num_threads()
    if number is None or number == before:
        yield torch
        return
    torch.set_num_threads(number)
    try:
        yield torch
    finally:
        torch.set_num_threads(before)


def quiet_transformers() -> Any:
    """Transformers, without its progress bars, advice and deprecation notices."""
    load_torch()
    with warnings.catch_warnings(action="ignore"):
        import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    # It would ask at the terminal whether to run a checkpoint's code, where nobody asked it to.
    transformers.dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    return transformers


def choose_device(wanted: Device) -> Any:
    """The requested device, or the best available one.

    Raises
    ------
    ModelError
        When the requested device is not available.
    """
    torch = load_torch()
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name, there in present.items() if there))
    if not present[wanted]:
        raise ModelError(
            f"no {wanted} device on this machine",
            expected=f"one of: {', '.join(name for name, there in present.items() if there)}",
            fix="leave --device out, or check the driver and the build of torch",
        )
    return torch.device(wanted)


SMALL = 50_000_000
"""Parameters below which a model is small: see decision 28."""

_CHOSEN: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def available_cores(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """The number of cores that this process may use, by its affinity and its share of CPU time.

    Parameters
    ----------
    cgroup
        The folder with the limits of a container, of version 2 or 1.
    """
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    quota = _quota(cgroup)
    return cores if quota is None else max(1, min(cores, round(quota)))


def _quota(cgroup: Path) -> float | None:
    """The CPU time of a container, in cores; None where there is no limit."""
    version_1 = ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota, period = ((cgroup / name).read_text().strip() for name in version_1)
        # `max` in version 2 and -1 in version 1 stand for no limit.
        return int(quota) / int(period) if quota not in ("max", "-1") else None
    except (OSError, ValueError, ZeroDivisionError):
        return None


def choose_threads(model: Any, wanted: int | None) -> None:
    """Set the number of threads of a model; None chooses it by the model's size."""
    if wanted is not None:
        _CHOSEN[model] = wanted


def chosen_threads(model: Any) -> int | None:
    """The number that was chosen for a model; None where none was."""
    return _CHOSEN.get(model)


def threads_of(model: Any) -> int | None:
    """Threads that a model computes with; None for as many as torch has."""
    chosen = chosen_threads(model)
    if chosen is not None or waiting_threads_sleep():
        return chosen
    return 1 if sum(parameter.numel() for parameter in model.parameters()) < SMALL else None


@cache
def waiting_threads_sleep() -> bool:
    """Make waiting threads sleep; False where torch was imported without the setting.

    OpenMP reads the variable only when torch is imported.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return os.environ.get("OMP_WAIT_POLICY", "").upper() == "PASSIVE"


@cache
def version(name: str) -> str:
    """The version of a package, read once; empty where it is not installed."""
    try:
        return metadata.version(name)
    except PackageNotFoundError:
        return ""


LIBRARIES = ("torch", "transformers")

SOFTWARE = (
    "scope-models",
    "textattack",
    "torch",
    "transformers",
    "sentence-transformers",
    "openai",
    "numpy",
    "nltk",
    "datasets",
)


def release_of(library: str) -> str:
    """Its version without patch number and build, such as ``2.13``."""
    return ".".join(version(library).split(".")[:2])


def releases() -> str:
    """The releases as part of a file's name, such as ``torch-2.13-transformers-5.24``."""
    return "-".join(f"{library}-{release_of(library)}" for library in LIBRARIES)


def software_versions() -> dict[str, str]:
    """The versions of Python and of the packages that a result may depend on."""
    installed = {name: number for name in SOFTWARE if (number := version(name))}
    return {"python": python_version(), **installed}


def cache_name(model: Any) -> str:
    """The name of the argument and the output that hold a model's key-value cache.

    It is called ``past_key_values`` in earlier releases and ``cache`` in later ones.
    """
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


CHANGING_POSITIONS = ("dynamic", "longrope")
"""Kinds of rotary positions that are set by the longest text at hand and kept for the next."""


def position_kinds(module: Any) -> str:
    """The kinds of rotary positions that a module computes, in one text; empty for none.

    In earlier releases it has one kind, in later ones it may have one for each kind of layer.
    """
    return str(getattr(module, "rope_type", ""))


def gives_tuple(layer: Any) -> bool:
    """Whether a BERT layer returns a tuple, as up to transformers 5, and not only its output."""
    torch = load_torch()
    width = layer.attention.self.query.in_features
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        return isinstance(layer(torch.zeros(1, 1, width)), tuple)


_CPU_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def natural_dtype(device: Device) -> DType:
    """The precision of ``auto``: bfloat16 where the processor multiplies it natively.

    Such a processor reads a model several times as fast in bfloat16 as in float32. Others emulate
    it more slowly than they compute float32; for them the result is float32. The processor's own
    report decides, not a timing: the result does not depend on the machine's load.

    Raises
    ------
    ModelError
        When the device is not available.

    Examples
    --------
    >>> natural_dtype("cpu") in ("bfloat16", "float32")
    True
    """
    kind = choose_device(device).type
    if kind == "cuda":
        # Emulation, which is slow, counts as support unless it is left out.
        native = load_torch().cuda.is_bf16_supported(including_emulation=False)
    else:
        native = kind == "cpu" and _cpu_multiplies_it()
    return "bfloat16" if native else "float32"


def _cpu_multiplies_it() -> bool:
    cpu = load_torch().cpu
    if hasattr(cpu, "get_capabilities"):
        offered = cpu.get_capabilities()
        return any(offered.get(name, False) for name in _CPU_INSTRUCTIONS)
    # Earlier releases of torch use other names.
    return bool(cpu._is_amx_tile_supported() or cpu._is_avx512_bf16_supported())


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


def mark_computed(model: object, how: str) -> None:
    """Mark a model with its hardware and settings: with these, its bytes decide its answers."""
    setattr(model, _MARK, how)


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


def computed_by_torch(options: ModelOptions) -> str:
    """The device, the libraries and the settings on which the last bits of an answer depend."""
    torch = load_torch()
    device = choose_device(options.device)
    if device.type == "cuda":
        where = f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    else:
        where = f"{processor()}, {torch.backends.cpu.get_cpu_capability()}"
    variables = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    versions = [f"{name} {version(name) or 'none'}" for name in _LIBRARIES]
    precision = (
        f"{torch.get_float32_matmul_precision()} precision, "
        f"TF32 {torch.backends.cuda.matmul.allow_tf32} {torch.backends.cudnn.allow_tf32}"
    )
    wanted = options.threads or torch.get_num_threads()
    threads = f"{wanted} threads, {'asleep' if waiting_threads_sleep() else 'spinning'} in between"
    return ", ".join([device.type, where, precision, threads, options.dtype, *versions, *variables])


@cache
def processor() -> str:
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
