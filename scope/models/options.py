"""How a model is loaded, run and asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from scope.errors import SpecError

Device = Literal["auto", "cpu", "cuda", "mps"]
DType = Literal["float32", "float16", "bfloat16"]

PROMPTS = ("answer", "choice", "choice_letters", "classify", "cloze", "text_to_text_answer")
"""The prompts that there are; each stands in a file of its name beside `scope.models.prompts`."""

SENTENCE_ENCODER = "hf:sentence-transformers/all-mpnet-base-v2"
"""What measures likeness in meaning unless another encoder is named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelOptions:
    """Options of every adapter.

    Parameters
    ----------
    device
        Where the model runs; ``auto`` takes CUDA, then MPS, then the CPU.
    dtype
        Precision of weights and activations; part of the model's fingerprint.
    token_budget
        Most tokens in one batch: bounds the memory.
    allow_pickle
        Load checkpoints that can run code when they are read.
    trust_remote_code
        Run Python code that comes with a checkpoint.
    prompts
        What a language model is told, by the name of a prompt (see `scope.models.prompts`), in
        place of the prompt that comes with SCoPE: a template as text, or the Path of its file.
        Part of the model's fingerprint.
    label_words
        The word that stands for each label, which makes a language model a classifier.
    max_answer_tokens
        Longest answer that is generated; part of the model's fingerprint.
    next_tokens
        How many of the likeliest next tokens are read; part of the model's fingerprint.
    requests, timeout, retries
        Of an endpoint: requests under way at once, seconds to wait for each, and how often it is
        given again after a failure that may pass.
    """

    device: Device = "auto"
    dtype: DType = "float32"
    token_budget: int = 4096
    allow_pickle: bool = False
    trust_remote_code: bool = False
    prompts: Mapping[str, str | Path] = field(default_factory=dict, hash=False)
    label_words: Mapping[str, str] = field(default_factory=dict, hash=False)
    max_answer_tokens: int = 32
    next_tokens: int = 20
    requests: int = 8
    timeout: float = 60.0
    retries: int = 6

    def __post_init__(self) -> None:
        wrong = [
            f"{value} {what}"
            for value, least, what in (
                (self.token_budget, 1, "tokens in a batch"),
                (self.max_answer_tokens, 1, "tokens in an answer"),
                (self.next_tokens, 1, "next tokens"),
                (self.requests, 1, "requests at once"),
                (self.retries, 0, "retries"),
            )
            if value < least
        ]
        if not self.timeout > 0:
            wrong.append(f"a timeout of {self.timeout} seconds")
        if wrong:
            raise SpecError(
                " and ".join(wrong),
                expected="at least 1 token, next token and request, no retry or some, and a "
                "timeout above 0",
                mend="leave these options out for the defaults",
            )
        unknown = sorted(set(self.prompts) - set(PROMPTS))
        if unknown:
            raise SpecError(
                f"a prompt called `{unknown[0]}`",
                expected=f"one of: {', '.join(PROMPTS)}",
                mend="write for example --prompt answer=FILE",
            )
