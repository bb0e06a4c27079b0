"""Splits running text into sentences and masks one word of each.

Line ends, headings and marks of the page are removed from paragraphs. Paragraphs are
split into sentences by rules, without a trained model, and a content word is masked.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files

from scope.data.fields import choose_columns, first_of, read_rows
from scope.data.items import Draft
from scope.data.sources import UnusableRowError
from scope.data.specs import open_source
from scope.records import BLANK, Item, Question

CATEGORY_NAMES = ("book", "category", "title")
"""The columns that say which part of the data a text belongs to; the first there is counts."""


MOST_LETTERS = 50
"""Letters a word that a sentence may have: what is longer is an address or a table."""


def read_cloze(spec: str, *, min_words: int, max_words: int, seed: int) -> Iterator[Draft]:
    """Every sentence, in order, as an item if it is suitable.

    A sentence is unsuitable if it is not clean, has too few or too many words, or no word that
    can be masked.
    """
    source = open_source(spec)
    text = choose_columns(source, text=(), label=None)["text"]
    category_column = first_of(CATEGORY_NAMES, [name for name in source.columns if name != text])
    columns = {"text": text} | ({"category": category_column} if category_column else {})
    for fields in read_rows(source, columns):
        try:
            category, whole = fields.name("category"), fields.text("text")
        except UnusableRowError as error:
            yield Draft(None, None, error)
            continue
        for paragraph in paragraphs(whole):
            for sentence in sentences(paragraph):
                short = len(sentence) <= MOST_LETTERS * max_words
                fits = short and min_words <= len(sentence.split()) <= max_words
                item = None
                if fits and is_clean(sentence) and (made := blank(sentence, seed)):
                    question = Question(id="", text=made[0])
                    item = Item(question=question, gold=(made[1],), category=category)
                yield Draft(None, item)


_LETTER = r"[^\W\d_]"
# Marks that data sets of running text put between sentences and stories.
_MARK = re.compile(
    r"</?s>|<(?:bos|eos|pad|sep|cls|eop|eot)>|<\|\w+\|>|\[(?:BOS|EOS|PAD|SEP|CLS)\]", re.IGNORECASE
)
_NOTE = re.compile(
    r"\[(?:illustration|footnote|sidenote|transcriber)[^\]]{0,5000}\]", re.IGNORECASE
)
_PAGE_NUMBER = re.compile(r"[\[({<—–-]*\s*(?:page\s+|p\.\s*)?\d{1,4}\s*[\])}>—–-]*", re.IGNORECASE)
_ORNAMENT = re.compile(r"[\W_]+")
_CHAPTER = re.compile(
    r"(?:chapter|book|part|volume|canto|stave|scene|act|letter|section)\s+"
    r"(?:[ivxlcdm]+|\d+|the\s+\w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:\s*[.:—–-].*)?",
    re.IGNORECASE,
)
# A word that goes on in the next line. It is tried where a word begins alone, so that a text takes
# time in proportion to its length, as in `_STOP` where a row of marks begins.
_DIVIDED = re.compile(r"(?<!\S)(\S*\w)[-\u2010]\n(?=(\w))")
_DASH_AT_LINE_END = re.compile(r"(?<=[—–])\n|(?<=--)\n|\n(?=—|–|--)")


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a text, each on one line.

    An empty line ends a paragraph, and so do headings (lines in capitals, chapter numbers), lines
    without a letter or digit, and marks such as ``<eos>``, all of which are left out. Page numbers
    are left out as if the page went on.

    Examples
    --------
    >>> list(paragraphs("CHAPTER I\\nIt was a won-\\nder-\\nful\\n12\\nday.\\n* * *\\nIt rained."))
    ['It was a wonderful day.', 'It rained.']
    """
    held: list[str] = []
    for line in map(str.strip, _NOTE.sub(" ", _MARK.sub("\n\n", text)).splitlines()):
        if line and _PAGE_NUMBER.fullmatch(line):
            continue
        if line and not _is_heading(line):
            held.append(line)
        elif held:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _is_heading(line: str) -> bool:
    in_capitals = line.isupper() and len(re.findall(_LETTER, line)) > 1
    return bool(in_capitals or _ORNAMENT.fullmatch(line) or _CHAPTER.fullmatch(line))


def _joined(lines: Sequence[str]) -> str:
    text = "\n".join(lines).replace("\u00ad\n", "").replace("\u00ad", "")
    text = _DASH_AT_LINE_END.sub(lambda dash: dash[0].strip("\n"), text)
    return " ".join(_DIVIDED.sub(_rejoined, text).split())


def _rejoined(divided: re.Match[str]) -> str:
    """The word in one: its hyphen goes, unless it has others, or no small letter follows."""
    head, after = divided[1], divided[2]
    goes = "-" not in head and head[-1].isalpha() and after.islower()
    return f"{head}{'' if goes else '-'}"


_CLOSERS = r"[\"'”’»)\]]*"
_OPENERS = r"[\"'“‘«(\[]*"
_STOP = re.compile(rf"(\.\.\.|…|(?<![.!?])[.!?]+){_CLOSERS}\s+(?={_OPENERS}(\w+))")
_WHOLE = re.compile(rf"{_OPENERS}\w.*[.!?…]{_CLOSERS}")
_SPACED_DOTS = re.compile(r"\.(?:\s?\.)+")
_LONGEST_WORD = 30
_WORD_BEFORE = re.compile(r"[\w.]*$")
# Single letters, and letters with full stops between them.
_INITIALS = re.compile(r"[A-HJ-Z]|(?:[^\W\d_]\.)+[^\W\d_]")
_QUOTED = re.compile("“[^“”]*”")
_DEBRIS = re.compile(r"[_*<>|{}\\^~=@#]|\ufffd")

_TITLES = (
    "mr mrs ms messrs mme mlle mons dr st rev hon prof capt col gen lieut lt sgt maj gov sen rep "
    "pres supt insp sr jr mt vs viz cf"
)
BEFORE_NAMES = frozenset(_TITLES.split())
"""Abbreviations whose full stop ends no sentence."""

_COUNTED = "no nos vol chap ch fig p pp sec art"
BEFORE_NUMBERS = frozenset(_COUNTED.split())
"""Abbreviations whose full stop ends no sentence before a number."""


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph on one line, in order.

    A full stop, question or exclamation mark, with the quotes that close after it, ends a sentence
    where a capital or a number follows; not so the full stop of an abbreviation or of initials.
    After an ellipsis, ``I`` goes on. A quote that opens in one sentence and closes in another is
    taken off both.

    Examples
    --------
    >>> list(sentences('Is it "No. 5, Mr. A. B. Hill?" he said. "Come in... I know. Sit."'))
    ['Is it "No. 5, Mr. A. B. Hill?" he said.', 'Come in... I know.', 'Sit.']
    """
    text = _SPACED_DOTS.sub("...", paragraph)
    begins = 0
    for stop in _STOP.finditer(text):
        before = text[max(0, stop.start() - _LONGEST_WORD) : stop.start()]
        if _ends_sentence(before, stop[1], stop[2]):
            yield _whole_quotes(text[begins : stop.end()].strip())
            begins = stop.end()
    if rest := text[begins:].strip():
        yield _whole_quotes(rest)


def is_clean(sentence: str) -> bool:
    """Whether it is a sentence from its first letter to its last mark, without debris.

    A fragment cut by a heading begins in the middle or has no end and is not clean. Neither is text
    with an unpaired quote.

    Examples
    --------
    >>> is_clean('"It rains," she said.'), is_clean("and went on."), is_clean("The _Beagle_ sank.")
    (True, False, False)
    """
    first = next((character for character in sentence if character.isalnum()), "")
    return (
        not first.islower()
        and _WHOLE.fullmatch(sentence) is not None
        and _DEBRIS.search(sentence) is None
        and sentence.count('"') % 2 == 0
        and not set("“”").intersection(_QUOTED.sub("", sentence))
    )


def _ends_sentence(before: str, stop: str, following: str) -> bool:
    if following[0].islower():
        return False
    if stop in ("...", "…"):
        return following != "I"
    if stop != ".":
        return True
    match = _WORD_BEFORE.search(before)
    word = match[0] if match else ""
    if following[0].isdigit() and word.casefold() in BEFORE_NUMBERS:
        return False
    return word.casefold() not in BEFORE_NAMES and not _INITIALS.fullmatch(word)


def _whole_quotes(sentence: str) -> str:
    """The sentence without a quote at its beginning or end that has no partner in it."""
    surplus = sentence.count("“") - sentence.count("”")
    odd = sentence.count('"') % 2
    if (surplus > 0 and sentence[0] == "“") or (odd and sentence[0] == '"'):
        return sentence[1:].lstrip()
    if (surplus < 0 and sentence[-1] == "”") or (odd and sentence[-1] == '"'):
        return sentence[:-1].rstrip()
    return sentence


MIN_LETTERS = 3

_RESOURCE = files("scope.data").joinpath("function_words.txt")
FUNCTION_WORDS = frozenset(_RESOURCE.read_text("utf-8").split())
"""Function words, which are never masked."""

# An apostrophe or a single hyphen within it makes two words one.
_WORD = re.compile(r"\w+(?:['’‐-]\w+)*")
_LETTERS = re.compile(r"[^\W\d_]+")


def blank(sentence: str, seed: int) -> tuple[str, str] | None:
    """The sentence with a blank, and the word that stood there; None if no word qualifies.

    A word qualifies if it consists of at least three letters and nothing else, is no function
    word, not the sentence's first, and occurs once in it, capitals and compounds considered. The
    seed and the sentence alone decide between them.

    Examples
    --------
    >>> blank("The old sailor was old, and a sailor's life is over.", seed=0)
    ("The old sailor was old, and a sailor's ____ is over.", 'life')
    >>> blank("It is what it is.", seed=0) is None
    True
    """
    occurrences = Counter(_LETTERS.findall(sentence.casefold()))
    after_the_first = list(_WORD.finditer(sentence))[1:]
    words = [word for word in after_the_first if _qualifies(word[0], occurrences)]
    if not words:
        return None
    digest = hashlib.sha256(f"{seed}\n{sentence}".encode()).digest()
    word = words[int.from_bytes(digest[:8], "big") % len(words)]
    return f"{sentence[: word.start()]}{BLANK}{sentence[word.end() :]}", word[0]


def _qualifies(word: str, occurrences: Counter[str]) -> bool:
    key = word.casefold()
    return (
        word.isalpha()
        and len(word) >= MIN_LETTERS
        and key not in FUNCTION_WORDS
        and occurrences[key] == 1
    )
