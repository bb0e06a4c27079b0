"""The prompts of language models, and how a tokenizer turns them into tokens.

A prompt is a template in a file that a user can replace: plain text in which ``{text}``,
``{context}``, ``{options}`` and ``{labels}`` stand for parts of the question. Every template holds
``{text}``; `choice_letters` also ``{options}``, the options as lines with a letter each; and
`classify`, no other, ``{labels}``, the same options as words in a row. The files in the folder
beside this module are used where the user gives none.

In `answer` and `cloze`, the text after ``{reply}`` is the beginning of the reply, which the model
continues: small chat models otherwise begin with words about the answer. ``{before}``, in `cloze`,
is the sentence up to its blank. Endpoints take no beginning: they get the text before ``{reply}``.
A question without a passage is asked without the template's beginning up to the passage's line.

If a prompt is longer than a model's limit, the text around the question is shortened.

A chat template is a program that comes with the checkpoint: it runs in a process of its own, with
bounds on its time and memory, and mostly once.
"""

from __future__ import annotations

import os
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from importlib import resources
from multiprocessing import Pipe, get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from string import ascii_letters
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from scope.data.sources import read_small_text
from scope.errors import DataError, ModelError, SpecError, first_line
from scope.models.options import Chat, ModelOptions
from scope.models.replies import marks_thought, opened_thought, option_letter
from scope.paths import expanded
from scope.progress import remark_once
from scope.protocols import Failed, attempt
from scope.records import BLANK, Question

_FIELD = re.compile(r"\{(\w+)\}")
_FIELDS = ("text", "context", "options")
_NEEDED = MappingProxyType({"choice_letters": ("text", "options"), "classify": ("text", "labels")})
_ALLOWED = MappingProxyType({"answer": ("reply",), "cloze": ("reply", "before")})
_REPLY = "{reply}"
_LETTERS_PART = "{options}\nAnswer with the letter of the right option alone.\nAnswer:"
"""The end of a prompt that does not list the options with their letters."""


class PromptParts(NamedTuple):
    """A question in its prompt: the message, and the beginning of the reply to it."""

    message: str
    reply: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A template with a name.

    Examples
    --------
    >>> prompt = Prompt(name="answer", template="{context} {text} Answer:")
    >>> prompt.render(Question(id="0", text="Who?", context="Ann {text}."))
    'Ann {text}. Who? Answer:'
    """

    name: str
    template: str

    def __post_init__(self) -> None:
        fields = _FIELD.findall(self.template)
        needed = _NEEDED.get(self.name, ("text",))
        known = dict.fromkeys((*_FIELDS, *needed, *_ALLOWED.get(self.name, ())))
        message, *replies = self.template.split(_REPLY)
        used = set(_FIELD.findall(message))
        if not set(needed) <= used or not set(fields) <= set(known) or len(replies) > 1:
            shown = " and ".join(f"{{{field}}}" for field in needed)
            raise SpecError(
                f"the prompt {self.name} with the fields {fields}",
                expected=f"a template with {shown} and no field but {', '.join(known)}"
                + ("; {reply} once, behind these" if "reply" in known else ""),
                fix="fix the prompt's file"
                + ", or name two text columns as its fields" * (self.name == "classify"),
            )

    def render(self, question: Question) -> str:
        """The template filled in with the question; fields within its words stay as they are.

        Options are lines with a letter each; labels are one row. Empty lines at either end are left
        out. The beginning of the reply, if there is one, ends the text.

        Examples
        --------
        >>> prompt = Prompt(name="answer", template="Read this.\\n{context}\\nQuestion: {text}")
        >>> prompt.render(Question(id="0", text="Who?", context="Ann reads."))
        'Read this.\\nAnn reads.\\nQuestion: Who?'
        >>> prompt.render(Question(id="0", text="Who?"))
        'Question: Who?'
        """
        return self._filled(self._asking(question).replace(_REPLY, ""), question).strip("\n")

    @property
    def is_bare(self) -> bool:
        """Whether a question is put as it stands: then the whole reply is the answer."""
        return self.template.strip() == "{text}"

    @property
    def begins_reply(self) -> bool:
        """Whether the model is given the beginning of its reply."""
        return _REPLY in self.template

    def parts(self, question: Question) -> PromptParts:
        """The message, and the beginning of the reply; empty where the template has none.

        Examples
        --------
        >>> template = "Which word? {text}\\n{reply}{before}"
        >>> question = Question(id="0", text="The ____ barks.")
        >>> Prompt(name="cloze", template=template).parts(question)
        PromptParts(message='Which word? The ____ barks.', reply='The')
        """
        message, _, reply = self._asking(question).partition(_REPLY)
        begun = self._filled(reply, question).rstrip()
        return PromptParts(self._filled(message, question).strip("\n"), begun)

    def _asking(self, question: Question) -> str:
        """The template; what it says about a passage is left out where there is none.

        That is its beginning up to the passage's line, if no other field stands there.
        """
        before, _, after = self.template.partition("{context}")
        line, _, rest = after.partition("\n")
        others = _FIELD.search(before + line)
        return self.template if question.context or others or not rest else rest

    def _filled(self, template: str, question: Question) -> str:
        parts = {
            "text": question.text,
            "context": question.context or "",
            "options": lettered(question.options),
            "labels": ", ".join(question.options),
            "before": question.text.partition(BLANK)[0].rstrip(),
        }
        return _FIELD.sub(lambda match: parts[match[1]], template)


def lettered(options: tuple[str, ...]) -> str:
    """Options as lines with a letter each.

    Examples
    --------
    >>> lettered(("yes", "no"))
    'A. yes\\nB. no'
    """
    return "\n".join(f"{option_letter(index)}. {option}" for index, option in enumerate(options))


def with_letters(prompt: Prompt) -> Prompt:
    """The prompt with the lettered options at its end; unchanged where it lists them.

    Examples
    --------
    >>> with_letters(Prompt(name="choice", template="{text}\\nAnswer:")).template.splitlines()
    ['{text}', '{options}', 'Answer with the letter of the right option alone.', 'Answer:']
    """
    if "{options}" in prompt.template:
        return prompt
    # The reply is to begin after the letters.
    asked = prompt.template.rstrip().removesuffix("Answer:").rstrip()
    return Prompt(name=prompt.name, template=f"{asked}\n{_LETTERS_PART}")


def choice_prompt_name(options: ModelOptions) -> str:
    """The name of the prompt with which language models choose."""
    return "choice_letters" if options.ask == "letters" else "choice"


def prompt_of(name: str, options: ModelOptions) -> Prompt:
    """The prompt of that name: the user's, or the one that comes with SCoPE.

    Raises
    ------
    SpecError
        When the user's template lacks a field, has an unknown one, or cannot be read.
    """
    of_parts = name == "classify" and bool(options.parts)
    source = options.prompts.get(name)
    if source is not None:
        template = read_prompt(source) if isinstance(source, Path) else source
    else:
        file = f"{name}{'_two' * of_parts}.txt"
        path = resources.files(__package__).joinpath("prompts", file)
        template = path.read_text(encoding="utf-8").rstrip("\n")
    return Prompt(name=name, template=for_parts(template, options.parts) if of_parts else template)


def for_parts(template: str, parts: Sequence[str]) -> str:
    """The template of a prompt for two texts: the first is its context, and the last its text.

    A prompt that is too long is cut at the end of its context first. In a template without fields
    of these names ``{text}`` stands for both texts, each after its name.

    Raises
    ------
    SpecError
        When it has no place for one of them, or there are more than two.

    Examples
    --------
    >>> for_parts("{premise} So {hypothesis}: {labels}?", ("premise", "hypothesis"))
    '{context} So {text}: {labels}?'
    >>> for_parts("{text}\\nAnswer {labels}:", ("premise", "text 2")).splitlines()
    ['Premise: {context}', 'Text 2: {text}', 'Answer {labels}:']
    """
    names = [re.sub(r"\W+", "_", part) for part in parts]
    if set(_FIELD.findall(template)).isdisjoint({*names, "context"}):
        both = zip(parts, names, strict=True)
        lines = [f"{part.capitalize()}: {{{name}}}" for part, name in both]
        template = template.replace("{text}", "\n".join(lines))
    roles = dict(zip(names, ("context", "text"), strict=False))
    filled = _FIELD.sub(lambda match: f"{{{roles.get(match[1], match[1])}}}", template)
    if len(parts) != 2 or not {"context", "text"} <= set(_FIELD.findall(filled)):
        fields = ", ".join(f"{{{name}}}" for name in names)
        raise SpecError(
            f"{len(parts)} texts for the prompt {template[:80]!r}",
            expected=f"two texts, and a prompt with {fields} and {{labels}}",
            fix="fix the prompt's file, or name two text columns",
        )
    return filled


def read_prompt(
    path: Path, expected: str = "a text file, UTF-8", fix: str = "check the path"
) -> str:
    """The text of a prompt's file, without line breaks at its end.

    Raises
    ------
    SpecError
        When it cannot be read; it says what is expected and how to fix it.
    """
    try:
        return read_small_text(expanded(path)).rstrip("\n")
    except DataError as error:
        problem = f"the prompt's file `{path}` cannot be read ({error.found})"
        raise SpecError(problem, expected=expected, fix=fix) from error


def cut_around(
    framed: Sequence[int], bare: Sequence[int], position: int, limit: int
) -> tuple[list[int], bool]:
    """The tokens around a position, in their frame, and whether any were left out.

    Parameters
    ----------
    framed, bare
        A text's tokens with the special tokens around them, and without.
    position
        Index in ``bare`` of the token to keep in the middle; near an end, the end is kept.
    limit
        Most tokens, frame included.

    Examples
    --------
    >>> cut_around([0, 11, 12, 13, 14, 15, 2], [11, 12, 13, 14, 15], position=3, limit=5)
    ([0, 13, 14, 15, 2], True)
    >>> cut_around([0, 11, 12, 2], [11, 12], position=0, limit=5)
    ([0, 11, 12, 2], False)
    """
    if len(framed) <= limit:
        return list(framed), False
    frame, inner = len(framed) - len(bare), list(bare)
    ahead = next((n for n in range(frame) if list(framed[n : n + len(inner)]) == inner), frame)
    room = max(1, limit - frame)
    start = max(0, min(position - room // 2, len(inner) - room))
    shortened = inner[start : start + room]
    return [*framed[:ahead], *shortened, *framed[ahead + len(inner) :]], True


TokensOf = Callable[[Question], list[int]]
"""A question in its prompt, as tokens."""


class Fitted(NamedTuple):
    """A prompt's tokens, and whether anything was left out of them."""

    tokens: list[int]
    truncated: bool


def fit_prompt(question: Question, limit: int, tokens_of: TokensOf) -> Fitted:
    """The question in its prompt: the passage is cut at its end first, then the question.

    The earlier messages of a chat are left out first, from the oldest on. Both are cut word by
    word. The prompt around them stays; if it alone is too long, its beginning
    and its last token are kept.

    Examples
    --------
    >>> def spelled(asked):
    ...     return [ord(c) for c in f"{asked.context or ''}|{asked.text}:"]
    >>> asked = Question(id="0", text="Who was seen?", context="Ann saw Bob today")
    >>> ["".join(map(chr, fit_prompt(asked, limit, spelled).tokens)) for limit in (99, 22, 10)]
    ['Ann saw Bob today|Who was seen?:', 'Ann saw|Who was seen?:', '|Who was:']
    """
    tokens = tokens_of(question)
    if len(tokens) <= limit:
        return Fitted(tokens, truncated=False)
    remark_once("a prompt is longer than its model reads and is cut; its answer may take minutes")
    while question.messages and len(tokens) > limit:
        question = replace(question, messages=question.messages[1:])
        tokens = tokens_of(question)
    if len(tokens) <= limit:
        return Fitted(tokens, truncated=True)
    words, passage = question.text.split(), (question.context or "").split()

    def tokens_with(kept: int) -> list[int]:
        more = kept - len(words)
        # No question is empty: dots replace it where not even one word has room.
        text = question.text if more >= 0 else " ".join(words[:kept]) or "…"
        return tokens_of(replace(question, text=text, context=" ".join(passage[: max(0, more)])))

    every = range(len(words) + len(passage))
    fitting = bisect_right(every, limit, key=lambda kept: len(tokens_with(kept)))
    tokens = tokens_with(max(0, fitting - 1))
    if len(tokens) > limit:
        tokens = [*tokens[: limit - 1], tokens[-1]]
    return Fitted(tokens, truncated=True)


def fit_around_blank(question: Question, limit: int, tokens_of: TokensOf) -> Fitted:
    """The cloze in its prompt; a sentence that is too long is cut to the words near the blank.

    The number of words on either side is halved until they fit.

    Raises
    ------
    ValueError
        When the question's text does not hold exactly one blank.

    Examples
    --------
    >>> def spelled(asked):
    ...     return [ord(c) for c in asked.text]
    >>> asked = Question(id="0", text="At night the ____ slept on the mat")
    >>> "".join(map(chr, fit_around_blank(asked, 24, spelled).tokens))
    'night the ____ slept on'
    """
    parts = question.text.split(BLANK)
    tokens = tokens_of(question)
    before, after = (part.split() for part in parts)
    words, is_too_long = max(len(before), len(after)), len(tokens) > limit
    while len(tokens) > limit and words:
        words //= 2
        near = [*before[max(0, len(before) - words) :], BLANK, *after[:words]]
        tokens = tokens_of(replace(question, text=" ".join(near)))
    return Fitted(tokens[:limit], is_too_long)


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
    scope.models.prompts.TemplateError: it takes more than 256 MiB of memory
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


PLACEHOLDER = "§scope§"

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


Messages = Sequence[tuple[str, str]]
"""The role and the content of each message of a chat."""


def as_script(earlier: Messages, text: str) -> str:
    """A chat for models without a chat template: a line a message, and the beginning of the reply.

    Examples
    --------
    >>> print(as_script([("user", "Hi"), ("assistant", "Hello")], "Who are you?"))
    user: Hi
    assistant: Hello
    user: Who are you?
    assistant:
    """
    if not earlier:
        return text
    lines = [f"{role}: {content}" for role, content in (*earlier, ("user", text))]
    return "\n".join([*lines, "assistant:"])


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
        self._frames: dict[tuple[str, ...], str] = {}
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
        self.frame = self._render(PLACEHOLDER) if self.is_chat else ""
        self._put = self._way_to_put() if self.is_chat else None
        self.thought = opened_thought(self.frame)
        end = f"{self.thought[:1]}/{self.thought[1:]}"
        self._end_of_thought = self._framed(f"\n{end}\n\n") if self.thought else []

    def prompt_with_reply(
        self, message: str, reply: str, whole: str, earlier: Messages = ()
    ) -> list[int]:
        """A message with the beginning of its reply; the whole where there are no messages."""
        if not self.is_chat:
            return self.plain(whole)
        prompt = self.prompt(message, earlier)
        return [*prompt, *self._end_of_thought, *self.continuation(reply)]

    def prompt(self, text: str, earlier: Messages = ()) -> list[int]:
        """A prompt as the user's message up to where the reply begins; else as a plain text.

        The ``earlier`` messages of a chat stand before it.
        """
        if not self.is_chat:
            return self.plain(as_script(earlier, text))
        if earlier:
            return self._chat([*earlier, ("user", text)])
        if not any(name in text for name in self._special):
            # The whole at once, as transformers does it: tokens may cross a border.
            whole = self._put and self.frame.replace(PLACEHOLDER, self._put(text))
            return self._opened(self._framed(self._render(text) if whole is None else whole))
        before, _, after = self.frame.partition(PLACEHOLDER)
        return self._opened([*self._framed(before), *self._bare(text), *self._framed(after)])

    def _chat(self, messages: Messages) -> list[int]:
        """Several messages in the template: its own text with special tokens, theirs without."""
        marks = {f"§scope{place}§": content for place, (_, content) in enumerate(messages)}
        roles = tuple(role for role, _ in messages)
        if roles not in self._frames:
            framed = [
                {"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)
            ]
            self._frames[roles] = self._rendered(lambda: self._applied(framed), roles)
        pieces = re.split("(" + "|".join(marks) + ")", self._frames[roles])
        if pieces[1::2] != list(marks):
            raise self._unfit("it leaves some out", roles)
        tokens = [
            token
            for piece in filter(None, pieces)
            for token in (self._bare(marks[piece]) if piece in marks else self._framed(piece))
        ]
        return self._opened(tokens)

    def require_chats(self, chats: Sequence[Messages]) -> None:
        """Refuse chats if the template does not write some, and say how many.

        Raises
        ------
        ModelError
            When there are any.
        """
        by_roles: dict[tuple[str, ...], list[Messages]] = {}
        for chat in chats:
            by_roles.setdefault(tuple(role for role, _ in chat), []).append(chat)
        refused: list[tuple[ModelError, int]] = []
        for alike in by_roles.values():
            try:
                self.prompt("", alike[0])
            except ModelError as error:
                refused.append((error, len(alike)))
        if refused:
            first, count = refused[0][0], sum(number for _, number in refused)
            problem = f"{first.found}: {count:,} of {len(chats):,} chats"
            raise ModelError(problem, expected=first.expected, fix=first.fix)

    def plain(self, text: str) -> list[int]:
        """A text after the tokenizer's opening tokens, such as a first token."""
        return [*self.opening, *self._bare(text)]

    def started(self, text: str) -> list[int]:
        """A text after ``start``: its opening, else the sign that another text ended.

        Nothing precedes the text where the tokenizer has neither, or has a first token that it does
        not add.
        """
        return [*self.start, *self._bare(text)]

    def continuation(self, text: str, *, begun: bool = False) -> list[int]:
        """What follows a prompt, in tokens of its own: after a space, or begins a chat's reply.

        A reply that the prompt has ``begun`` goes on after a space, too.
        """
        follows = text if self.is_chat and not begun else f" {text}"
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
        made = self._rendered(lambda: self._applied([{"role": "user", "content": text}]))
        if text == PLACEHOLDER and made.count(text) != 1:
            raise self._unfit(f"it makes {made[:80]!r} of a message")
        return made

    def _rendered(self, program: Callable[[], str], roles: Sequence[str] = ()) -> str:
        try:
            return run_apart(program)
        except TemplateError as error:
            raise self._unfit(str(error), roles) from error

    def _applied(self, messages: list[dict[str, str]]) -> str:
        template = _THAT_DAY + self._tokenizer.get_chat_template()
        how = {"enable_thinking": self._thinks, "thinking": self._thinks, **_SETTINGS}
        how |= {"tokenize": False, "add_generation_prompt": True}
        return str(self._tokenizer.apply_chat_template(messages, chat_template=template, **how))

    def _way_to_put(self) -> Callable[[str], str] | None:
        """How the template changes the ends of a message; None where it changes more."""
        made = self._render(_MESSAGE)
        for way in (str, str.strip, str.lstrip, str.rstrip):
            if self.frame.replace(PLACEHOLDER, way(_MESSAGE)) == made:
                return way
        return None

    def _unfit(self, reason: str, roles: Sequence[str] = ()) -> ModelError:
        if roles:  # It takes a user's message.
            return ModelError(
                f"the chat template of `{self._spec}` refuses a chat with messages by "
                f"{', '.join(roles)} ({reason})",
                expected="chats whose every message the template writes",
                fix="leave out these chats, or put the text of their system message into the "
                "user's; or add --chat no",
            )
        return ModelError(
            f"the chat template of `{self._spec}` does not take a single message ({reason})",
            expected="a template that writes a user's message once",
            fix="fix the template that comes with the checkpoint's tokenizer, or add --chat no",
        )
