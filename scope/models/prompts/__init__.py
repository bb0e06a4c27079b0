"""The prompts of language models: templates in files that a user can replace.

A template is plain text in which ``{text}``, ``{context}``, ``{options}`` and ``{labels}`` stand
for parts of the question. Every template holds ``{text}``; `choice_letters` also ``{options}``, the
options as lines with a letter each; and `classify`, no other, ``{labels}``, the same options as
words in a row. The files beside this module are used where the user gives none.

What stands behind ``{reply}``, in `answer` and `cloze`, is the beginning of the reply, which the
model carries on: small chat models otherwise begin with words about the answer. ``{before}``, in
`cloze`, is the sentence up to its blank. Endpoints take no beginning: they are sent what stands
before ``{reply}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_NEEDED = MappingProxyType(
    {"choice_letters": ("text", "options"), "classify": ("text", "labels")},
)
_ALLOWED = MappingProxyType({"answer": ("reply",), "cloze": ("reply", "before")})
_REPLY = "{reply}"


class PromptParts(NamedTuple):
    """A question as it is put: the message, and the beginning of the reply to it."""

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
        """The template with the question's own words in it; fields within those stay as they are.

        Options stand a line each, with a letter; as labels, one after the other. Empty lines at
        either end are left out, such as those around the passage of a question that has none.
        The beginning of the reply, if there is one, ends the text.
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
        return PromptParts(
            self._filled(message, question).strip("\n"), self._filled(reply, question).rstrip()
        )

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


def prompt_of(name: str, options: ModelOptions) -> Prompt:
    """The prompt of that name: the user's, or the one that comes with SCoPE.

    Raises
    ------
    SpecError
        When the user's template lacks a field, has one that is not its own, or cannot be read.
    """
    own = options.prompts.get(name)
    if own is not None:
        return Prompt(name=name, template=_read(own) if isinstance(own, Path) else own)
    file = resources.files(__package__).joinpath(f"{name}.txt")
    return Prompt(name=name, template=file.read_text(encoding="utf-8").rstrip("\n"))


def _read(path: Path) -> str:
    try:
        return read_small_text(expanded(path)).rstrip("\n")
    except DataError as error:
        raise SpecError(
            f"the prompt's file `{path}` cannot be read ({error.found})",
            expected="a text file, UTF-8",
            fix="check the path",
        ) from error
