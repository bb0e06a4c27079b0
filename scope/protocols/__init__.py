"""What a model, a capability and a task must offer.

The backbone speaks to its neighbours through these alone; plugins implement them.
"""

from scope.protocols.questions import (
    AskedRole,
    Capability,
    EstimatesQueries,
    LeavesWords,
    PairData,
    PairRole,
    PairTask,
    Part,
    SearchOptions,
    Task,
    TaskData,
)
from scope.protocols.roles import (
    Answerer,
    Answers,
    ChoiceScorer,
    Classifier,
    Encoder,
    LatentReader,
    MaskFiller,
    NextToken,
    Precision,
    Role,
    StreamingClassifier,
    StreamingNextToken,
)
from scope.protocols.services import (
    Advance,
    AnswerStore,
    PredictionStore,
    Progress,
    Total,
)

__all__ = [
    "Advance",
    "AnswerStore",
    "Answerer",
    "Answers",
    "AskedRole",
    "Capability",
    "ChoiceScorer",
    "Classifier",
    "Encoder",
    "EstimatesQueries",
    "LatentReader",
    "LeavesWords",
    "MaskFiller",
    "NextToken",
    "PairData",
    "PairRole",
    "PairTask",
    "Part",
    "Precision",
    "PredictionStore",
    "Progress",
    "Role",
    "SearchOptions",
    "StreamingClassifier",
    "StreamingNextToken",
    "Task",
    "TaskData",
    "Total",
]
