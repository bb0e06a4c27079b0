"""Running text without what a printed or prepared page adds to it: line ends, headings, marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LETTER = r"[^\W\d_]"
# What data sets of running text put between sentences and stories.
_MARK = re.compile(
    r"</?s>|<(?:bos|eos|pad|sep|cls|eop|eot)>|<\|\w+\|>|\[(?:BOS|EOS|PAD|SEP|CLS)\]", re.IGNORECASE
)
_NOTE = re.compile(r"\[(?:illustration|footnote|sidenote|transcriber)[^\]]*\]", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[\[({<—–-]*\s*(?:page\s+|p\.\s*)?\d{1,4}\s*[\])}>—–-]*", re.IGNORECASE)
_ORNAMENT = re.compile(r"[\W_]+")
_CHAPTER = re.compile(
    r"(?:chapter|book|part|volume|canto|stave|scene|act|letter|section)\s+"
    r"(?:[ivxlcdm]+|\d+|the\s+\w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:\s*[.:—–-].*)?",
    re.IGNORECASE,
)
# A word that goes on in the next line.
_DIVIDED = re.compile(r"(\S*\w)[-\u2010]\n(\w)")
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
    return f"{head}{'' if goes else '-'}{after}"
