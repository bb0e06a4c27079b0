"""The metrics of an audit, described."""

import math
from typing import Final

from scope.metrics.description import Metric
from scope.metrics.invariance import (
    hard_scope_values,
    ood_agreement_values,
    soft_scope_values,
)

_PAPER = "Rawal & Toneva, Findings of ACL 2024, arXiv 2311.04166"

IID_AGREEMENT: Final = Metric(
    key="iid_agreement",
    title="IID agreement",
    directed=False,
    clean=True,
    paper=f"{_PAPER}, which compares it with the SCoPE measures",
    explanation="How often both models give the same label to an unchanged text.",
)
IID_ACCURACY_GAP: Final = Metric(
    key="iid_accuracy_gap",
    title="Gap in IID accuracy",
    more_similar="lower",
    directed=False,
    clean=True,
    paper=f"{_PAPER}, which compares it with the SCoPE measures",
    explanation="How far apart the two models' accuracies on the unchanged, labelled texts are.",
)
OOD_AGREEMENT: Final = Metric(
    key="ood_agreement",
    title="OOD agreement",
    directed=True,
    clean=False,
    paper=f"{_PAPER}, which compares it with the SCoPE measures",
    explanation="How often both models give the same label to a changed text that left the "
    "reference's label as it was.",
    on_pairs=ood_agreement_values,
)
HARD_SCOPE: Final = Metric(
    key="hard_scope",
    title="Hard-SCoPE",
    directed=True,
    clean=False,
    paper=f"{_PAPER}, definition of Hard-SCoPE",
    explanation="How often the target keeps its own label where the change of the text left "
    "the reference's label as it was.",
    on_pairs=hard_scope_values,
)
SOFT_SCOPE: Final = Metric(
    key="soft_scope",
    title="Soft-SCoPE",
    # Our values: the paper names both parameters and gives neither.
    parameters={"tolerance": 0.1, "cutoff": 1.0},
    directed=True,
    clean=False,
    paper=f"{_PAPER}, definition of Soft-SCoPE",
    explanation="Hard-SCoPE with less credit the more the two models' probabilities move "
    "apart: full up to the tolerance, none from the cutoff (L1 distance).",
    on_pairs=soft_scope_values,
)

CONCORDANCE: Final = Metric(
    key="concordance",
    title="Concordance",
    directed=True,
    clean=False,
    paper="ours: concordance of pairs (Kendall, Biometrika 1938), of changes of the log odds",
    explanation="How often two random changes of a text move the target in the order in which they "
    "move the reference, from its label to its runner-up: 1 for the reference itself, ½ for a "
    "model that never moves or moves at random; independent models tend to lie above ½.",
)
REACH: Final = Metric(
    key="reach",
    title="Reach",
    low=-math.inf,
    high=math.inf,
    directed=True,
    clean=False,
    paper="ours: the slope of the target's changes of the log odds on the reference's",
    explanation="How far the target moves where a random change moves the reference by 1: 1 for "
    "the reference itself, 0 for a model that never moves.",
)
FLIP_SCOPE: Final = Metric(
    key="flip_scope",
    title="Flip-SCoPE",
    directed=True,
    clean=False,
    paper="ours: the complement of Hard-SCoPE, on random candidates",
    explanation="How often the target gives the reference's new label where a random candidate "
    "changes the reference's label, on texts to which both gave the same one.",
)
INFORMEDNESS: Final = Metric(
    key="informedness",
    title="SCoPE informedness",
    low=-1.0,
    directed=True,
    clean=False,
    paper="ours: Youden's J (Youden, Cancer 1950)",
    explanation="Of each text's random candidates, the share of those kept by the reference that "
    "the target keeps, plus Flip-SCoPE, minus 1: 1 for the reference itself, 0 for a model that "
    "never moves.",
)
EXCESS: Final = Metric(
    key="excess",
    title="Excess",
    low=-1.0,
    directed=True,
    clean=False,
    paper="ours: Hard-SCoPE minus the base rate of the target",
    explanation="How much more often the target keeps its label on kept pairs than on random "
    "candidates of the same texts; 0 for a model that never moves.",
)
BASE_RATE: Final = Metric(
    key="base_rate",
    title="Base rate",
    directed=True,
    clean=False,
    paper="ours: Hard-SCoPE on random candidates, whatever the reference does",
    explanation="How often the model keeps its label on random candidates of the capability.",
)

AUDIT_METRICS: Final = (
    IID_AGREEMENT,
    IID_ACCURACY_GAP,
    OOD_AGREEMENT,
    HARD_SCOPE,
    SOFT_SCOPE,
    CONCORDANCE,
    REACH,
    FLIP_SCOPE,
    INFORMEDNESS,
    EXCESS,
    BASE_RATE,
)
"""From the shallowest question to the deepest."""
