"""Imports torch so that answers do not depend on the batch they were computed in."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from scope.errors import ModelError
from scope.models.options import Device
from scope.models.threads import available_cores, waiting_threads_sleep


def load_torch() -> Any:
    """Torch, with its matrix products set to one order of summation wherever MKL can keep to it.

    Without this, MKL chooses its kernel by the number of rows, and a text's probabilities change
    in the seventh digit with the size of its batch: enough to turn a close search the other way.
    Not every processor keeps to it for few rows: see `scope.models.inference`. The setting is read
    when MKL first computes, so it must stand before; a user's own stays.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    # Threads that wait for each other must not keep a core from the one that works: on a busy
    # machine a small model is several times as slow otherwise.
    waiting_threads_sleep()
    # OpenMP heeds the cores that a process may run on, but not a container's share of their time.
    os.environ.setdefault("OMP_NUM_THREADS", str(available_cores()))
    import torch

    return torch


@contextmanager
def torch_threads(number: int | None) -> Iterator[Any]:
    """Torch, which computes with so many threads inside, and as before afterwards.

    None leaves the number as it is.
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


def one_torch_thread() -> AbstractContextManager[Any]:
    """Torch, which computes with one thread inside, and as before afterwards."""
    return torch_threads(1)


def quiet_transformers() -> Any:
    """Transformers, without its progress bars, advice and deprecation notices."""
    load_torch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    # It would ask at the terminal whether to run a checkpoint's code, where nobody asked it to.
    transformers.dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    return transformers


def choose_device(wanted: Device) -> Any:
    """The device that was asked for, or the best one here.

    Raises
    ------
    ModelError
        When the device that was asked for is not there.
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
