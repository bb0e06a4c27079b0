"""The records that every layer passes on: frozen, checked, and free of any library's types.

In the order of the work: what is asked, what is answered, what is estimated from it, and the
result that holds it all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scope.records.estimates import (
        GOLD as GOLD,
        UNANSWERABLE as UNANSWERABLE,
        AnswerShares as AnswerShares,
        AuditMatrix as AuditMatrix,
        Correlation as Correlation,
        Curve as Curve,
        Difference as Difference,
        Estimate as Estimate,
        FourCells as FourCells,
        GroupEstimate as GroupEstimate,
        Measurement as Measurement,
        PooledDifference as PooledDifference,
        SliceTest as SliceTest,
        TaskShares as TaskShares,
        Undefined as Undefined,
        marked as marked,
    )
    from scope.records.examples import (
        BLANK as BLANK,
        Answer as Answer,
        Example as Example,
        Item as Item,
        LeftOut as LeftOut,
        NoAnswer as NoAnswer,
        Perturbation as Perturbation,
        Prediction as Prediction,
        Probabilities as Probabilities,
        Question as Question,
        ScoredPair as ScoredPair,
        Setting as Setting,
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
    from scope.records.pair import (
        ModelFacts as ModelFacts,
        NotRun as NotRun,
        PairResult as PairResult,
    )
    from scope.records.probe import (
        LayerAblation as LayerAblation,
        LayerAlignment as LayerAlignment,
        LayerScore as LayerScore,
        MisjudgedPair as MisjudgedPair,
        ProbeDifference as ProbeDifference,
        ProbedModel as ProbedModel,
        ProbeFindings as ProbeFindings,
        ProbeResult as ProbeResult,
        StepScore as StepScore,
    )
    from scope.records.result import (
        COMPARED as COMPARED,
        MEMORY as MEMORY,
        OBJECT as OBJECT,
        CapabilityCard as CapabilityCard,
        Clock as Clock,
        DataCard as DataCard,
        FrameRow as FrameRow,
        Manifest as Manifest,
        ModelCard as ModelCard,
        PromptReading as PromptReading,
        Result as Result,
    )
    from scope.records.results import (
        MOST_WITH_CELLS as MOST_WITH_CELLS,
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
    from scope.records.verdicts import (
        ERROR as ERROR,
        Agreement as Agreement,
        CandidateControl as CandidateControl,
        ControlCheck as ControlCheck,
        Decision as Decision,
        Derivative as Derivative,
        Endpoint as Endpoint,
        Evidence as Evidence,
        InformativeItem as InformativeItem,
        ModelScore as ModelScore,
        Replacement as Replacement,
        ReplacementDecision as ReplacementDecision,
        Verdict as Verdict,
    )

else:
    # Help pages need few records: each module is imported with the first of its names.
    _MODULES = ("examples", "result", "estimates", "verdicts", "results", "probe", "pair", "fleet")

    def __getattr__(name: str) -> Any:
        """A record on first use, from the module that has it."""
        for module in _MODULES:
            members = vars(import_module(f"{__name__}.{module}"))
            if name in members:
                globals()[name] = members[name]
                return members[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
