"""Paths that a user gives, the system's errors about them, and SCoPE's own folder.

Checksums that detect accidental damage, not forgery.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from scope.errors import ResourceError, ScopeError, SpecError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The disk has no room left, or the user's share of it."""

FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""The user may not read or write there."""

REMEDIES: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOENT: "check the path",
        errno.ENOTDIR: "check the path: a part of it is a file",
        errno.EISDIR: "name a file in it",
        errno.ELOOP: "check the links on the path",
        errno.ENAMETOOLONG: "choose a shorter name",
        **dict.fromkeys(
            (errno.EEXIST, errno.ENOTEMPTY), "choose another path, or move what is there"
        ),
        **dict.fromkeys(FORBIDDEN, "change its permissions, or choose another path"),
        errno.EROFS: "choose another path",
        **dict.fromkeys(FULL, "free some space and run the same command again"),
        errno.EFBIG: "choose another disk",
        errno.EIO: "check the disk",
        **dict.fromkeys((errno.ENXIO, errno.ENODEV, errno.EINVAL), "name an ordinary file"),
        errno.ESTALE: "check the network's disk",
        errno.EMFILE: "close other programs, or raise the limit: ulimit -n",
        **dict.fromkeys((errno.ENFILE, errno.ENOMEM), "close other programs"),
    }
)
"""The fix for an error of the file system; any other error indicates a bug."""


CacheKind = Literal["answers", "searches", "vectors", "latents"]
"""What is kept across runs: answers of models, results of searches, vectors of questions, and
latents of texts."""


def cache_folder() -> Path:
    """The folder named by the environment variable ``SCOPE_CACHE``, else ``~/.cache/scope``.

    It need not exist yet. An empty variable counts as unset.
    """
    return expanded(os.environ.get("SCOPE_CACHE") or "~/.cache/scope")


def expanded(path: str | Path) -> Path:
    """The path that a user wrote, with ``~`` and ``~NAME`` replaced by the home folder.

    Raises
    ------
    SpecError
        When there is no such user, or the user has no home.

    Examples
    --------
    >>> expanded("runs/mine").as_posix(), expanded("~/mine") == Path.home() / "mine"
    ('runs/mine', True)
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise SpecError(
            f"the path `{path}`, and no home folder for it",
            expected="a path, or ~ or ~NAME of a user who has a home folder",
            fix=f"write the path out, or ./{path} for a folder of that name",
        ) from error


def without_home(text: str) -> str:
    """The text with ``~`` in place of the user's home folder, for privacy.

    A path is the same afterwards for SCoPE, which expands ``~`` wherever it takes a path.

    Examples
    --------
    >>> without_home(f"hf:{Path.home()}/models/mine"), without_home("/elsewhere/mine")
    ('hf:~/models/mine', '/elsewhere/mine')
    """
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - without a home it stays ~
    return re.sub(rf"(?<![\w.~/-]){re.escape(home)}(?![\w.-])", "~", text) if home else text


def from_system(error: OSError) -> ScopeError | None:
    """What the user can do about an error of the file system; None where it can only be a bug.

    Examples
    --------
    >>> print(from_system(PermissionError(errno.EACCES, "Permission denied", "answers.csv")))
    found:    `answers.csv` cannot be used: Permission denied
    expected: a path that can be read or written
    fix:      change its permissions, or choose another path
    """
    remedy = REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    reason = error.strerror or str(error)
    named = "a file" if error.filename is None else f"`{os.fsdecode(error.filename)}`"
    return ResourceError(
        f"{named} cannot be used: {reason}",
        expected="a path that can be read or written",
        fix=remedy,
    )


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
