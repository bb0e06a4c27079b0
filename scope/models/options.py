"""How a model is loaded and run; none of it changes what the model answers, but for dtype."""

from dataclasses import dataclass
from typing import Literal

from scope.errors import SpecError

Device = Literal["auto", "cpu", "cuda", "mps"]
DType = Literal["float32", "float16", "bfloat16"]


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
    """

    device: Device = "auto"
    dtype: DType = "float32"
    token_budget: int = 4096
    allow_pickle: bool = False
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if self.token_budget < 1:
            raise SpecError(
                f"a token budget of {self.token_budget}",
                expected="at least 1 token in a batch",
                mend="leave --token-budget out, or give a number such as 4096",
            )
