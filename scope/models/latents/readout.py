"""Where in a text its latents are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from scope.errors import SpecError

ReadoutKind = Literal["prompt", "last", "mean"]

SLOT = "{text}"
"""The place of the text in a prompt."""

ONE_WORD = 'The sentence "{text}" can be summarized in one word as "'
"""The prompt that is used unless another is given; it was chosen on development data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Readout:
    """How the tokens of a text become one vector a layer.

    Parameters
    ----------
    kind
        ``prompt``: the last token of a prompt with the text in it, where a causal model is about
        to say what the text means. ``last``: the last token of the bare text. ``mean``: the mean
        over all tokens that the model reads, its special ones included; of a causal model without
        the first, whose activations are massive whatever the text says.
    template
        The prompt, with one ``{text}`` in it; for the kind ``prompt`` alone.

    Raises
    ------
    SpecError
        When the kind is none, or the template has not exactly one slot.

    Examples
    --------
    >>> Readout(kind="prompt", template="{text} In short:").around
    ('', ' In short:')
    >>> Readout(kind="mean").around
    ('', '')
    """

    kind: ReadoutKind
    template: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(ReadoutKind):
            raise SpecError(
                f"a readout called `{self.kind}`",
                expected=f"one of: {', '.join(get_args(ReadoutKind))}",
                fix="omit it for the model's default",
            )
        if self.template is None:
            return
        if self.kind != "prompt":
            raise SpecError(
                f"a prompt for the readout {self.kind}, which uses none",
                expected="the readout prompt",
                fix="leave the prompt out, or use the readout prompt",
            )
        if self.template.count(SLOT) != 1:
            raise SpecError(
                f"a prompt with {self.template.count(SLOT)} slots: {self.template[:80]!r}",
                expected=f"exactly one {SLOT}for the text",
                fix=f"write for example {ONE_WORD!r}",
            )

    @property
    def prompt(self) -> str | None:
        """The prompt that is used, the usual one included; None where there is none."""
        return (self.template or ONE_WORD) if self.kind == "prompt" else None

    @property
    def around(self) -> tuple[str, str]:
        """What stands before the text, and what behind it."""
        before, _, after = (self.prompt or SLOT).partition(SLOT)
        return before, after
