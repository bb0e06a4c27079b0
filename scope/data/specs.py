"""Opens the source of a spec: a data set of the hub, the demo's texts, books, or a file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from scope.data.demo import open_demo
from scope.data.formats import open_delimited, open_jsonl, open_parquet, open_text
from scope.data.hub import open_hub
from scope.data.lines import reading
from scope.data.lm_eval import open_lm_eval
from scope.data.memory import MemorySpec
from scope.data.sources import Source, guarded_source
from scope.errors import DataError, SpecError
from scope.paths import expanded
from scope.records import MEMORY

SCHEMES: Mapping[str, Callable[[str], Source]] = MappingProxyType(
    {
        "demo": open_demo,
        "hf": open_hub,
        "lm-eval": open_lm_eval,
        "text": lambda rest: open_text(expanded(rest)),
    }
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
# Two letters at least, for the drives of Windows are one.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")


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
    expected: demo:…, hf:…, lm-eval:…, text:…, or the path of a file
    fix:      did you mean `hf:`?
    """
    if isinstance(spec, MemorySpec):
        return guarded_source(spec.source)
    if spec.startswith(MEMORY):
        raise DataError(
            f"`{spec}`, which names data of a Python session",
            expected=_expected(),
            fix="pass the same data again from Python, or save them to a file",
        )
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
