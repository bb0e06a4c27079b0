"""Streams the lines of a text file, plain or gzipped; errors give the line.

Here too is the border of all readers: `reading` turns every error of theirs into a `DataError`.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from scope.errors import DataError
from scope.printing import first_line
from scope.progress import watched

UNREADABLE = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What libraries raise on damaged or strange content; of pyarrow's errors too each is one."""

MOST_BYTES_A_LINE = 1 << 24
MOST_BYTES_OF_A_FILE_READ_WHOLE = 1 << 28
_UNPACKED, _TIMES_ITS_SIZE = 1 << 25, 200
"""A packed file is refused that unpacks to more than both; texts shrink three to ten times."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Translate what goes wrong within, naming what was read.

    Examples
    --------
    >>> with reading("a.csv"):
    ...     raise ValueError("month must be in 1..12")
    Traceback (most recent call last):
        ...
    scope.errors.DataError: found:    a.csv cannot be read: ValueError: month must be in 1..12
    expected: a complete file of the type that its name implies
    fix:      check the file and the program that wrote it
    """
    try:
        yield
    except UNREADABLE as error:
        raise DataError(
            f"{name} cannot be read: {first_line(error)}",
            expected="a complete file of the type that its name implies",
            fix="check the file and the program that wrote it",
        ) from error


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file with their line ends, one at a time.

    Raises
    ------
    DataError
        Naming the line that is too long, is not UTF-8, holds a NUL byte or cannot be unpacked;
        or when lines end in carriage returns alone.
    """
    for number, line in enumerate(_raw_lines(path, MOST_BYTES_A_LINE), start=1):
        if number == 1 and b"\r" in line.strip() and not line.endswith(b"\n"):
            raise DataError(
                f"the lines of {path.name} end in carriage returns alone",
                expected="lines that end in a line feed, with or without a carriage return",
                fix=f"convert it: tr '\\r' '\\n' < {path.name} > converted{path.suffix}",
            )
        yield _decode(line, path, number)


def read_whole(path: Path) -> str:
    """The text of a UTF-8 file, plain or gzipped, of at most 256 MiB.

    Raises
    ------
    DataError
        As of `read_lines`, or when it is longer.
    """
    with reading(str(path)):
        packed, size = path.suffix.casefold() == ".gz", path.stat().st_size
    if not packed and size > MOST_BYTES_OF_A_FILE_READ_WHOLE:
        raise _too_long(f"{path.name} is longer", MOST_BYTES_OF_A_FILE_READ_WHOLE)
    lines, size = [], 0
    for number, line in enumerate(_raw_lines(path, MOST_BYTES_OF_A_FILE_READ_WHOLE), start=1):
        size += len(line)
        if size > MOST_BYTES_OF_A_FILE_READ_WHOLE:
            raise _too_long(f"{path.name} is longer", MOST_BYTES_OF_A_FILE_READ_WHOLE)
        lines.append(_decode(line, path, number))
    return "".join(lines)


def read_small_text(path: Path, most: int = 1 << 20) -> str:
    """The text of a file such as a prompt; a pipe that the shell made may be one too.

    Raises
    ------
    DataError
        When it is not a file, is longer than ``most`` bytes, is not UTF-8 or holds a NUL byte.
    """
    with reading(str(path)):
        path = path.expanduser()
        # Nobody writes into a pipe that lies about by chance: reading it would never end.
        if path.exists() and not path.is_file() and not _is_of_the_shell(path):
            raise DataError(
                f"{path} is not a file but a folder, pipe or device",
                expected="a text file, UTF-8",
                fix="name a file",
            )
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    if len(content) > most:
        raise _too_long(f"{path.name} is longer", most)
    return _decode(content, path, 1)


def _is_of_the_shell(path: Path) -> bool:
    """Whether it is the standard input, or what ``<(command)`` stands for."""
    return path == Path("/dev/stdin") or path.parent in (Path("/dev/fd"), Path("/proc/self/fd"))


def _raw_lines(path: Path, most: int) -> Iterator[bytes]:
    number = 0
    try:
        with _open(path) as stream:
            size = path.stat().st_size
            room = max(_UNPACKED, _TIMES_ITS_SIZE * size)
            whole = size if path.suffix.casefold() != ".gz" else None
            lines = iter(lambda: stream.readline(most + 1), b"")
            for line in watched(lines, f"reading {path.name}, in bytes", whole, len):
                number += 1
                room -= len(line)
                if len(line) > most:
                    raise _too_long(f"line {number} of {path.name} is longer", most)
                if room < 0:
                    raise DataError(
                        f"{path.name} decompresses to more than {_TIMES_ITS_SIZE} times its size",
                        expected="a compressed text file, which grows three to ten times",
                        fix="check how it was compressed, or decompress it first",
                    )
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path.name} cannot be decompressed after line {number}: {error}",
            expected="a complete gzip file",
            fix="download or compress the file again",
        ) from error
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror or error}",
            expected="a readable file",
            fix="check its permissions and the disk",
        ) from error


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix.casefold() == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def _decode(line: bytes, path: Path, number: int) -> str:
    if b"\0" in line or (number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff"))):
        raise DataError(
            f"a NUL byte in line {number} of {path.name}"
            if b"\0" in line
            else f"the byte order mark of UTF-16 in {path.name}",
            expected="a text file in UTF-8",
            fix="if the file is UTF-16, convert it: iconv -f UTF-16 -t UTF-8",
        )
    try:
        # Spreadsheets put a byte order mark before the name of the first column.
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise DataError(
            f"line {number} of {path.name} is not UTF-8 (byte 0x{byte:02x})",
            expected="a text file in UTF-8",
            fix="convert it, for example: iconv -f WINDOWS-1252 -t UTF-8",
        ) from error


def _too_long(found: str, most: int) -> DataError:
    return DataError(
        f"{found} than {most} bytes",
        expected=f"at most {most >> 20} MiB",
        fix="check the program that wrote the file; split long texts into rows",
    )
