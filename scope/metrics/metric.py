"""A metric as a value: what it is called, what it is measured on, how to read its number.

Its spelling, `soft_scope(tolerance=0.1, cutoff=1.0)`, is the same in the command line, the JSON
and the report; `str` writes it and `parse_metric` reads it.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from scope.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One metric with its parameters filled in.

    Attributes
    ----------
    key, title
        Its name in spellings and in the report's headings.
    parameters
        What its values depend on besides the predictions, in the order they are written.
    low, high
        The range of its value.
    more_similar
        Which end of the range says that the models are alike.
    directed
        Whether exchanging reference and target may change the value.
    clean
        Whether it is measured on unperturbed examples alone.
    paper, explanation
        Where it is defined, and one sentence for the report.

    Examples
    --------
    >>> print(METRICS["soft_scope"].at(cutoff=0.5))
    soft_scope(tolerance=0.1, cutoff=0.5)
    """

    key: str
    title: str
    # A mapping has no hash; metrics with equal keys but other parameters are still unequal.
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)
    low: float = 0.0
    high: float = 1.0
    more_similar: Literal["higher", "lower"] = "higher"
    directed: bool
    clean: bool
    paper: str
    explanation: str

    def __str__(self) -> str:
        if not self.parameters:
            return self.key
        written = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.key}({written})"

    def at(self, **parameters: float) -> "Metric":
        """Return this metric with some parameters changed.

        Raises
        ------
        ValueError
            If it has no such parameter, or a value is not allowed.
        """
        unknown = parameters.keys() - self.parameters.keys()
        if unknown:
            raise ValueError(f"{self.key} has no parameter {', '.join(sorted(unknown))}")
        changed = {**self.parameters, **{name: float(v) for name, v in parameters.items()}}
        for name, value in changed.items():
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name}={value} is not a finite number from 0 on")
        if changed.get("tolerance", 0.0) > changed.get("cutoff", math.inf):
            raise ValueError(
                f"tolerance={changed['tolerance']} is greater than cutoff={changed['cutoff']}"
            )
        return replace(self, parameters=changed)


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
)
HARD_SCOPE: Final = Metric(
    key="hard_scope",
    title="Hard-SCoPE",
    directed=True,
    clean=False,
    paper=f"{_PAPER}, definition of Hard-SCoPE",
    explanation="How often the target keeps its own label where the change of the text left "
    "the reference's label as it was.",
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
)

METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {
        metric.key: metric
        for metric in (IID_AGREEMENT, IID_ACCURACY_GAP, OOD_AGREEMENT, HARD_SCOPE, SOFT_SCOPE)
    }
)
"""The five metrics of an audit by key, from the shallowest question to the deepest."""

_SPELLING = re.compile(r"\s*(?P<key>\w+)\s*(?:\((?P<parameters>[^()]*)\)\s*)?")


def parse_metric(text: str) -> Metric:
    """Return the metric that a spelling means; parameters left out have their defaults.

    Raises
    ------
    SpecError
        If the metric or a parameter is unknown, or a value is no number or not allowed.

    Examples
    --------
    >>> parse_metric("soft_scope(cutoff=0.5)").parameters["cutoff"]
    0.5
    >>> print(parse_metric("soft_scope"))
    soft_scope(tolerance=0.1, cutoff=1.0)
    """
    match = _SPELLING.fullmatch(text)
    if match is None or match["key"] not in METRICS:
        raise SpecError(
            f"the metric `{text}`",
            expected="one of " + ", ".join(map(str, METRICS.values())),
            mend="write one of these; parameters in parentheses may be left out",
        )
    metric = METRICS[match["key"]]
    try:
        return metric.at(**_read_parameters(match["parameters"] or ""))
    except ValueError as problem:
        names = ", ".join(metric.parameters) or "no parameters"
        raise SpecError(
            f"the metric `{text}`: {problem}",
            expected=f"{metric.key} with {names}",
            mend=f"write `{metric}`, or with other numbers",
        ) from problem


def _read_parameters(text: str) -> dict[str, float]:
    parameters: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise ValueError(f"`{part.strip()}` is not written as name=number")
        if name in parameters:
            raise ValueError(f"{name} is given twice")
        try:
            parameters[name] = float(written)
        except ValueError:
            raise ValueError(f"{name}={written} is not a number") from None
    return parameters
