"""Streams the lines of a text file, plain or gzipped, and says which line is broken."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scope.errors import DataError


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file with their line ends, one at a time.

    Raises
    ------
    DataError
        Naming the line that is not UTF-8, holds a NUL byte or cannot be unpacked.
    """
    number = 0
    try:
        with _open(path) as stream:
            for number, line in enumerate(stream, start=1):
                yield _decode(line, path, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path.name} cannot be unpacked after line {number}: {error}",
            expected="a whole gzip file",
            mend="download or pack the file again",
        ) from error
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror or error}",
            expected="a file that may be read",
            mend="look at its permissions and at the disk",
        ) from error


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix.casefold() == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def _decode(line: bytes, path: Path, number: int) -> str:
    if b"\0" in line:
        raise DataError(
            f"a NUL byte in line {number} of {path.name}",
            expected="a text file in UTF-8",
            mend="if the file is UTF-16, convert it: iconv -f UTF-16 -t UTF-8",
        )
    try:
        # Spreadsheets put a byte order mark before the name of the first column.
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        raise DataError(
            f"line {number} of {path.name} is not UTF-8 (byte 0x{byte:02x})",
            expected="a text file in UTF-8",
            mend="convert it, for example: iconv -f WINDOWS-1252 -t UTF-8",
        ) from error
