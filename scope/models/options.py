"""How a model is loaded, run and queried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from scope.core.options import (
    HIDDEN,
    MODELS,
    OUTSIDE_IDENTITY,
    Limits,
    named_values,
    option,
    whole_number,
)
from scope.core.request import check_values
from scope.errors import ModelError, SpecError
from scope.paths import expanded

Device = Literal["auto", "cpu", "cuda", "mps"]
DType = Literal["float32", "float16", "bfloat16"]
Form = Literal["letters", "words"]
Chat = Literal["auto", "yes", "no"]
Thinking = Literal["auto", "off", "on"]

PROMPTS = ("answer", "choice", "choice_letters", "classify", "cloze", "text_to_text_answer")
"""The names of the prompts; each is a file beside `scope.models.prompts`."""

SENTENCE_ENCODER = "hf:sentence-transformers/all-mpnet-base-v2"
"""The default sentence encoder."""

LETTER_TOKENS = 16
"""Enough for a letter after a few words, as in ``The correct answer is: **(A)**``."""

THOUGHT_TOKENS = 1024
"""Most tokens of a thought before an answer."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """Where a model runs, and what may be loaded for it."""

    device: Annotated[Device, option(MODELS), OUTSIDE_IDENTITY] = "auto"
    """Where models run; auto takes CUDA, then MPS, then the CPU."""

    token_budget: Annotated[int, whole_number(MODELS), Limits(least=1), OUTSIDE_IDENTITY] = 4096
    """Most tokens in one batch; bounds the memory. Language models keep twice as many."""

    threads: Annotated[
        int | None, whole_number(MODELS, default="all cores"), Limits(least=1), OUTSIDE_IDENTITY
    ] = None
    """Threads of a model on the CPU; by default the available cores. Changes the speed."""

    allow_pickle: Annotated[bool, option(MODELS)] = False
    """Load checkpoints that can run code when they are read."""

    trust_remote_code: Annotated[bool, option(MODELS)] = False
    """Run Python code that comes with a checkpoint."""

    def __post_init__(self) -> None:
        check_values(self)


@dataclass(frozen=True, kw_only=True)
class Loading(Running):
    """How a model is loaded and run."""

    dtype: Annotated[DType, option(MODELS)] = "float32"
    """Precision of weights and activations; part of a model's fingerprint."""


@dataclass(frozen=True, kw_only=True)
class Asking(Loading):
    """How a language model is queried, here or behind an endpoint."""

    prompts: Annotated[
        Mapping[str, str | Path],
        named_values(
            MODELS, "--prompt", metavar="NAME=FILE", example="answer=prompt.txt", value=expanded
        ),
    ] = field(default_factory=dict, hash=False)
    """Template in place of one of SCoPE's prompts: the path of its file. Part of a model's
    fingerprint; may be repeated.

    In Python also its text."""

    ask: Annotated[Form | None, option(MODELS, default="letters with an endpoint, else words")] = (
        None
    )
    """How all language models choose among options or label words: they write the letter of a
    listed option, or each option is scored as what follows the prompt. Endpoints only write
    letters. Part of a model's fingerprint."""

    chat: Annotated[Chat, option(MODELS)] = "auto"
    """Put prompts into the model's chat template: yes, no, or auto, where it has one. Endpoints
    are asked in chats; with no, in completions of plain prompts. Part of a model's fingerprint."""
    thinking: Annotated[Thinking, option(MODELS)] = "auto"
    """Thoughts before answers: off asks the template or server for none; auto does too, and gives
    room for 1,024 tokens to a model that still thinks; on asks for a thought. Part of a model's
    fingerprint."""

    requests: Annotated[int, whole_number(MODELS), Limits(least=1), OUTSIDE_IDENTITY] = 32
    """Endpoints: requests at once. Lower it where a server refuses some; raise it for a server with
    more places."""

    max_requests: Annotated[
        int | None, whole_number(MODELS, default="no bound"), Limits(least=1), OUTSIDE_IDENTITY
    ] = None
    """Endpoints: requests to each in one session, with retries; then the command ends, and the same
    command goes on."""

    prices: Annotated[
        Mapping[str, str],
        named_values(MODELS, "--price", metavar="MODEL=IN/OUT", example="vendor=0.15/0.60"),
        OUTSIDE_IDENTITY,
    ] = field(default_factory=dict, hash=False)
    """Endpoints: the price of a million tokens sent to a model and of a million in its replies. The
    most that a run costs is then shown before it begins; may be repeated."""

    timeout: Annotated[
        float, option(MODELS, metavar="SECONDS"), Limits(above=0), OUTSIDE_IDENTITY
    ] = 60.0
    """Endpoints: seconds without an answer after which a request is sent again."""

    retries: Annotated[int, whole_number(MODELS), Limits(least=0), OUTSIDE_IDENTITY] = 6
    """Endpoints: retries after a failure that may pass."""

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = sorted(set(self.prompts) - set(PROMPTS))
        if unknown:
            raise SpecError(
                f"a prompt called `{unknown[0]}`",
                expected=f"one of: {', '.join(PROMPTS)}",
                fix="write for example --prompt answer=FILE",
            )


@dataclass(frozen=True, kw_only=True)
class Labelling(Asking):
    """How a language model labels texts, or continues them."""

    label_words: Annotated[
        Mapping[str, str],
        named_values(MODELS, "--label-word", metavar="LABEL=WORD", example="positive=good"),
    ] = field(default_factory=dict, hash=False)
    """Word that a language model answers for a label; makes it a classifier; may be repeated."""

    parts: Annotated[Sequence[str], HIDDEN] = ()
    """The names of the parts of each text, where texts have several; a job sets them."""

    next_tokens: Annotated[int, whole_number(MODELS), Limits(least=1)] = 20
    """Role next_token: most likely tokens that are read; part of a model's fingerprint."""


@dataclass(frozen=True, kw_only=True)
class Answering(Asking):
    """How a language model answers questions."""

    max_answer_tokens: Annotated[int, whole_number(MODELS), Limits(least=1)] = 32
    """Longest generated answer, in tokens; part of a model's fingerprint."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Labelling, Answering):
    """Options of every adapter.

    Raises
    ------
    SpecError
        When a number is outside its limits or a prompt is unknown.

    Examples
    --------
    >>> ModelOptions(dtype="bfloat16").next_tokens
    20
    """

    @classmethod
    def of(cls, some: Running) -> Self:
        """With these values, and the defaults of all other options."""
        return cls(**{option.name: getattr(some, option.name) for option in fields(some)})


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
        the first, whose activations are massive in any text.
    template
        The prompt, with one ``{text}`` in it; for the kind ``prompt`` alone.

    Raises
    ------
    SpecError
        When the kind is unknown, or the template does not have exactly one slot.

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
        """The prompt that is used, possibly the default one; None where there is none."""
        return (self.template or ONE_WORD) if self.kind == "prompt" else None

    @property
    def around(self) -> tuple[str, str]:
        """The parts of the prompt before and after the text."""
        before, _, after = (self.prompt or SLOT).partition(SLOT)
        return before, after


def require_words(spec: str, options: ModelOptions) -> None:
    """Refuse label words with which a language model cannot be a classifier.

    Raises
    ------
    ModelError
        When there are fewer than two, one is empty, or two are the same.
    """
    words = {label: word.strip() for label, word in options.label_words.items()}
    counts = Counter(words.values())
    if len(words) < 2:
        problem = f"{len(words)} label word{'s' * (len(words) != 1)}"
    elif not all(words.values()):
        problem = f"the label words {words}, one of them empty"
    elif max(counts.values()) > 1:
        problem = f"the word `{counts.most_common(1)[0][0]}` for more than one label"
    else:
        return
    raise ModelError(
        f"`{spec}` as a classifier with {problem}",
        expected="a language model with a word of its own for each of at least two labels",
        fix="add --label-word LABEL=WORD for every label, such as --label-word positive=good "
        "--label-word negative=bad",
    )
