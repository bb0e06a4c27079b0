"""How a causal language model's tokenizer turns prompts into tokens, and tokens into text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

from scope.errors import ModelError
from scope.foreign import converting
from scope.models.bounded import failure_of
from scope.printing import first_line

_PLACEHOLDER = "§scope§"
_LETTER = "a"
_LINE_END = "\n"

# Some templates write the day's date or ask for thoughts: answers must not change overnight, and
# a short answer leaves no room for thoughts. Templates that know none of the names ignore them.
_SETTINGS = MappingProxyType(
    {
        "date_string": "26 Jul 2024",
        "strftime_now": date(2024, 7, 26).strftime,
        "enable_thinking": False,
    }
)


class Spelling:
    """A tokenizer as its model was taught to be asked: with its chat template, if it has one.

    What stands in a prompt is text and nothing else: the name of a special token in it, such as
    ``<|im_end|>``, is spelled out in ordinary tokens wherever the tokenizer can do that.
    """

    def __init__(self, tokenizer: Any, spec: str) -> None:
        self._tokenizer = tokenizer
        self._special = tuple(
            {
                *tokenizer.all_special_tokens,
                *(str(t) for t in tokenizer.added_tokens_decoder.values() if t.special),
            }
        )
        self.opening = self._opening()
        self.is_chat = tokenizer.chat_template is not None
        self.frame = self._render_first(spec) if self.is_chat else ""

    def prompt_with_reply(self, message: str, reply: str, whole: str) -> list[int]:
        """A message with the beginning of its reply; the whole where there are no messages."""
        if not self.is_chat:
            return self.plain(whole)
        return [*self.prompt(message), *self.continuation(reply)]

    def prompt(self, text: str) -> list[int]:
        """A prompt as the user's message up to where the reply begins; else as a plain text."""
        if not self.is_chat:
            return self.plain(text)
        if not any(name in text for name in self._special):
            # The whole at once, as transformers does it: tokens may reach over a border.
            return self._framed(self._render(text))
        before, _, after = self.frame.partition(_PLACEHOLDER)
        return [*self._framed(before), *self._bare(text), *self._framed(after)]

    def plain(self, text: str) -> list[int]:
        """A text after what the tokenizer puts in front of every text, such as its first token."""
        return [*self.opening, *self._bare(text)]

    def continuation(self, text: str) -> list[int]:
        """What follows a prompt, in tokens of its own: after a space, or begins a chat's reply."""
        follows = text if self.is_chat else f" {text}"
        # Some tokenizers put a space before every text: not where it follows on something.
        before, whole = self._bare(_LINE_END), self._bare(_LINE_END + follows)
        if whole[: len(before)] != before:
            return self._bare(follows)
        return whole[len(before) :]

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without the special ones."""
        return str(
            self._tokenizer.decode(
                tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def as_it_follows(self, token: int) -> str:
        """A token's text where another token stands before it: with its space, if it has one."""
        before = self._bare(_LETTER)
        both, first = (
            str(self._tokenizer.decode(tokens, clean_up_tokenization_spaces=False))
            for tokens in ([*before, token], before)
        )
        return both[len(first) :]

    def _bare(self, text: str) -> list[int]:
        encoded = self._tokenizer(
            text, add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        return list(encoded["input_ids"])

    def _framed(self, text: str) -> list[int]:
        """With special tokens where they stand in the text: the template writes all of them."""
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _opening(self) -> tuple[int, ...]:
        bare, whole = self._bare(_LETTER), list(self._tokenizer(_LETTER)["input_ids"])
        places = range(len(whole) - len(bare) + 1)
        place = next((n for n in places if whole[n : n + len(bare)] == bare), 0)
        return tuple(whole[:place])

    def _render(self, text: str) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                [{"role": "user", "content": text}],
                tokenize=False,
                add_generation_prompt=True,
                **_SETTINGS,
            )
        )

    def _render_first(self, spec: str) -> str:
        # A template is a program of the checkpoint's author: it may loop or grow without end.
        if reason := failure_of(lambda: self._render(_PLACEHOLDER)):
            raise self._unfit(spec, reason)
        # It may also fail in any way.
        with converting(lambda error: self._unfit(spec, first_line(error))):
            frame = self._render(_PLACEHOLDER)
        if frame.count(_PLACEHOLDER) != 1:
            raise self._unfit(spec, f"it makes {frame[:80]!r} of a message")
        return frame

    def _unfit(self, spec: str, reason: str) -> ModelError:
        return ModelError(
            f"the chat template of `{spec}` does not take a single message ({reason})",
            expected="a template that writes a user's message once",
            fix="fix the template that comes with the checkpoint's tokenizer, or remove it",
        )
