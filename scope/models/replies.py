"""From what a language model gives to an answer: its words, its letter, and the probabilities.

The model's thought is left out. A reply names an option by its letter, or in full. Probabilities
come from scores, or from the log-probabilities of tokens; they are rounded, and ranked.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.metrics.agreement import squad_normalized
from scope.metrics.arrays import normalized
from scope.records import Answer, NoAnswer, Prediction, Probabilities, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """One generated token, and the likeliest tokens in its place with their probabilities."""

    token: str
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptToken:
    """A token of a prompt that was read.

    ``name`` is its number in the vocabulary, or its text. ``log_probability`` is that after the
    tokens before it; NaN for the first. ``others`` are likely ones in its place.
    """

    name: str
    text: str
    log_probability: float
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply: its text without the model's thought, and log-probabilities where they are given.

    Both are empty where it cannot hold an answer; ``missing`` says why. Whether the model
    ``thinks`` may stand in the content, beside it, or be counted alone; the thought is ``opened``
    where only its end stands in the content. ``cut`` is true if the reply ended at the limit on its
    tokens. ``names`` are the server's models and ``read`` the prompt's tokens, where requested;
    ``model`` is the model id in the reply.
    """

    text: str = ""
    missing: NoAnswer = ""
    thinks: bool = False
    opened: bool = False
    cut: bool = False
    positions: tuple[Position, ...] = ()
    names: tuple[str, ...] = ()
    read: tuple[PromptToken, ...] = ()
    model: str = ""

    @property
    def lacks_answer(self) -> bool:
        """Whether nothing follows a thought: its end is missing, or was put in the wrong place."""
        return self.thinks and not self.text.strip()


READ_BY = "rules 5"
"""Part of the fingerprint of models whose replies are read here; changes with the rules, and with
how a prompt is filled in."""

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

_MAY_ANNOUNCE = re.compile(
    r"\W*(?:answer|according|based|certainly|course|here|from|okay|ok|question|sure)", re.IGNORECASE
)
"""Words at the beginning of a reply that announces its answer."""

UNANSWERABLE = "unanswerable"
"""What a model is to write where a passage does not answer the question; read as an empty text."""

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
    >>> no_answer("\\n", cut=False).missing
    'empty'
    """
    if cut or not text.strip():
        return Answer(missing="cut off" if cut else "empty")
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


def is_other(reply: str, answer: str) -> bool:
    """Whether a reply, however it goes on, differs from an answer in more than spelling.

    Only whole words count, and three at least: fewer may announce the answer. A reply that begins
    with words such as "Sure" or "Here" is never another one, as its answer may stand on a line of
    its own; one that begins otherwise and has its answer there is taken for another one.

    Examples
    --------
    >>> is_other("The Denver Broncos won", "Carolina"), is_other("In the Den", "In Denver, Ohio")
    (True, False)
    >>> replies = ("The final answer is", "“Denver” or not at", "Sure. Here it is:")
    >>> [is_other(reply, "Carolina") for reply in replies]
    [False, False, False]
    """
    words = _spoken(reply).split()
    whole = words if reply[-1:].isspace() else words[:-1]
    beginning, known = (squad_normalized(" ".join(some)).split() for some in (whole, [answer]))
    return (
        len(whole) > 2
        and whole[0][0] not in "".join(_QUOTES)
        and not any(map(_MAY_ANNOUNCE.match, whole[:3]))
        and bool(known)
        and beginning != known[: len(beginning)]
    )


def goes_on(reply: str) -> bool:
    """Whether an answer is over before its reply is: never, where the whole reply counts."""
    del reply
    return False


def whole_text(reply: str) -> str | None:
    """The answer to a message that is put as it stands: the whole reply, if it has words.

    Examples
    --------
    >>> whole_text(" One. \\n Two. "), whole_text(" ")
    ('One. \\n Two.', None)
    """
    return reply.strip() or None


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


MOST_OPTIONS = 26
"""The number of letters."""

LIKELIEST = 20
"""Log-probabilities requested with a letter: the most that OpenAI's protocol allows."""

_AROUND = " \t\n.,:;()[]{}<>*_\"'`"
"""Characters allowed around a letter in a token or a text: ``(A)``, `` A.``, ``**A**``."""

_MARKED = re.compile(r"[(\[*_`]*([A-Z])[.:)\]*_`]+(?=\s|$)")

_FOLLOWS = re.compile(
    r"(?:\b(?:answer\s+is|answer\s*:|(?<!not )option(?:\s+is)?)|\\boxed\s*\{(?:\\text\w*\{)?)"
    r"[\s:(\[*_`\"']*(?-i:([A-Z]))"
    # Else it may be a word: the answer is A cat.
    r"(?=[.,;:!?)\]}$*_`\"'’]+(?:\s|$)|\s*(?:\n|$)|\s+(?:[-–—(\[]|(?:because|since|as|or|and)\b"
    r"|is\s+(?:the\s+)?(?:correct|right|best)\b))",
    re.IGNORECASE,
)

_SEVERAL = re.compile(r"[^\w\n]*(?:\b(?:or|and)\b|[&/])|,\s*[A-HJ-Z]\b")
"""Follows a letter that is not the only answer."""


class Letter(NamedTuple):
    """A letter written as the answer: the index of its option, and its position in the text."""

    option: int
    place: int


def option_letter(index: int) -> str:
    """The letter of an option, from A on.

    Examples
    --------
    >>> option_letter(0), option_letter(25)
    ('A', 'Z')
    """
    return chr(ord("A") + index)


def option_of(token: str, options: int) -> int | None:
    """The option whose letter the token is, with or without space and punctuation around it.

    Examples
    --------
    >>> [option_of(token, 4) for token in ("A", " B", "C.", "(D", "E", "a", "An")]
    [0, 1, 2, 3, None, None, None]
    """
    bare = token.strip(_AROUND)
    letters = [option_letter(index) for index in range(options)]
    return letters.index(bare) if bare in letters else None


def is_letter(reply: str) -> bool:
    """Whether the first line of a reply is over, and is a letter.

    Examples
    --------
    >>> is_letter("B" + chr(10)), is_letter("B"), is_letter("A cat" + chr(10))
    (True, False, False)
    """
    first, *over = (without_thought(reply) or "").lstrip().split("\n")
    return bool(over) and option_of(first, MOST_OPTIONS) is not None


def written_letter(text: str, options: int) -> Letter | None:
    """The letter that a text gives as its answer; None where it gives none, or several.

    Some letters are words, and any text may contain letters. So a letter counts only if it is the
    whole first line; if it opens the text and is marked, as in ``B.``, ``(B)`` or ``**B**``; or if
    it follows ``answer is``, ``answer:``, ``option`` or ``\\boxed{``, and the next word, if any,
    gives a reason or confirms the answer. Letters joined by ``or`` or ``and`` do not count.

    Examples
    --------
    >>> written_letter("(B)", 4), written_letter("The answer is C, since", 4)
    (Letter(option=1, place=1), Letter(option=2, place=14))
    >>> written_letter("I would say B", 9), written_letter("Option A or option B", 4)
    (None, None)
    """
    start = len(text) - len(text.lstrip())
    first = text[start:].partition("\n")[0]
    option = option_of(first, options)
    if option is not None:
        return Letter(option, start + first.index(option_letter(option)))
    opening = _MARKED.match(text, start)
    for matches in ([opening] if opening else [], list(_FOLLOWS.finditer(text))):
        named = [
            Letter(option, match.start(1))
            for match in matches
            if (option := option_of(match[1], options)) is not None
        ]
        if named:
            alone = not any(_SEVERAL.match(text, letter.place + 1) for letter in named)
            return named[0] if alone and len({letter.option for letter in named}) == 1 else None
    return None


def spelled_option(text: str, options: Sequence[str]) -> int | None:
    """The option whose text is the first line, ignoring case and surrounding marks.

    Examples
    --------
    >>> spelled_option("Paris.", ("Rome", "Paris")), spelled_option("In Paris", ("Rome", "Paris"))
    (1, None)
    >>> spelled_option("Paris", ("Paris", "paris"))
    """
    words = _bare(line(text))
    same = [index for index, option in enumerate(options) if words and _bare(option) == words]
    return same[0] if len(same) == 1 else None


def _bare(text: str) -> str:
    return text.strip(_AROUND).casefold()


def require_letters(questions: Sequence[Question]) -> None:
    """Refuse a question with more options than there are letters.

    Raises
    ------
    ModelError
        When there is one.
    """
    for question in questions:
        if len(question.options) > MOST_OPTIONS:
            raise ModelError(
                f"the question {question.id!r} has {len(question.options)} options",
                expected=f"at most {MOST_OPTIONS}: models answer with a letter",
                fix="leave that question out, or compare models of the scheme hf alone, with "
                "--ask words",
            )


_AFTER_TEXT = re.compile(r"\s*(?:(?:<[^<>\s]*>|\[/?[A-Z]+\])\s*)*")
"""What may follow a text among the tokens: those that end it."""

LEAST_MASS = 0.5
"""Least sum of the letters' probabilities where no letter is written, but for labels."""


def option_probabilities(
    positions: Sequence[Position],
    options: int,
    text: str,
    written: Letter | None,
    *,
    least: float = LEAST_MASS,
) -> Probabilities:
    """One probability per option, rounded to six decimals; empty where no letter was likely.

    The text is the end of the tokens, which may begin with the model's thought; where it is not,
    nothing is known of its probabilities. They are read at the position of the letter that the
    model writes as its answer. If it writes none, they are read at the first position where the
    letters together are at least as likely as all other tokens, except positions where it writes a
    letter as a word. The spellings of a letter are summed. The letters are scaled to a sum of 1,
    since other tokens are not options; an option that is not among the likeliest tokens gets 0.

    Parameters
    ----------
    positions
        The tokens of the reply, with those of a thought.
    options
        Number of options.
    text
        The text that answers.
    written
        The letter that is the text's answer, if it gives one.
    least
        Least sum of the letters' probabilities where no letter is written.

    Examples
    --------
    >>> likeliest = (("B", 0.5), (" B", 0.1), ("A", 0.2), ("The", 0.1))
    >>> option_probabilities([Position(token="B", likeliest=likeliest)], 3, "B", Letter(1, 0))
    (0.25, 0.75, 0.0)
    >>> refusal = Position(token="I", likeliest=(("I", 0.999), ("B", 1e-9)))
    >>> option_probabilities([refusal], 2, "I", None)
    ()
    """
    tokens = "".join(position.token for position in positions)
    start = tokens.rfind(text)
    if start < 0 or not _AFTER_TEXT.fullmatch(tokens, start + len(text)):
        return ()
    ends = list(accumulate(len(position.token) for position in positions))
    if written:
        position = positions[bisect_right(ends, start + written.place)]
        # If a token is longer, such as `B. cat`, its alternatives do not show the letters.
        is_letter = option_of(position.token, written.option + 1) is not None
        return _scaled(_masses(position, options)) if is_letter else ()
    for position in positions[bisect_right(ends, start) :]:
        masses = _masses(position, options)
        if option_of(position.token, options) is None and math.fsum(masses) >= least:
            return _scaled(masses)
    return ()


def _masses(position: Position, options: int) -> list[float]:
    masses = [0.0] * options
    for token, probability in position.likeliest:
        if (option := option_of(token, options)) is not None:
            masses[option] += probability
    return masses


def _scaled(masses: Sequence[float]) -> Probabilities:
    total = math.fsum(masses)
    return tuple(rounded(np.array(masses) / total).tolist()) if total else ()


DECIMALS = 6
"""Probabilities are rounded here: finer digits are noise of the hardware."""


def rounded(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities that sum to 1, rounded so that their sum and order are preserved.

    Each is rounded down, and the remainder goes to those that lost most, the first of equals first:
    so the likeliest stays the likeliest.

    Examples
    --------
    >>> rounded(np.array([1, 1, 1]) / 3).tolist()
    [0.333334, 0.333333, 0.333333]
    """
    units = probabilities * 10**DECIMALS
    whole = np.floor(units)
    missing = max(0, round(10**DECIMALS - whole.sum()))
    whole[np.argsort(whole - units, kind="stable")[:missing]] += 1
    return np.asarray(np.round(whole / 10**DECIMALS, DECIMALS))


def shares_of(numbers: Sequence[float]) -> Probabilities:
    """The probabilities that a user gives, so that they sum to 1, with six decimals."""
    return tuple(round(share, DECIMALS) for share in normalized(numbers).tolist())


def chosen(scores: Sequence[float], *, truncated: bool) -> Answer:
    """The likeliest option, the first of equals, with the softmax of the scores.

    There is no answer where a score is NaN, or none is finite.

    Examples
    --------
    >>> chosen([0.0, 0.0, -1000.0], truncated=False).probabilities
    (0.5, 0.5, 0.0)
    >>> chosen([0.0, math.nan], truncated=False).missing
    'no number'
    """
    if any(map(math.isnan, scores)) or math.isinf(max(scores)):
        return Answer(missing="no number", truncated=truncated)
    exponentials = np.exp(np.array(scores) - max(scores))
    probabilities = rounded(exponentials / exponentials.sum())
    return Answer(
        choice=int(probabilities.argmax()),
        probabilities=tuple(probabilities.tolist()),
        truncated=truncated,
    )


def next_tokens(
    likeliest: Iterable[tuple[str, float]], most: int, *, truncated: bool = False
) -> Prediction:
    """A prediction of next tokens: equal texts merged, rounded and ranked.

    Parameters
    ----------
    likeliest
        Texts of tokens with their probabilities, in any order; the remainder to 1 is the mass of
        all other tokens.
    most
        Number of tokens to keep.

    Examples
    --------
    >>> next_tokens([(" cat", 0.5), (" dog", 0.2), (" cat", 0.1)], 20)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=(' cat', ' dog'))
    """
    masses: dict[str, float] = {}
    # Sorted, so that neither sums nor rounding depend on the order.
    for token, probability in sorted(likeliest):
        masses[token] = masses.get(token, 0.0) + probability
    rest = max(0.0, 1 - math.fsum(masses.values()))
    shown = rounded(np.array([*masses.values(), rest]))[:-1].tolist()
    together = Prediction(probabilities=tuple(shown), tokens=tuple(masses), truncated=truncated)
    return ranked(together, most)


def ranked(prediction: Prediction, most: int) -> Prediction:
    """The likeliest tokens of a prediction, by falling probability; of equals, by text.

    Examples
    --------
    >>> ranked(Prediction(probabilities=(0.2, 0.2, 0.6), tokens=("b", "a", "c")), 2)
    Prediction(probabilities=(0.6, 0.2), truncated=False, tokens=('c', 'a'))
    """
    both = zip(prediction.tokens, prediction.probabilities, strict=True)
    kept = sorted(both, key=lambda pair: (-pair[1], pair[0]))[:most]
    return replace(
        prediction,
        probabilities=tuple(probability for _, probability in kept),
        tokens=tuple(token for token, _ in kept),
    )


Read = Callable[[Reply, Question], Answer]

Words = Callable[[str], str | None]


def reply_of(text: str, *, cut: bool, positions: Sequence[Position] = ()) -> Reply:
    """The reply of a model at hand."""
    if (answer := without_thought(text)) is None:
        return Reply(missing="thought not finished")
    return Reply(text=answer, cut=cut, positions=tuple(positions))


def answer_in(reply: Reply, question: Question, read: Read) -> Answer:
    """What a reply to a question is read as, or why it cannot hold an answer."""
    if reply.missing:
        return Answer(missing=reply.missing, truncated=reply.missing == "cut off")
    return read(reply, question)


def words_of(read: Words, reply: Reply, _: Question) -> Answer:
    """The answer in words that a reply gives; it is cut if it would go on as the reply does.

    >>> replies = [Reply(text=text, cut=True) for text in ("In Par", "Paris" + chr(10) + "It")]
    >>> [words_of(answer_text, reply, None).cut for reply in replies]
    [True, False]
    """
    words = read(reply.text)
    if words is None:
        return no_answer(reply.text, cut=reply.cut)
    return Answer(text=words, cut=reply.cut and read(f"{reply.text}x") != words)


def choice_of(reply: Reply, question: Question, *, labels: bool = False) -> Answer:
    """The option that a reply names by its letter, with probabilities where they can be read.

    Of options that are ``labels``, the letters' probabilities are compared at the first token
    where no letter is written, however unlikely all are: a classifier has some for every text.
    """
    text, options = reply.text.strip(), len(question.options)
    letter = written_letter(text, options)
    read = partial(option_probabilities, reply.positions, options, text, letter)
    probabilities = (read() or (read(least=0.0) if labels else ())) if text else ()
    if probabilities:
        return Answer(choice=probabilities.index(max(probabilities)), probabilities=probabilities)
    choice = letter.option if letter else spelled_option(text, question.options)
    return no_answer(text, cut=reply.cut) if choice is None else Answer(choice=choice)
