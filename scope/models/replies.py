"""Extracts the answer from a language model's reply."""

from __future__ import annotations

import re
import unicodedata

READ_BY = "rules 2"
"""Part of the fingerprint of models whose replies are read here; changes with the rules."""

_QUOTED = re.compile(r'["“«]([^"“”«»]*\w[^"“”«»]*)["”»]')
_ENDED = re.compile(r'([^"“”«»]*\w)[.,;!?]?["”»]')
"""The end of a quotation that the prompt began."""

_COLONS = (":", "：")
_AFTER_COLON = "*_\"'”’»` \t"
"""Characters allowed after the colon at the end of a line: ``**Answer:**``."""

_ANNOUNCED = re.compile(
    r"(?:the\s+)?(?:\w+\s+)?answer(?:\s+to\s+(?:the|this|your)\s+question)?(?:\s+is)?\s*[:：]\s*"
    r"(?=\S)",
    re.IGNORECASE,
)
"""Words that announce an answer on its own line: ``The answer to this question is: Paris``."""

_UNANSWERABLE = re.compile(
    r"(?:(?:the|this)\s+)?(?:(?:question|answer)\s+is\s+)?[\W_]*un-?answerable[\W_]*",
    re.IGNORECASE,
)

_LAST_PIECE = re.compile(r"\S*\Z")

_QUOTES = ('""', "''", "``", "“”", "‘’", "«»", "„“")


_TAGS = r"think|thinking|thought|thoughts|reasoning|reflection"
_BEGINS = re.compile(
    rf"\s*(?:<(?:{_TAGS})>|\[THINK\]|(?:<\|start\|>assistant)?<\|channel\|>analysis\b)",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"</(?:{_TAGS})>|\[/THINK\]|<\|channel\|>final<\|message\|>", re.IGNORECASE)


def without_thought(reply: str) -> str | None:
    """What a model writes after it has thought; None where the thought does not end.

    A thought stands between tags such as ``<think>``, of which a template may have written the
    first, or in the channel ``analysis``.

    Examples
    --------
    >>> without_thought("<think>A or B?</think> B"), without_thought("A or B?</think> B")
    (' B', ' B')
    >>> without_thought("B"), without_thought("<think>A or")
    ('B', None)
    """
    answer = _ENDS.split(reply)[-1]
    return None if _BEGINS.match(answer) else answer


def is_line(reply: str) -> bool:
    """Whether the line that counts is complete and not empty.

    Examples
    --------
    >>> is_line(chr(10) + "In Paris"), is_line("In Paris" + chr(10))
    (False, True)
    >>> is_line("The answer to this question is:" + chr(10))
    False
    """
    *over, _ = reply.split("\n")
    return any(map(_says_something, over))


def line(reply: str) -> str:
    """The first line that says something, without quotation marks around it; else nothing.

    A blank line says nothing, nor does one that ends in a colon: the answer follows it. Words
    such as "The answer is:" in front of the answer are left out.

    Examples
    --------
    >>> line(' "In Paris" '), line("“Go” by Ann"), line("“‘Go’”")
    ('In Paris', '“Go” by Ann', 'Go')
    >>> line(chr(10).join(["**The answer to this question is:**", "", "In Paris"]))
    'In Paris'
    >>> line("The answer to this question is: 'In Paris'")
    'In Paris'
    """
    text = next(filter(_says_something, reply.split("\n")), "").strip()
    if announced := _ANNOUNCED.match(text):
        text = text[announced.end() :]
    while len(text) > 1 and text[0] + text[-1] in _QUOTES:
        inner = text[1:-1]
        # The marks at the ends of a line may belong to two quotations; apostrophes to none.
        if any(mark in inner for mark in (text[0], text[-1]) if mark not in "'’"):
            break
        text = inner.strip()
    return text


def _says_something(one_line: str) -> bool:
    bare = one_line.strip().rstrip(_AFTER_COLON)
    return bool(one_line.strip()) and not bare.endswith(_COLONS)


def answer_text(reply: str) -> str | None:
    """The answer to a question: the line that counts, or None where the reply says nothing.

    The prompt `answer` offers the word "unanswerable" for a question that its passage does not
    answer; alone, or as a statement about the question, it gives an empty text, as in SQuAD 2.0. An
    empty reply is no answer: else a silent model would be correct on every unanswerable question.
    Nor is a line that announces an answer without giving it.

    Examples
    --------
    >>> answer_text(" In Paris"), answer_text(" "), answer_text("The answer is:")
    ('In Paris', None, None)
    >>> answer_text("Unanswerable."), answer_text("The question is unanswerable.")
    ('', '')
    """
    text = line(reply)
    return "" if _UNANSWERABLE.fullmatch(text) else text or None


def has_first_word(reply: str) -> bool:
    """Whether the first word of the reply is over.

    Examples
    --------
    >>> has_first_word(" riv"), has_first_word(" river bank")
    (False, True)
    """
    return first_word(_LAST_PIECE.sub("", reply)) is not None


def is_filler(reply: str) -> bool:
    """Whether what follows in the reply cannot change its filler.

    Examples
    --------
    >>> is_filler("The word"), is_filler('The word is "river"'), is_filler("river" + chr(10))
    (False, True, True)
    """
    return is_line(reply) or _quotation(reply.lstrip()) is not None


def filler(reply: str) -> str | None:
    """The word that a reply puts in a blank, without the marks around it; None if there is none.

    It is the first word of the line that counts. Small chat models often write: the word is
    "river". So where the line quotes something, or ends a quotation that the prompt began, it is
    the first word of the quotation.

    Examples
    --------
    >>> filler("river, of course"), filler('The missing word is "river."'), filler("____")
    ('river', 'river', None)
    >>> filler('river". The next word is "sea".')
    'river'
    """
    text = line(reply)
    return first_word(_quotation(text) or text)


def _quotation(text: str) -> str | None:
    match = _ENDED.match(text) or _QUOTED.search(text)
    return match[1] if match else None


def first_word(text: str) -> str | None:
    """The first word that is more than punctuation; None where there is none.

    It is the filler where the prompt begins the reply with the sentence up to its blank.

    Examples
    --------
    >>> first_word(' river, said "Ann"')
    'river'
    """
    for word in text.split():
        kept = [place for place, character in enumerate(word) if not _is_mark(character)]
        if kept:
            return word[kept[0] : kept[-1] + 1]
    return None


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
