"""The result of a study: numbers over pairs of models, with the pairs behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scope.records import Estimate, FrameRow, Result, Undefined


@dataclass(frozen=True, slots=True)
class StudyPair:
    """Two models, or a judge and a judged model, with their measures by name.

    A measure that does not exist is left out.
    """

    first: str
    second: str
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StudyNumber:
    """A statistic over the pairs, or the judged models, that ``subset`` names.

    ``n`` of the estimate counts these. The p-value of a study's first number is not corrected;
    those of the others are, by Holm's method. None for a descriptive number.
    """

    name: str
    subset: str
    estimate: Estimate | Undefined
    p_value: float | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class StudyResult(Result):
    """What a study measured: the first number answers its question.

    ``accuracies`` has one number per model; ``families`` has the models that belong to a family.
    """

    numbers: tuple[StudyNumber, ...]
    accuracies: tuple[StudyNumber, ...]
    pairs: tuple[StudyPair, ...]
    families: Mapping[str, str]
    notes: tuple[str, ...]

    def rows(self) -> Iterator[FrameRow]:
        """Every statistic, then the accuracy of every model."""
        for number in (*self.numbers, *self.accuracies):
            yield FrameRow.of("", number.name, "", number.estimate, subset=number.subset)

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every pair with its measures."""
        for pair in self.pairs:
            yield {"first": pair.first, "second": pair.second, **pair.measures}
