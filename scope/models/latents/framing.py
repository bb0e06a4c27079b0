"""Makes tokens of texts in their prompt, and says which of them are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scope.errors import DataError, SpecError
from scope.models.latents.readout import Readout

_LETTER = "a"


class Framed(NamedTuple):
    """A text's tokens with all that stands around them, and whether its end was left out."""

    tokens: list[int]
    truncated: bool


class Framing:
    """A tokenizer, with what stands around every text.

    What stands before the text, the text and what stands behind it are turned into tokens apart:
    so a text that is too long loses its end, and the prompt nothing. The names of special tokens
    in a text are spelled out in ordinary ones wherever the tokenizer can do that. Space around a
    text is no part of it.

    Raises
    ------
    SpecError
        When the prompt leaves no room for a text.
    """

    def __init__(
        self, tokenizer: Any, readout: Readout, *, limit: int, causal: bool, spec: str
    ) -> None:
        self._tokenizer, self._spec = tokenizer, spec
        opening, self._closing = self._special()
        before, after = map(self._bare_one, readout.around)
        self._before, self._behind = [*opening, *before], [*after, *self._closing]
        self._takes_mean, self._causal = readout.kind == "mean", causal
        self._room = limit - len(self._before) - len(self._behind)
        if self._room < 1:
            raise SpecError(
                f"a prompt of {len(self._before) + len(self._behind)} tokens",
                expected=f"room for a text among the {limit} tokens that `{spec}` reads",
                fix="give a shorter prompt",
            )

    def frame(self, texts: Sequence[str]) -> list[Framed]:
        """The tokens of each text, in order.

        Raises
        ------
        DataError
            When a text has no token.
        """
        bare = self._bare([text.strip() for text in texts]) if texts else []
        empty = [text for text, tokens in zip(texts, bare, strict=True) if not tokens]
        if empty:
            raise DataError(
                f"{len(empty)} of {len(texts)} texts have no token for `{self._spec}`, "
                f"such as {empty[0][:80]!r}",
                expected="texts with at least one word that the model can read",
                fix="leave these texts out",
            )
        return [
            Framed([*self._before, *tokens[: self._room], *self._behind], len(tokens) > self._room)
            for tokens in bare
        ]

    def read(self, length: int) -> slice:
        """The places that are read in rows of that many tokens."""
        if not self._takes_mean:
            last = length - len(self._closing) - 1
            return slice(last, last + 1)
        # A single token is all that there is, massive or not.
        return slice(int(self._causal and length > 1), length)

    def _special(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before every text, and what behind it."""
        bare, whole = self._bare_one(_LETTER), list(self._tokenizer(_LETTER)["input_ids"])
        places = range(len(whole) - len(bare) + 1)
        place = next((n for n in places if whole[n : n + len(bare)] == bare), None)
        if place is None:
            return [], []
        return whole[:place], whole[place + len(bare) :]

    def _bare_one(self, text: str) -> list[int]:
        return self._bare([text])[0] if text else []

    def _bare(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        return [list(tokens) for tokens in encoded["input_ids"]]
