"""``text:PATH``: plain text, such as books, from a .txt file or a folder of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from scope.data.lines import read_lines
from scope.data.sources import Row, Source
from scope.errors import DataError
from scope.paths import expanded

_SUFFIX = ".txt"
# Project Gutenberg puts its licence before the one and after the other.
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)


def open_text(path: Path) -> Source:
    """Open a file, or all files of a folder in the order of their paths.

    A row is a paragraph: the lines between two empty ones, as they stand. The column ``book`` is
    the file's path in the folder without its suffix.

    Raises
    ------
    DataError
        When there is no such file or folder, or no .txt file in it.
    """
    files = _files(expanded(path))

    def read(columns: Sequence[str]) -> Iterator[Row]:
        number = 0
        for book, file in files:
            for text in _paragraphs(file):
                values = {"text": text, "book": book}
                yield Row(number, tuple(values[column] for column in columns))
                number += 1

    return Source(
        name=path.name,
        columns=("text", "book"),
        string_columns=("text", "book"),
        read=read,
        unit="row",
    )


def _files(path: Path) -> list[tuple[str, Path]]:
    """The books by name."""
    if path.is_file() and path.suffix.casefold() == _SUFFIX:
        return [(path.stem, path)]
    if not path.is_dir():
        raise DataError(
            f"`{path}` {'does not end in .txt' if path.exists() else 'is not there'}",
            expected="text:PATH with a .txt file, or a folder of them",
            fix="rename the file" if path.exists() else "check the path",
        )
    found = sorted(
        (file.relative_to(path).with_suffix("").as_posix(), file)
        for file in path.rglob("*")
        if file.is_file() and file.suffix.casefold() == _SUFFIX
    )
    if not found:
        raise DataError(
            f"no .txt file in the folder {path}",
            expected="at least one, in the folder or its subfolders",
            fix="add the books as plain text, or choose another folder",
        )
    return found


def _paragraphs(file: Path) -> Iterator[str]:
    lines = [line.rstrip() for line in read_lines(file)]
    begins = next((place + 1 for place, line in enumerate(lines) if _BEGINS.match(line)), 0)
    ends = next((place for place, line in enumerate(lines) if _ENDS.match(line)), len(lines))
    for filled, group in itertools.groupby(lines[begins:ends], key=bool):
        if filled:
            yield "\n".join(group)
