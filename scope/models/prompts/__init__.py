"""The prompts of language models: templates in files that a user can replace.

A template is plain text in which ``{text}``, ``{context}``, ``{options}`` and ``{labels}`` stand
for parts of the question. Every template holds ``{text}``; `choice_letters` also ``{options}``, the
options as lines with a letter each; and `classify`, no other, ``{labels}``, the same options as
words in a row. The files beside this module are used where the user gives none.

In `answer` and `cloze`, the text after ``{reply}`` is the beginning of the reply, which the model
continues: small chat models otherwise begin with words about the answer. ``{before}``, in `cloze`,
is the sentence up to its blank. Endpoints take no beginning: they get the text before ``{reply}``.

If a prompt is longer than a model's limit, the text around the question is shortened.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from scope.data.sources import read_small_text
from scope.errors import DataError, SpecError
from scope.models.options import ModelOptions
from scope.paths import expanded
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
                fix="fix the prompt's file",
            )

    def render(self, question: Question) -> str:
        """The template filled in with the question; fields within its words stay as they are.

        Options are lines with a letter each; labels are one row. Empty lines at either end are left
        out, such as those around the passage of a question that has none. The beginning of the
        reply, if there is one, ends the text.
        """
        return self._filled(self.template.replace(_REPLY, ""), question).strip("\n")

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
        message, _, reply = self.template.partition(_REPLY)
        begun = self._filled(reply, question).rstrip()
        return PromptParts(self._filled(message, question).strip("\n"), begun)

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


def option_letter(index: int) -> str:
    """The letter of an option, from A on.

    Examples
    --------
    >>> option_letter(0), option_letter(25)
    ('A', 'Z')
    """
    return chr(ord("A") + index)


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
    source = options.prompts.get(name)
    if source is not None:
        template = read_prompt(source) if isinstance(source, Path) else source
        return Prompt(name=name, template=template)
    file = resources.files(__package__).joinpath(f"{name}.txt")
    return Prompt(name=name, template=file.read_text(encoding="utf-8").rstrip("\n"))


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

    Both are cut word by word. The prompt around them stays; if it alone is too long, its beginning
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
