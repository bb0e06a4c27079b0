"""The protocols of models, capabilities and tasks.

The backbone uses only these; plugins implement them.
"""

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
from scope.protocols.services import (
    Advance as Advance,
    Progress as Progress,
)
