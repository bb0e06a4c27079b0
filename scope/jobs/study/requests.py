"""The requests of the studies of many models' stored answers, and their result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from scope.core.options import DATA, METHOD, MODELS, Limits, named_values, option, whole_number
from scope.core.request import Job, Request
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.jobs.configuration import LeavesOut
from scope.records import Estimate, FrameRow, Result, Undefined


@dataclass(frozen=True, kw_only=True)
class StudyRequest(LeavesOut):
    """The options of every study."""

    models: Annotated[Sequence[str], option(MODELS, "--model", metavar="MODEL")]
    """Stored answers of a model, or of all of a table or folder: predictions:FILE.tsv#* or
    lm-eval:FOLDER#*; may be repeated."""

    data: Annotated[str | Any, option(DATA, metavar="DATA")]
    """Questions with options and right answers: a file, or lm-eval:FOLDER."""

    seed: Annotated[int, whole_number(METHOD), Limits(least=0)] = 0
    """Random seed of the permutations and of the bootstrap."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.take(data_spec, "data")


@dataclass(frozen=True, kw_only=True)
class JudgesRequest(StudyRequest):
    """Measure whether judges favour models that answer as they do.

    For each judge, the partial correlation of its mean scores with CAPA between the judge and the
    judged model, given the model's accuracy. Models are the units.

    Example: scope study judges --model 'predictions:answers.tsv#*' --data questions.jsonl
    --judgements judgements.csv
    """

    judgements: Annotated[str | Any, option(DATA, metavar="FILE")]
    """Table with the columns judge, model, item and score; the names are those of the models."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.take(data_spec, "judgements")


@dataclass(frozen=True, kw_only=True)
class ComplementarityRequest(StudyRequest):
    """Measure what the weaker of two models knows and the better one does not, for every pair.

    The gain of an ideal mixture of both over the better one, and its relation to CAPA.

    Example: scope study complementarity --model 'predictions:answers.tsv#*' --data questions.jsonl
    """


@dataclass(frozen=True, kw_only=True)
class TrendRequest(StudyRequest):
    """Measure whether more capable models err more alike.

    The slope of similarity on the mean accuracy of a pair, over all pairs of models and over those
    of different families. Models are the units.

    Example: scope study trend --model 'predictions:answers.tsv#*' --data questions.jsonl
    --family Llama=Llama-,Meta-Llama-
    """

    families: Annotated[
        Mapping[str, str],
        named_values(DATA, "--family", metavar="NAME=PREFIX", example="Llama=Llama-,Meta-Llama-"),
    ] = field(default_factory=dict)
    """Family of models by the beginning of their names, several separated by commas; may be
    repeated."""


def model_size(text: str) -> int:
    """A number of parameters, such as 22.7M or 1.3B.

    Raises
    ------
    SpecError
        When it is no positive number.

    Examples
    --------
    >>> model_size("22.7M"), model_size("350000")
    (22700000, 350000)
    """
    unit = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(text[-1:].upper(), 1)
    try:
        size = float(text if unit == 1 else text[:-1]) * unit
    except ValueError:
        size = math.nan
    if not 1 <= size < math.inf:
        raise SpecError(
            f"the size `{text}`",
            expected="a number of parameters, such as 350000, 22.7M or 1.3B",
            fix="write for example --size student=22.7M",
        )
    return round(size)


@dataclass(frozen=True, kw_only=True)
class SizeRequest(Request):
    """Measure whether larger targets share more of a reference's invariances.

    The correlation of SCoPE measures with the target's size, given the reference, over the models
    of a finished audit in several directions. Models are the units.

    Example: scope study size --audit matrix --size small=4M --size base=22M --size large=66M
    """

    audit: Annotated[str, option(DATA, metavar="RUN")]
    """Finished audit of several references (--both-directions): its name under --runs or folder."""

    sizes: Annotated[
        Mapping[str, float],
        named_values(
            DATA, "--size", metavar="MODEL=PARAMETERS", example="student=22.7M", value=model_size
        ),
    ] = field(default_factory=dict)
    """Number of parameters of each model of the audit, such as 22.7M; repeated for each."""

    seed: Annotated[int, whole_number(METHOD), Limits(least=0)] = 0
    """Random seed of the permutations."""


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


JOBS = tuple(
    Job(
        name=f"study {name}",
        request=request,
        run="scope.jobs.study.run:run_study",
        prepare=f"scope.jobs.study.run:prepare{'_size' if name == 'size' else ''}",
        result="scope.jobs.study.requests:StudyResult",
        page="scope.jobs.study.page:page",
    )
    for name, request in (
        ("judges", JudgesRequest),
        ("complementarity", ComplementarityRequest),
        ("trend", TrendRequest),
        ("size", SizeRequest),
    )
)
