"""Opens the source of a spec: a data set of the hub, the demo's texts, books, or a file of rows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from scope.data.demo import open_demo
from scope.data.formats import open_delimited, open_json, open_parquet, open_text
from scope.data.memory import MemorySpec, class_names
from scope.data.sources import Source, SourceRow, guarded_source, numbered_rows, reading
from scope.errors import DataError, SpecError
from scope.paths import expanded
from scope.printing import LETTERS_OF_A_LINE
from scope.records import MEMORY
from scope.registry import LOGS

_HUB_BATCH = 1024
_PATIENCE_SECONDS = 10
# A split may be a slice such as `train[:100]`, whose colon separates nothing.
_SEPARATOR = re.compile(r":(?![^\[]*\])")
# Two letters at least: the drives of Windows have one.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")


def open_source(spec: str) -> Source:
    """Open what the spec names, without reading its rows yet.

    Raises
    ------
    SpecError
        When its scheme or the rest of it is unknown.
    DataError
        When there is no such file, or it cannot be read.

    Examples
    --------
    >>> open_source("hff:stanfordnlp/sst2:validation")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    unknown scheme `hff` in `hff:stanfordnlp/sst2:validation`
    expected: demo:…, eee:…, helm:…, hf:…, inspect:…, lm-eval:…, openllm:…, text:…, or the path of a file
    fix:      did you mean `hf:`?
    """  # noqa: E501 - a message that is one line
    if isinstance(spec, MemorySpec):
        return guarded_source(spec.source)
    if spec.startswith(MEMORY):
        raise DataError(
            f"`{spec}`, which names data of a Python session",
            expected=_EXPECTED,
            fix="pass the same data again from Python, or save them to a file",
        )
    scheme = _SCHEME.match(spec)
    with reading(spec):
        if scheme and scheme[1] in SCHEMES:
            return guarded_source(SCHEMES[scheme[1]](spec[scheme.end() :]))
        path = expanded(spec)
        missing = not path.exists()
    if scheme and missing:
        close = difflib.get_close_matches(scheme[1], SCHEMES, n=1)
        raise SpecError(
            f"unknown scheme `{scheme[1]}` in `{spec}`",
            expected=_EXPECTED,
            fix=f"did you mean `{close[0]}:`?" if close else "use one of them",
        )
    return open_file(path)


def open_file(path: Path) -> Source:
    """Open a file as its suffix says.

    Raises
    ------
    DataError
        When there is no such file, or its suffix is unknown.
    """
    require_file(path)
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


def require_file(path: Path, expected: str = "") -> None:
    """Refuse a path without a file, with a suggestion; by default the file of a data set."""
    with reading(str(path)):
        if path.is_file():
            return
        if path.exists():
            raise DataError(
                f"`{path}` is not a file but a folder, pipe or device",
                expected="the path of one file",
                fix="name a file, or text:PATH for a folder of .txt; save what a pipe gives",
            )
        folder = path.parent
        names = (
            [file.name for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
        )
    close = difflib.get_close_matches(path.name, sorted(names), n=1)
    raise DataError(
        f"no file `{path}`" + ("" if folder.is_dir() else f", and no folder `{folder}`"),
        expected=expected or _EXPECTED,
        fix=f"did you mean `{folder / close[0]}`?" if close else "check the path",
    )


class HubName(NamedTuple):
    """Which data set of the hub, which of its configurations, and which split."""

    name: str
    config: str | None
    split: str


def parse_hub_name(rest: str) -> HubName:
    """Take `NAME:SPLIT` or `NAME:CONFIG:SPLIT` apart.

    Raises
    ------
    SpecError
        When it has fewer or more parts, or an empty one.

    Examples
    --------
    >>> parse_hub_name("stanfordnlp/sst2:validation")
    HubName(name='stanfordnlp/sst2', config=None, split='validation')
    >>> parse_hub_name("nyu-mll/glue:sst2:train[:100]")
    HubName(name='nyu-mll/glue', config='sst2', split='train[:100]')
    """
    parts = _SEPARATOR.split(rest)
    if len(parts) not in (2, 3) or not all(part.strip() for part in parts):
        raise SpecError(
            f"`hf:{rest}` as the data",
            expected="hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT",
            fix="write for example hf:stanfordnlp/sst2:validation",
        )
    return HubName(parts[0], parts[1] if len(parts) == 3 else None, parts[-1])


def open_hub(rest: str) -> Source:
    """Fetch the split, or take it from the cache, and read its features.

    Raises
    ------
    DataError
        When the hub cannot be reached or holds no such data set, configuration or split; the
        configurations and splits that it does hold are listed where they can be known.
    """
    import datasets
    import httpx
    from datasets.exceptions import DatasetNotFoundError, DatasetsError
    from huggingface_hub.constants import ENDPOINT

    name, config, split = parse_hub_name(rest)
    try:
        # `datasets` retries for 23 seconds before it gives up.
        if not (datasets.config.HF_HUB_OFFLINE or Path(name).exists()):
            httpx.head(ENDPOINT, timeout=_PATIENCE_SECONDS)
        dataset = datasets.load_dataset(name, config, split=split)
    except DatasetNotFoundError as error:
        raise DataError(
            f"no data set `{name}` on {ENDPOINT} or in a folder of that name",
            expected="the name of a public data set, or of one that you can access",
            fix="check the spelling; for a private data set, log in with `hf auth login`",
        ) from error
    except (ConnectionError, httpx.HTTPError) as error:
        raise DataError(
            f"{ENDPOINT} cannot be reached for `{name}` ({type(error).__name__})",
            expected="a connection to the hub, or the data set in its cache",
            fix="check the network and HF_ENDPOINT; use the cache alone "
            "with HF_HUB_OFFLINE=1; or choose a local file or demo:tweets",
        ) from error
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:
        raise DataError(
            f"`{name}` cannot be loaded: {' '.join(str(error).split())[:LETTERS_OF_A_LINE]}",
            expected="a split, or a slice of one, of plain files (scripts are never run)",
            fix="check its page on the hub, or download one of its files and give that path",
        ) from error

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        batches = dataset.select_columns(list(columns)).iter(_HUB_BATCH)
        return numbered_rows([batch[column] for column in columns] for batch in batches)

    features = dataset.features
    strings = (
        column
        for column, feature in features.items()
        if getattr(feature, "dtype", None) in ("string", "large_string")
    )
    names = class_names(dataset)
    return Source(f"hf:{rest}", tuple(features), tuple(strings), read, "row", names)


def _open_logs(scheme: str, rest: str) -> Source:
    from scope.data.logs.source import open_logs

    return open_logs(scheme, rest)


SCHEMES: Mapping[str, Callable[[str], Source]] = MappingProxyType(
    {
        "demo": open_demo,
        "hf": open_hub,
        **{scheme: partial(_open_logs, scheme) for scheme in LOGS},
        "text": lambda rest: open_text(expanded(rest)),
    }
)
_EXPECTED = ", ".join(f"{scheme}:…" for scheme in sorted(SCHEMES)) + ", or the path of a file"
_open_csv, _open_tsv = (
    partial(open_delimited, delimiter=","),
    partial(open_delimited, delimiter="\t"),
)
FILES: Mapping[str, Callable[[Path], Source]] = MappingProxyType(
    {
        ".csv": _open_csv,
        ".tsv": _open_tsv,
        ".jsonl": open_json,
        ".json": open_json,
        ".csv.gz": _open_csv,
        ".tsv.gz": _open_tsv,
        ".jsonl.gz": open_json,
        ".json.gz": open_json,
        ".parquet": open_parquet,
        ".txt": partial(open_text, lists=True),
    }
)
