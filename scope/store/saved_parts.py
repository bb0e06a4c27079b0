"""A fitted object on disk: arrays as safetensors, the rest as JSON with their digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import RunError
from scope.paths import sealed, unsealed
from scope.printing import first_line
from scope.store import files
from scope.untrusted import converting

Described = TypeVar("Described")

Scalar = bool | int | float | str | None
"""A parameter as JSON has it."""


@dataclass(frozen=True, kw_only=True)
class SavedParts:
    """The names of two files that go together, and how to come by them.

    ``numbers`` holds the arrays, ``description`` all else, and the digest of the other. ``origin``
    says in a few words what writes them, ``first`` what to do where there are none yet, and
    ``again`` where they are lost.
    """

    numbers: str
    description: str
    origin: str
    first: str
    again: str

    def write(self, folder: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
        """Write arrays in one step, in a folder made if there is none; return their SHA-256.

        Raises
        ------
        RunError
            When the disk is full or may not be written; the old file stays.
        """
        from safetensors.numpy import save

        with files.guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
        content = save(dict(arrays))
        files.write_atomically(folder / self.numbers, content)
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
        with files.guarded(path):
            files.require_file(path)
            try:
                content = path.read_bytes()
            except FileNotFoundError as error:
                raise self.damaged(path, "there is no such file") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise self.damaged(path, f"its digest is not the one in `{self.description}`")
        try:
            # Copied: the arrays that were read may be unaligned and are read-only.
            return {name: np.array(array) for name, array in load(content).items()}
        except (SafetensorError, KeyError) as error:
            # A KeyError is of a kind of number that NumPy does not have.
            raise self.damaged(path, str(error)) from error

    def describe(self, folder: Path, record: object) -> None:
        """Write a record in one step, after the arrays whose digest it holds.

        Raises
        ------
        RunError
            When the disk is full or may not be written; the old file stays.
        """
        from pydantic import TypeAdapter

        plain = TypeAdapter(type(record)).dump_python(record)
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
        files.write_atomically(folder / self.description, sealed(text + "\n"))

    def described(self, folder: Path, kind: type[Described], formats: int) -> Described:
        """Read a record of that kind, whose field ``format`` must be of this release.

        Raises
        ------
        RunError
            When there is none, or it is damaged or of another format.
        """
        from pydantic import TypeAdapter, ValidationError

        path = folder / self.description
        text = files.read_text(path)
        if text is None:
            raise RunError(
                f"no `{self.description}` in `{folder}`",
                expected=f"a folder that {self.origin} wrote",
                fix=f"name that folder, or {self.first}",
            )
        try:
            content = unsealed(text).text
        except ValueError as error:
            raise self.damaged(path, str(error)) from error
        try:
            # Earlier releases wrote no checksum; a broken one is an unknown field.
            return TypeAdapter(kind).validate_json(content, strict=True)
        except ValidationError as error:
            complaints = error.errors(include_url=False, include_context=False)
        # Another format outweighs all other complaints.
        for complaint in complaints:
            if complaint["loc"] == ("format",) and complaint["type"] == "literal_error":
                raise RunError(
                    f"`{path}` has format {complaint['input']!r}",
                    expected=f"format {formats}",
                    fix=f"read it with the release of SCoPE that wrote it, or {self.again}",
                )
        place = ".".join(map(str, complaints[0]["loc"]))
        where = f"at `{place}`: " if place else ""
        raise self.damaged(path, f"{where}{complaints[0]['msg']}")

    def restoring(self, folder: Path) -> AbstractContextManager[None]:
        """Report parts that cannot be reassembled as damaged, for any error."""

        def not_together(error: BaseException) -> RunError:
            reason = f"its parts do not go together ({first_line(error)})"
            return self.damaged(folder / self.description, reason)

        return converting(not_together, passing=(KeyboardInterrupt,))

    def damaged(self, path: Path, reason: str) -> RunError:
        """The error of a file that SCoPE did not write as it is."""
        return RunError(
            f"`{path}` is damaged: {reason}",
            expected=f"`{self.numbers}` and `{self.description}` as SCoPE wrote them together",
            fix=f"restore both from a copy, or {self.again}",
        )


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """An estimator's parameters as JSON has them; a search over them gives NumPy's numbers."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def digest_of(known: object, arrays: Mapping[str, NDArray[Any]]) -> str:
    """16 hexadecimal digits: a hash of a description and its numbers."""
    digest = hashlib.sha256(repr(known).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
