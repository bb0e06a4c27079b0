"""The numbers of a saved probe: one safetensors file, known by its digest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import RunError
from scope.store.trouble import guarded

NUMBERS, DESCRIPTION = "probe.safetensors", "probe.json"


def read_numbers(path: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Read arrays from safetensors, if the file has this digest.

    Raises
    ------
    RunError
        When there is no such file, or it was changed.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    with guarded(path):
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise damaged(path, "there is no such file") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise damaged(path, f"its digest is not the one in `{DESCRIPTION}`")
    try:
        # Copied, as what is read stands anywhere in memory and may not be written to.
        return {name: np.array(array) for name, array in load(content).items()}
    except (SafetensorError, KeyError) as error:
        # A KeyError is of a kind of number that NumPy does not have.
        raise damaged(path, str(error)) from error


def damaged(path: Path, reason: str) -> RunError:
    """The error of a file of a probe that SCoPE did not write as it is."""
    return RunError(
        f"`{path}` is damaged: {reason}",
        expected=f"`{NUMBERS}` and `{DESCRIPTION}` as SCoPE wrote them together",
        mend="restore both from a copy, or fit the probe again",
    )
