"""Opens the source of a spec: a data set of the hub, the demo's texts, books, or a file.

``text:PATH`` is plain text, such as books, from a .txt file or a folder of them.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from scope.data.demo import open_demo
from scope.data.formats import open_delimited, open_jsonl, open_parquet
from scope.data.hub import open_hub
from scope.data.lines import read_lines, reading
from scope.data.sources import Row, Source, guarded_source
from scope.errors import DataError, SpecError
from scope.paths import expanded

# Two letters at least, for the drives of Windows are one.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")
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

    columns = ("text", "book")

    def read(asked: Sequence[str]) -> Iterator[Row]:
        for number, values in enumerate(
            {"text": text, "book": book} for book, file in files for text in _paragraphs(file)
        ):
            yield Row(number, tuple(values[column] for column in asked))

    return Source(path.name, columns, columns, read, "row")


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


SCHEMES: Mapping[str, Callable[[str], Source]] = MappingProxyType(
    {"demo": open_demo, "hf": open_hub, "text": lambda rest: open_text(Path(rest))}
)
FILES: Mapping[str, Callable[[Path], Source]] = MappingProxyType(
    {
        ".csv": partial(open_delimited, delimiter=","),
        ".tsv": partial(open_delimited, delimiter="\t"),
        ".jsonl": open_jsonl,
        ".csv.gz": partial(open_delimited, delimiter=","),
        ".tsv.gz": partial(open_delimited, delimiter="\t"),
        ".jsonl.gz": open_jsonl,
        ".parquet": open_parquet,
        ".txt": open_text,
    }
)


def open_source(spec: str) -> Source:
    """Open what the spec names, without reading its rows yet.

    Raises
    ------
    SpecError
        When the spec is empty, or its scheme or what stands after it means nothing.
    DataError
        When there is no such file, or it cannot be read.

    Examples
    --------
    >>> open_source("hff:stanfordnlp/sst2:validation")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    unknown scheme `hff` in `hff:stanfordnlp/sst2:validation`
    expected: demo:…, hf:…, text:…, or the path of a file
    fix:      did you mean `hf:`?
    """
    if not spec.strip():
        raise SpecError(
            "an empty spec for the data",
            expected=_expected(),
            fix="write for example hf:stanfordnlp/sst2:validation",
        )
    scheme = _SCHEME.match(spec)
    if scheme and scheme[1] in SCHEMES:
        with reading(spec):
            return guarded_source(SCHEMES[scheme[1]](spec[scheme.end() :]))
    with reading(spec):
        path = expanded(spec)
        missing = not path.exists()
    if scheme and missing:
        close = difflib.get_close_matches(scheme[1], SCHEMES, n=1)
        raise SpecError(
            f"unknown scheme `{scheme[1]}` in `{spec}`",
            expected=_expected(),
            fix=f"did you mean `{close[0]}:`?" if close else "use one of them",
        )
    return open_file(path)


def open_file(path: Path) -> Source:
    """Open a file as its suffix says.

    Raises
    ------
    DataError
        When there is no such file, or its suffix is none that is known.
    """
    with reading(str(path)):
        if not path.is_file():
            raise missing_file(path)
    name = path.name.casefold()
    suffix = next((suffix for suffix in FILES if name.endswith(suffix)), None)
    if suffix is None:
        raise DataError(
            f"`{path}` has no known file ending",
            expected=f"a file that ends in {', '.join(FILES)}",
            fix="convert or rename the file",
        )
    with reading(path.name):
        return guarded_source(FILES[suffix](path))


def missing_file(path: Path) -> DataError:
    """The error of a missing file, with a suggestion."""
    if path.exists():
        return DataError(
            f"`{path}` is not a file but a folder or device",
            expected="the path of one file",
            fix="name a file in it, or write text:PATH for a folder of .txt files",
        )
    folder = path.parent
    if not folder.is_dir():
        return DataError(
            f"no file `{path}`, and no folder `{folder}`",
            expected=_expected(),
            fix="check the path; a data set of the hub begins with `hf:`",
        )
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    close = difflib.get_close_matches(path.name, names, n=1)
    return DataError(
        f"no file `{path}`",
        expected=_expected(),
        fix=f"did you mean `{folder / close[0]}`?"
        if close
        else "check the path; a data set of the hub begins with `hf:`",
    )


def _expected() -> str:
    return ", ".join(f"{scheme}:…" for scheme in SCHEMES) + ", or the path of a file"
