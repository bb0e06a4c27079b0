"""The protocols of models, capabilities and tasks.

The backbone uses only these; plugins implement them.
"""

from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from scope.protocols.questions import (
    AskedRole as AskedRole,
    Capability as Capability,
    ComparesWords as ComparesWords,
    DrawsRandom as DrawsRandom,
    EstimatesQueries as EstimatesQueries,
    LeavesWords as LeavesWords,
    PairData as PairData,
    PairRole as PairRole,
    PairTask as PairTask,
    Part as Part,
    SearchOptions as SearchOptions,
    Task as Task,
    TaskData as TaskData,
)
from scope.protocols.roles import (
    METHODS as METHODS,
    PROTOCOLS as PROTOCOLS,
    Answerer as Answerer,
    Answers as Answers,
    ChoiceScorer as ChoiceScorer,
    Classifier as Classifier,
    Encoder as Encoder,
    LatentReader as LatentReader,
    MaskFiller as MaskFiller,
    NextToken as NextToken,
    Precision as Precision,
    Role as Role,
    StreamingClassifier as StreamingClassifier,
    StreamingNextToken as StreamingNextToken,
    Swap as Swap,
    TextScorer as TextScorer,
    WordEncoder as WordEncoder,
)


class Advance(Protocol):
    """Reports that some units of the current task are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


@runtime_checkable
class Progress(Protocol):
    """Shows the progress of long work to the user."""

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before; None if their number is unknown."""
