"""Checksums that detect accidental damage, not forgery."""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path
from typing import NamedTuple

_SEAL = re.compile(r'\A\{\n"checksum":"([0-9a-f]{8})",')


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Unsealed(NamedTuple):
    """A text without its checksum, and whether it had one."""

    text: str
    had_checksum: bool


def sealed(text: str) -> str:
    """The text of a JSON object with its checksum as the first entry.

    Examples
    --------
    >>> print(sealed('{"seed": 0}'))
    {
    "checksum":"0bcad144","seed": 0}
    """
    return f'{{\n"checksum":"{zlib.crc32(text.encode()):08x}",{text[1:]}'


def unsealed(text: str) -> Unsealed:
    """The text without its checksum; a text that has none is returned unchanged.

    Raises
    ------
    ValueError
        When the checksum is not that of the text.

    Examples
    --------
    >>> unsealed(sealed('{"seed": 0}'))
    Unsealed(text='{"seed": 0}', had_checksum=True)
    >>> unsealed(sealed('{"seed": 0}').replace("0}", "1}"))
    Traceback (most recent call last):
    ...
    ValueError: its content does not match its checksum
    """
    seal = _SEAL.match(text)
    if seal is None:
        return Unsealed(text, had_checksum=False)
    content = "{" + text[seal.end() :]
    if int(seal[1], 16) != zlib.crc32(content.encode("utf-8", "surrogatepass")):
        raise ValueError("its content does not match its checksum")
    return Unsealed(content, had_checksum=True)
