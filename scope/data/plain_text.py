"""Plain text: lists of texts, and books by paragraph."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from scope.data.sources import Source, SourceRow, read_lines
from scope.errors import DataError
from scope.paths import expanded
from scope.printing import counted

_TEXT = ".txt"
# Project Gutenberg's licence ends before the first mark and begins after the second.
_BEGINS = re.compile(r"\*{3}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_ENDS = re.compile(r"\*{3}\s*END OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)


def open_text(path: Path, *, lists: bool = False) -> Source:
    """Open a file, or all files of a folder in the order of their paths.

    A row is a paragraph: the lines between two empty ones, as they stand. The column ``book`` is
    the file's path in the folder without its suffix. With ``lists``, a file without an empty line
    between two others is a list of texts, one a line.

    Raises
    ------
    DataError
        When there is no such file or folder, or no .txt file in it.
    """
    path = expanded(path)
    root = path if path.is_dir() else path.parent
    books = sorted(
        (file.relative_to(root).with_suffix("").as_posix(), file)
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file() and file.suffix.casefold() == _TEXT
    )
    if not books:
        why = "does not end in .txt" if path.exists() else "is not there"
        raise DataError(
            f"no .txt file in the folder {path}" if path.is_dir() else f"`{path}` {why}",
            expected="text:PATH with a .txt file, or a folder of them",
            fix="add the books as plain text" if path.exists() else "check the path",
        )
    columns = ("text", "book")
    texts = list(_paragraphs(books[0][1])) if lists else []
    by_line = len(texts) == 1
    several_lines = any("\n" in text for text in texts)
    if by_line:
        texts = texts[0].split("\n")
    form = "one a line" if by_line else "one a paragraph, that is the lines between empty ones"
    notes = (f"read as {counted(len(texts), 'text')}, {form}",) if several_lines else ()

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        found = ((text, book) for book, file in books for text in _paragraphs(file))
        rows = ((line, books[0][0]) for line in texts) if by_line else found
        for number, row in enumerate(rows):
            yield SourceRow(number, tuple(row[columns.index(column)] for column in asked))

    return Source(path.name, columns, columns, read, "row", notes=notes)


def _paragraphs(file: Path) -> Iterator[str]:
    lines = [line.rstrip() for line in read_lines(file)]
    begins = next((place + 1 for place, line in enumerate(lines) if _BEGINS.match(line)), 0)
    ends = next((place for place, line in enumerate(lines) if _ENDS.match(line)), len(lines))
    for filled, group in itertools.groupby(lines[begins:ends], key=bool):
        if filled:
            yield "\n".join(group)
