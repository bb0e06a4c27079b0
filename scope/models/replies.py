"""Extracts the answer from a language model's reply, whose thought is left out."""

from __future__ import annotations

import re
import unicodedata

from scope.records import Answer

READ_BY = "rules 3"
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
    r"(?:(?:the|this)\s+)?(?:(?:question|answer)\s+is\s+)?[\W_]*un-?answerable[\W_]*", re.IGNORECASE
)

_LAST_PIECE = re.compile(r"\S*\Z")

_QUOTES = ('""', "''", "``", "“”", "‘’", "«»", "„“")


_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection)"
_OPENING = (
    rf"(?:<{_NAMES}>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>analysis\b|(?-i:analysis(?=[A-Z])))"
)
"""The last two are the channel of the format harmony, with its marks and without them."""

_OPENS = re.compile(rf"\s*{_OPENING}", re.IGNORECASE)
_LEFT_OPEN = re.compile(rf"({_OPENING})\s*\Z", re.IGNORECASE)
_ENDS = re.compile(
    rf"</{_NAMES}>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
    r"|<\|channel\|>final\b[^\n]{0,80}?<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
_MARK = re.compile(rf"{_OPENING}|{_ENDS.pattern}|<\|(?:start|channel|message)\|>", re.IGNORECASE)
_QUOTED_TAG = re.compile(r"(?:\A|[\s(])[`\"'“‘«](?:<[^<>]*>)?\Z")
_IN_PROSE = re.compile(r"\w[,:]? (?:<[^<>]*>)?\Z")
_PROSE_GOES_ON = re.compile(r"[ \t]*[a-z,.;:!?)]")

_LAST_MARK = re.compile(r"<\|[a-z_]{1,30}\|>\s*\Z")
"""Such as ``<|return|>``, which some servers leave at the end of a reply."""

_NEAR = 24
"""Characters before a tag that tell whether it is only mentioned."""

MOST_SHOWN = 80
"""Characters of a reply that cannot be read that are kept."""


def without_thought(reply: str) -> str | None:
    """What a model writes after it has thought; None where the thought does not end.

    A thought stands between tags such as ``<think>``, of which a template may have written the
    first, or in the channel ``analysis``. What follows its last end is the answer. A tag that is
    only mentioned ends nothing.

    Examples
    --------
    >>> without_thought("<think>A or B?</think> B"), without_thought("A or B?</think> B")
    (' B', ' B')
    >>> without_thought("B"), without_thought("<think>A or")
    ('B', None)
    >>> without_thought("The tag </think> ends it")
    'The tag </think> ends it'
    """
    begun = begins_thought(reply)
    ends = [match.end() for match in _ENDS.finditer(reply) if not _is_mentioned(match, begun)]
    answer = _LAST_MARK.sub("", reply[ends[-1] :]) if ends else reply
    return None if begins_thought(answer) else answer


def _spoken(reply: str) -> str:
    return without_thought(reply) or ""


def begins_thought(reply: str) -> bool:
    """Whether a reply begins with the tag that opens a thought."""
    return _OPENS.match(reply) is not None


def _is_mentioned(tag: re.Match[str], begun: bool) -> bool:
    """Whether a sentence names the tag that would end a thought."""
    before = tag.string[max(0, tag.start() - _NEAR) : tag.start()]
    in_prose = _IN_PROSE.search(before) and _PROSE_GOES_ON.match(tag.string, tag.end())
    return bool(_QUOTED_TAG.search(before) or (in_prose and not begun))


def opened_thought(prompt: str) -> str:
    """The tag with which a prompt begins the model's thought; empty where it begins none.

    Examples
    --------
    >>> opened_thought("Assistant: <think>"), opened_thought("<think></think>")
    ('<think>', '')
    """
    match = _LEFT_OPEN.search(prompt)
    return match[1] if match else ""


def marks_thought(token: str) -> bool:
    """Whether a token opens or ends a thought, or is part of what does."""
    return _MARK.fullmatch(token) is not None


UNFINISHED = Answer(missing="thought not finished")
"""No answer behind a thought that does not end."""


def unusable_row(problem: str) -> Answer:
    """No answer for a row that cannot be used: the question is left out for all models."""
    return Answer(missing="unusable row", reply=problem)


def no_answer(text: str, *, cut: bool) -> Answer:
    """Why a text behind the thought gives no answer; ``cut`` if it ended at its limit.

    Examples
    --------
    >>> no_answer(" Both. ", cut=False).reply, no_answer("The", cut=True).missing
    ('Both.', 'cut off')
    """
    if cut:
        return Answer(missing="cut off")
    return Answer(missing="not readable", reply=text.strip()[:MOST_SHOWN])


def is_line(reply: str) -> bool:
    """Whether the line that counts is complete and not empty; no line of a thought counts.

    Examples
    --------
    >>> is_line(chr(10) + "In Paris"), is_line("In Paris" + chr(10))
    (False, True)
    >>> is_line("<think>" + chr(10) + "So:" + chr(10))
    False
    >>> is_line("The answer to this question is:" + chr(10))
    False
    """
    *over, _ = _spoken(reply).split("\n")
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
    text = next(filter(_says_something, _spoken(reply).split("\n")), "").strip()
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
    return first_word(_LAST_PIECE.sub("", _spoken(reply))) is not None


def is_filler(reply: str) -> bool:
    """Whether what follows in the reply cannot change its filler.

    Examples
    --------
    >>> is_filler("The word"), is_filler('The word is "river"'), is_filler("river" + chr(10))
    (False, True, True)
    """
    return is_line(reply) or _quotation(_spoken(reply).lstrip()) is not None


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
        categories = map(unicodedata.category, word)
        kept = [place for place, category in enumerate(categories) if category[0] not in "PS"]
        if kept:
            return word[kept[0] : kept[-1] + 1]
    return None
