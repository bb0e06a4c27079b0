"""Arrays on disk: one safetensors file, known by the digest in the JSON file beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import RunError
from scope.store.files import write_bytes_atomically
from scope.store.trouble import guarded


@dataclass(frozen=True, kw_only=True)
class SavedNumbers:
    """The names of two files that go together, and how to come by them again.

    ``numbers`` holds the arrays, ``description`` all else, and the digest of the other; ``again``
    says what to do where both are lost.
    """

    numbers: str
    description: str
    again: str

    def write(self, folder: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
        """Write arrays in one step; return the file's SHA-256.

        Raises
        ------
        RunError
            When the disk is full or may not be written; the old file stays.
        """
        from safetensors.numpy import save

        content = save(dict(arrays))
        write_bytes_atomically(folder / self.numbers, content)
        return hashlib.sha256(content).hexdigest()

    def read(self, folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
        """Read arrays, if the file has this digest.

        Raises
        ------
        RunError
            When there is no such file, or it was changed.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        path = folder / self.numbers
        with guarded(path):
            try:
                content = path.read_bytes()
            except FileNotFoundError as error:
                raise self.damaged(path, "there is no such file") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise self.damaged(path, f"its digest is not the one in `{self.description}`")
        try:
            # Copied, as what is read stands anywhere in memory and may not be written to.
            return {name: np.array(array) for name, array in load(content).items()}
        except (SafetensorError, KeyError) as error:
            # A KeyError is of a kind of number that NumPy does not have.
            raise self.damaged(path, str(error)) from error

    def damaged(self, path: Path, reason: str) -> RunError:
        """The error of a file that SCoPE did not write as it is."""
        return RunError(
            f"`{path}` is damaged: {reason}",
            expected=f"`{self.numbers}` and `{self.description}` as SCoPE wrote them together",
            mend=f"restore both from a copy, or {self.again}",
        )
