"""The request of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from scope.core.options import (
    DATA,
    HIDDEN,
    METHOD,
    MODELS,
    Limits,
    option,
    repeated,
    settings_option,
    whole_number,
)
from scope.core.request import Job
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.jobs.configuration import InShards, JudgesAccuracy, SharesAnswers, take_models
from scope.jobs.gates import TaskGates
from scope.models.options import SENTENCE_ENCODER, Answering, ModelOptions
from scope.models.scheme import scheme_of, split_name
from scope.records import REGION_MARGIN, Setting


class Entries(tuple[str, ...]):
    """The values of ``--data`` on the command line, one each time; lists are data."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(SharesAnswers, InShards, JudgesAccuracy):
    """Ask models the same questions, and measure how similar their answers are.

    An interrupted run continues when the same command is given again, with the same result. The
    report is `report.html` in the run's folder.

    Example: scope compare --model hf:roberta-base --model hf:google-t5/t5-base
    --task cloze --data text:books/ --n 500
    """

    models: Annotated[Sequence[str | object], option(MODELS, "--model", metavar="MODEL")]
    """Model: hf:NAME, gguf:FILE, openai:URL#MODEL or predictions:FILE, after NAME= to name it; may
    be repeated. predictions:FILE.tsv#* is all models of the file. The others are to replace the
    first.

    In Python also an object with the methods of the tasks' role, a transformers pipeline or
    (model, tokenizer)."""

    tasks: Annotated[Sequence[str | object], option(DATA, "--task", metavar="TASK")]
    """Task, see `scope list tasks`; may be repeated.

    In Python also an object with the members of `scope.protocols.Task`."""

    data: Annotated[
        str | Mapping[str, Any] | Any,
        repeated(DATA, "--data", metavar="[TASK=]DATA", convert=Entries),
    ] = None
    """Source of the questions: text:BOOKS, a file, or hf:NAME:SPLIT; for several tasks one each,
    as TASK=DATA. Default: the questions of the first model's log, if it is one.

    In Python also a path, a list of texts or of dicts, a DataFrame or a Dataset; for several tasks
    a dict of them."""

    n: Annotated[int | None, whole_number(DATA, default="all"), Limits(least=1)] = None
    """Number of questions to sample for each task."""

    seed: Annotated[int, whole_number(DATA), Limits(least=0)] = 0
    """Random seed of the sample and of the blanks."""

    settings: Annotated[Mapping[str, Setting], settings_option(DATA)] = field(default_factory=dict)
    """Setting of every task that has it (FIELD=VALUE) or of one (NAME.FIELD=VALUE), such as
    min_words=10 or cloze.min_words=10; see `scope list tasks`; may be repeated."""

    normalize: Annotated[bool, option(METHOD)] = False
    """Compare answers as SQuAD does: without articles, punctuation and capitals."""

    region_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = REGION_MARGIN
    """By how much accuracy differs on the questions of a region beyond that on the others."""

    encoder: Annotated[
        str | Any | None,
        option(METHOD, ("--semscore", "--encoder"), metavar="MODEL|probe:FOLDER|none"),
    ] = SENTENCE_ENCODER
    """Measure of SemScore: a sentence encoder, or a probe that `scope probe --save` wrote. Add
    #MODEL to a probe whose model has moved, or needs --allow-pickle or --trust-remote-code. none
    leaves SemScore out.

    In Python also a SentenceTransformer."""

    gates: Annotated[Sequence[Any], HIDDEN] = ()
    """Gates on which the result will be judged, see `scope.failed_gates`: a name in their brackets
    that is neither a task nor a model is refused before any model is asked."""

    model_options: Annotated[ModelOptions, HIDDEN, Answering] = field(default_factory=ModelOptions)
    """How models are loaded, run and queried."""

    @property
    def data_by_task(self) -> str | Mapping[str, str]:
        """One spec for the only task, or one for each."""
        if isinstance(self.data, Entries):
            return _by_task(self.data, self.tasks)
        data: str | Mapping[str, str] = self.data
        return data

    def __post_init__(self) -> None:
        super().__post_init__()
        take_models(self, "models", "encoder")
        if self.data is None:
            object.__setattr__(self, "data", _questions_of_log(self.models))
        if isinstance(self.data, Mapping):
            by_task = {task: data_spec(data) for task, data in self.data.items()}
            object.__setattr__(self, "data", by_task)
        elif not isinstance(self.data, Entries):
            self.take(data_spec, "data")
        if self.encoder == "none":
            object.__setattr__(self, "encoder", None)


def _questions_of_log(models: Sequence[str | object]) -> str:
    """The first model's log, as data.

    Examples
    --------
    >>> _questions_of_log(["lm-eval:logs?task=arc_easy#ours", "lm-eval:logs#theirs"])
    'lm-eval:logs?task=arc_easy#ours'
    """
    first = split_name(str(models[0]))[1] if models else ""
    if scheme_of(first).holds_items:
        return first.removesuffix("#*")
    raise SpecError(
        "no data",
        expected="the questions; only a log of answers as the first model implies them",
        fix="add --data with a file, or text:BOOKS for the task cloze",
    )


def _by_task(entries: Sequence[str], tasks: Sequence[str | object]) -> str | Mapping[str, str]:
    """One spec, or one for each task if entries begin with a task's name.

    Examples
    --------
    >>> _by_task(["books.jsonl"], ["cloze"])
    'books.jsonl'
    >>> _by_task(["cloze=text:books", "choice=a.jsonl"], ["cloze", "choice"])
    {'cloze': 'text:books', 'choice': 'a.jsonl'}
    """
    named = [(name, spec) for name, _, spec in (entry.partition("=") for entry in entries)]
    if all(name in tasks and spec for name, spec in named) and len(dict(named)) == len(named):
        return dict(named)
    if len(entries) == 1 and len(tasks) == 1:
        return entries[0]
    names = [str(task) for task in tasks]
    raise SpecError(
        f"the data {' '.join(entries)} for the tasks {', '.join(names)}",
        expected="one data spec for each task",
        fix="write " + " ".join(f"--data {name}=DATA" for name in dict.fromkeys(names)),
    )


JOB = Job(
    name="compare",
    request=CompareRequest,
    run="scope.jobs.compare.run:run_compare",
    prepare="scope.jobs.compare.run:prepare",
    result="scope.records:CompareResult",
    page="scope.jobs.compare.page:page",
    gates=TaskGates,
)
