"""The records that every layer passes on: frozen, checked, and free of any library's types.

In the order of the work: what is asked, what is answered, what is estimated from it, and the
comparison that holds it all.
"""

from scope.records.answered import Answer, Perturbation, Prediction, Probabilities
from scope.records.asked import BLANK, Example, Item, Question
from scope.records.comparison import (
    CapabilityCard,
    Clock,
    Comparison,
    DataCard,
    Manifest,
    ModelCard,
    Outcome,
    ScoredExample,
    ScoredPerturbation,
    Setting,
    TaskAnswers,
)
from scope.records.estimates import GOLD, Curve, Difference, Estimate, Measurement, Undefined
from scope.records.fleet import (
    BenchmarkPoint,
    BenchmarkPrediction,
    CommunityDistance,
    Contribution,
    ExpectedAccuracy,
    FleetFindings,
    FleetModel,
    ForecastScore,
    Neighbour,
    ReliabilityBin,
    RouterScore,
    RouteShare,
)
from scope.records.verdicts import (
    ControlCheck,
    Decision,
    Evidence,
    Look,
    PairedTest,
    SpeakingItem,
    Standing,
    Verdict,
)

__all__ = [
    "BLANK",
    "GOLD",
    "Answer",
    "BenchmarkPoint",
    "BenchmarkPrediction",
    "CapabilityCard",
    "Clock",
    "CommunityDistance",
    "Comparison",
    "Contribution",
    "ControlCheck",
    "Curve",
    "DataCard",
    "Decision",
    "Difference",
    "Estimate",
    "Evidence",
    "Example",
    "ExpectedAccuracy",
    "FleetFindings",
    "FleetModel",
    "ForecastScore",
    "Item",
    "Look",
    "Manifest",
    "Measurement",
    "ModelCard",
    "Neighbour",
    "Outcome",
    "PairedTest",
    "Perturbation",
    "Prediction",
    "Probabilities",
    "Question",
    "ReliabilityBin",
    "RouteShare",
    "RouterScore",
    "ScoredExample",
    "ScoredPerturbation",
    "Setting",
    "SpeakingItem",
    "Standing",
    "TaskAnswers",
    "Undefined",
    "Verdict",
]
