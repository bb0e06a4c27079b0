"""How a tokenizer turns prompts into tokens, and tokens into text and words.

A chat template is a program that comes with the checkpoint: it runs in a process of its own, with
bounds on its time and memory, and mostly once.
"""

from __future__ import annotations

import os
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from multiprocessing import Pipe, get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from string import ascii_letters
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.options import Chat
from scope.models.replies import marks_thought, opened_thought
from scope.printing import first_line
from scope.untrusted import Failed, attempt

SECONDS = 5.0
BYTES = 256 * 2**20
"""Bounds of a chat template for one message: ordinary ones take milliseconds."""


class TemplateError(Exception):
    """Why a template makes no text of a message."""


def run_apart(program: Callable[[], str]) -> str:
    """The text that a program makes, in a copy of this process, which it cannot affect.

    Systems without such copies run it here.

    Raises
    ------
    TemplateError
        When it fails, or takes more time or memory than the bounds allow.

    Examples
    --------
    >>> run_apart(lambda: "a" * 10)
    'aaaaaaaaaa'
    >>> run_apart(lambda: "a" * 10**10)
    Traceback (most recent call last):
    scope.models.spelling.TemplateError: it takes more than 256 MiB of memory
    """
    if "fork" not in get_all_start_methods():
        return program()
    ours, theirs = Pipe(duplex=False)
    copy = get_context("fork").Process(target=_send, args=(program, theirs), daemon=True)
    # Threads are not copied; none is needed to render a template.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        copy.start()
    theirs.close()
    with ours:
        text = f"{_FAILS}it takes more than {SECONDS:.0f} seconds"
        try:
            if ours.poll(SECONDS):
                text = ours.recv_bytes(BYTES).decode("utf-8", "surrogatepass")
        except (EOFError, OSError):
            text = f"{_FAILS}it takes more than {BYTES // 2**20} MiB of memory"
    copy.kill()
    copy.join()
    if text.startswith(_FAILS):
        raise TemplateError(text.removeprefix(_FAILS))
    return text.removeprefix(_MADE)


_MADE, _FAILS = "+", "-"


def _send(program: Callable[[], str], target: Connection) -> NoReturn:
    """Run the program, send what it makes or why it fails, and end this process."""
    try:
        _bound_memory()
        made = attempt(program)
        if not isinstance(made, Failed):
            target.send_bytes(f"{_MADE}{made}".encode("utf-8", "surrogatepass"))
        elif not isinstance(made.error, MemoryError):
            target.send_bytes(f"{_FAILS}{first_line(made.error)}".encode("utf-8", "replace"))
    finally:
        # Whoever gets nothing knows that the memory was not enough.
        os._exit(0)


def _bound_memory() -> None:
    import resource

    # Some systems have no such bound, or do not report the memory in use.
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


_CONTINUES = "##"
_BEGINS = ("Ġ", "▁")
_INSIDE_WORDS = "'’-"


class WordPieces(NamedTuple):
    """One boolean per token of the vocabulary.

    ``begins`` are those that open a word after a space, ``opens`` those that may open one where
    no space comes before, ``continues`` those that are written onto the token before them.
    """

    begins: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    continues: NDArray[np.bool_]


def word_pieces(tokenizer: Any, size: int) -> WordPieces:
    """Sort the vocabulary of a tokenizer by what its tokens do to a word.

    Only tokens made of letters, digits, marks, apostrophes and hyphens count, and tokens that begin
    a word have a letter or digit. WordPiece marks what continues a word, byte-level and
    SentencePiece vocabularies mark what begins one; a vocabulary without marks leaves it open.
    """
    vocabulary = tokenizer.get_vocab()
    special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    marks = [sum(token.startswith(mark) for token in vocabulary) for mark in _BEGINS]
    suffixed = sum(token.startswith(_CONTINUES) for token in vocabulary) > max(marks)
    begins, opens, continues = np.zeros((3, size), dtype=bool)
    for token, number in vocabulary.items():
        text = tokenizer.convert_tokens_to_string([token]).strip()
        is_onward = suffixed and token.startswith(_CONTINUES)
        piece = text.removeprefix(_CONTINUES) if is_onward else text
        if number in special or number >= size or not _may_stand_in_word(piece):
            continue
        is_onset = any(map(str.isalnum, piece))
        if suffixed or not any(marks):
            begins[number] = opens[number] = is_onset and not is_onward
            continues[number] = is_onward or not suffixed
        else:
            marked = token.startswith(_BEGINS)
            begins[number], opens[number] = is_onset and marked, is_onset
            continues[number] = not marked
    return WordPieces(begins, opens, continues)


def _may_stand_in_word(piece: str) -> bool:
    """Whether a piece has only characters of words; a partial character decodes to none of them."""
    return bool(piece) and all(
        unicodedata.category(character)[0] in "LMN" or character in _INSIDE_WORDS
        for character in piece
    )


_PLACEHOLDER = "§scope§"
_MESSAGE = " \n a \"b\" <i>'é'</i> &amp; {{ c }} {% d %}\\n [/INST]\r\n\n\n" + 9 * "word " + "\n"
"""A message of another length, with characters that a template may treat in its own way."""

_LETTER = "a"
_LINE_END = "\n"

_DAY = date(2024, 7, 26)
_CODES = {f"%{letter}": _DAY.strftime(f"%{letter}") for letter in ascii_letters}
_PARTS = {f"%-{code[1]}": part.lstrip("0") or "0" for code, part in _CODES.items()} | _CODES
# Some templates write the date: answers must not change overnight. Others ignore these names.
_SETTINGS = MappingProxyType({"date_string": "26 Jul 2024", "date_parts": _PARTS})
# Templates take values alone, no functions: the day is written by the template itself.
_THAT_DAY = (
    "{% macro strftime_now(format) %}{% set written = namespace(date=format) %}"
    "{% for code, part in date_parts.items() %}"
    "{% set written.date = written.date | replace(code, part) %}"
    "{% endfor %}{{ written.date }}{% endmacro %}\n"
)


def around_every_text(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The tokens that a tokenizer puts before and after every text."""
    bare = list(tokenizer(_LETTER, add_special_tokens=False)["input_ids"])
    whole = list(tokenizer(_LETTER)["input_ids"])
    for place in range(len(whole) - len(bare) + 1):
        if whole[place : place + len(bare)] == bare:
            return whole[:place], whole[place + len(bare) :]
    return [], []


class Spelling:
    """A tokenizer with its model's prompt format: its chat template, if that is wanted.

    A prompt is plain text: the name of a special token in it, such as ``<|im_end|>``, is spelled
    out in ordinary tokens wherever the tokenizer can do that. ``opening`` are the tokens that the
    tokenizer puts before every text, such as ``<s>``: a prompt begins with them once, even where
    the template writes them, too.

    A template is asked for a thought if the model ``thinks``, else for none. ``thought`` is the tag
    with which it begins one in any case; it is ended at once unless the model thinks.
    """

    def __init__(
        self, tokenizer: Any, spec: str, chat: Chat = "auto", *, thinks: bool = False
    ) -> None:
        self._tokenizer, self._spec, self._thinks = tokenizer, spec, thinks
        self._texts: dict[int, str] = {}
        added = tokenizer.added_tokens_decoder
        special = {number: str(token) for number, token in added.items() if token.special}
        self._special = {*tokenizer.all_special_tokens, *special.values()}
        self.opening = tuple(around_every_text(tokenizer)[0])
        first, last = tokenizer.bos_token_id, tokenizer.eos_token_id
        # A first token that the tokenizer adds to no text is not one that a text begins with.
        ended = last is not None and first in (None, last)
        self.start = self.opening or ((last,) if ended else ())
        marks = {number for number, token in added.items() if marks_thought(str(token))}
        self._unwritten = {*tokenizer.all_special_ids, *special} - marks
        self.is_chat = chat != "no" and tokenizer.chat_template is not None
        if chat == "yes" and not self.is_chat:
            raise ModelError(
                f"`{spec}` has no chat template",
                expected="with --chat yes, language models with a chat template",
                fix="write --chat auto, or add the template to the checkpoint's tokenizer",
            )
        self.frame = self._render(_PLACEHOLDER) if self.is_chat else ""
        self._put = self._way_to_put() if self.is_chat else None
        self.thought = opened_thought(self.frame)
        end = f"{self.thought[:1]}/{self.thought[1:]}"
        self._end_of_thought = self._framed(f"\n{end}\n\n") if self.thought else []

    def prompt_with_reply(self, message: str, reply: str, whole: str) -> list[int]:
        """A message with the beginning of its reply; the whole where there are no messages."""
        if not self.is_chat:
            return self.plain(whole)
        return [*self.prompt(message), *self._end_of_thought, *self.continuation(reply)]

    def prompt(self, text: str) -> list[int]:
        """A prompt as the user's message up to where the reply begins; else as a plain text."""
        if not self.is_chat:
            return self.plain(text)
        if not any(name in text for name in self._special):
            # The whole at once, as transformers does it: tokens may cross a border.
            whole = self._put and self.frame.replace(_PLACEHOLDER, self._put(text))
            return self._opened(self._framed(self._render(text) if whole is None else whole))
        before, _, after = self.frame.partition(_PLACEHOLDER)
        return self._opened([*self._framed(before), *self._bare(text), *self._framed(after)])

    def plain(self, text: str) -> list[int]:
        """A text after the tokenizer's opening tokens, such as a first token."""
        return [*self.opening, *self._bare(text)]

    def started(self, text: str) -> list[int]:
        """A text after ``start``: its opening, else the sign that another text ended.

        Nothing precedes the text where the tokenizer has neither, or has a first token that it does
        not add.
        """
        return [*self.start, *self._bare(text)]

    def continuation(self, text: str) -> list[int]:
        """What follows a prompt, in tokens of its own: after a space, or begins a chat's reply."""
        follows = text if self.is_chat else f" {text}"
        # Some tokenizers put a space before every text: not where it follows on something.
        before, whole = self._bare(_LINE_END), self._bare(_LINE_END + follows)
        if whole[: len(before)] != before:
            return self._bare(follows)
        return whole[len(before) :]

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without the special ones that are no part of a thought."""
        written = [token for token in tokens if token not in self._unwritten]
        return str(self._tokenizer.decode(written, clean_up_tokenization_spaces=False))

    def as_read(self, tokens: Sequence[int]) -> str:
        """Tokens as text, with the special ones."""
        return str(self._tokenizer.decode(tokens, clean_up_tokenization_spaces=False))

    def as_it_follows(self, token: int) -> str:
        """A token's text where another token stands before it: with its space, if it has one."""
        if token not in self._texts:
            before = self._bare(_LETTER)
            both, first = self.as_read([*before, token]), self.as_read(before)
            self._texts[token] = both[len(first) :]
        return self._texts[token]

    def _opened(self, tokens: list[int]) -> list[int]:
        """With the tokenizer's opening tokens, which a template may have written."""
        written = tuple(tokens[: len(self.opening)]) == self.opening
        return tokens if written else [*self.opening, *tokens]

    def _bare(self, text: str) -> list[int]:
        encoded = self._tokenizer(
            text, add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        return list(encoded["input_ids"])

    def _framed(self, text: str) -> list[int]:
        """With special tokens where they stand in the text: the template writes all of them."""
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _render(self, text: str) -> str:
        """What the template makes of a message, which holds it once."""
        try:
            made = run_apart(lambda: self._applied(text))
        except TemplateError as error:
            raise self._unfit(str(error)) from error
        if text == _PLACEHOLDER and made.count(text) != 1:
            raise self._unfit(f"it makes {made[:80]!r} of a message")
        return made

    def _applied(self, text: str) -> str:
        messages = [{"role": "user", "content": text}]
        template = _THAT_DAY + self._tokenizer.get_chat_template()
        how = {"enable_thinking": self._thinks, "thinking": self._thinks, **_SETTINGS}
        how |= {"tokenize": False, "add_generation_prompt": True}
        return str(self._tokenizer.apply_chat_template(messages, chat_template=template, **how))

    def _way_to_put(self) -> Callable[[str], str] | None:
        """How the template changes the ends of a message; None where it changes more."""
        made = self._render(_MESSAGE)
        for way in (str, str.strip, str.lstrip, str.rstrip):
            if self.frame.replace(_PLACEHOLDER, way(_MESSAGE)) == made:
                return way
        return None

    def _unfit(self, reason: str) -> ModelError:
        return ModelError(
            f"the chat template of `{self._spec}` does not take a single message ({reason})",
            expected="a template that writes a user's message once",
            fix="fix the template that comes with the checkpoint's tokenizer, or add --chat no",
        )
