"""The records that every layer passes on: frozen, checked, and free of any library's types.

In the order of the work: what is asked, what is answered, what is estimated from it, and the
result that holds it all.
"""

from scope.records.answer_shares import AnswerShares as AnswerShares, marked as marked
from scope.records.answered import (
    Answer as Answer,
    Perturbation as Perturbation,
    Prediction as Prediction,
    Probabilities as Probabilities,
)
from scope.records.asked import (
    BLANK as BLANK,
    Example as Example,
    Item as Item,
    Question as Question,
    ScoredPair as ScoredPair,
)
from scope.records.estimates import (
    GOLD as GOLD,
    Curve as Curve,
    Difference as Difference,
    Estimate as Estimate,
    Measurement as Measurement,
    Undefined as Undefined,
)
from scope.records.fleet import (
    BenchmarkPoint as BenchmarkPoint,
    BenchmarkPrediction as BenchmarkPrediction,
    CommunityDistance as CommunityDistance,
    Contribution as Contribution,
    EmbedResult as EmbedResult,
    ExpectedAccuracy as ExpectedAccuracy,
    FleetModel as FleetModel,
    FleetResult as FleetResult,
    ForecastResult as ForecastResult,
    ForecastScore as ForecastScore,
    MapResult as MapResult,
    Neighbour as Neighbour,
    PredictResult as PredictResult,
    ReliabilityBin as ReliabilityBin,
    RouteResult as RouteResult,
    RouterScore as RouterScore,
    RouteShare as RouteShare,
)
from scope.records.four_cells import FourCells as FourCells
from scope.records.frame import FrameRow as FrameRow
from scope.records.matrix import (
    AuditMatrix as AuditMatrix,
    Correlation as Correlation,
    GroupEstimate as GroupEstimate,
)
from scope.records.pair import (
    ModelFacts as ModelFacts,
    NotRun as NotRun,
    PairResult as PairResult,
)
from scope.records.probe import (
    LayerAlignment as LayerAlignment,
    LayerScore as LayerScore,
    MisjudgedPair as MisjudgedPair,
    ProbeDifference as ProbeDifference,
    ProbedModel as ProbedModel,
    ProbeFindings as ProbeFindings,
    ProbeResult as ProbeResult,
    StepScore as StepScore,
)
from scope.records.replacement import (
    ERROR as ERROR,
    Endpoint as Endpoint,
    Replacement as Replacement,
    ReplacementDecision as ReplacementDecision,
)
from scope.records.result import (
    COMPARED as COMPARED,
    MEMORY as MEMORY,
    CapabilityCard as CapabilityCard,
    Clock as Clock,
    DataCard as DataCard,
    Manifest as Manifest,
    ModelCard as ModelCard,
    Result as Result,
    Setting as Setting,
)
from scope.records.results import (
    AuditResult as AuditResult,
    CompareResult as CompareResult,
    EstimatedResult as EstimatedResult,
    MeasuredResult as MeasuredResult,
    Outcome as Outcome,
    ReuseResult as ReuseResult,
    ScoredExample as ScoredExample,
    ScoredPerturbation as ScoredPerturbation,
    TaskAnswers as TaskAnswers,
    label_of as label_of,
)
from scope.records.slices import SliceTest as SliceTest
from scope.records.task_shares import UNANSWERABLE as UNANSWERABLE, TaskShares as TaskShares
from scope.records.verdicts import (
    Agreement as Agreement,
    ControlCheck as ControlCheck,
    Decision as Decision,
    Evidence as Evidence,
    InformativeItem as InformativeItem,
    Look as Look,
    ModelScore as ModelScore,
    PairedTest as PairedTest,
    Verdict as Verdict,
)
