"""The request of a report on a pair of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from scope.core.options import DATA, HIDDEN, METHOD, MODELS, Limits, option, whole_number
from scope.core.request import Job
from scope.errors import SpecError
from scope.jobs.audit.request import AuditRequest
from scope.jobs.configuration import AuditedTexts, JudgesAccuracy, take_models
from scope.jobs.gates import ReplacementGates
from scope.registry import expand_groups

QUICK = {"n": 200, "n_most": 600, "n_search": 25, "n_unchanged": 2000}
"""Numbers of texts of a quick audit: some minutes on two cores for small models."""


@dataclass(frozen=True, kw_only=True)
class PairRequest(AuditedTexts, JudgesAccuracy):
    """Report on two models: may one replace the other, and where do they differ?

    Runs every job that fits the models and the data, each as its own command would: an audit in
    both directions, a comparison of answers to questions, and a test of reuse where controls are
    given. What does not fit is listed with its reason. An interrupted run continues when the same
    command is given again. The report is `report.html` in the run's folder.

    Example: scope pair models/original models/quantized --data reviews.csv
    """

    models: Annotated[Sequence[str | object], option(MODELS, "--model", metavar="MODEL")]
    """Model: hf:NAME, a folder, or another spec; the words before the first option are models, too.
    The others are judged in place of the first. With more than two, every pair is audited.

    In Python also what `scope.audit` and `scope.compare` take."""

    data: Annotated[str | Any, option(DATA, metavar="DATA")]
    """Texts, with gold labels if there are any, or questions: hf:NAME:SPLIT, demo:tweets,
    text:BOOKS, or a .csv, .tsv, .jsonl or .parquet file.

    In Python also a path, a list, a DataFrame or a Dataset."""

    baseline: Annotated[
        str | object | None,
        option(MODELS, ("--baseline", "--yardstick"), metavar="MODEL", once=True),
    ] = None
    """Yardstick: a model that may replace the first one, such as the same training with another
    seed; used where the first model is the reference."""

    floor: Annotated[str | object | None, option(MODELS, metavar="MODEL", once=True)] = None
    """Independently trained model, which shows how alike unrelated models are."""

    controls: Annotated[Sequence[str | object], option(MODELS, "--control", metavar="MODEL")] = ()
    """Model independent of the others; repeat, 19 times for an error rate of 0.05. With controls
    each later model is tested for reuse of an earlier one."""

    tasks: Annotated[
        Sequence[str | object], option(DATA, "--task", metavar="TASK", default="those that fit")
    ] = ()
    """Task whose questions the data are, see `scope list tasks`; may be repeated."""

    capabilities: Annotated[
        Sequence[str | object], option(METHOD, "--capability", metavar="NAME")
    ] = ("synonym", "typo")
    """Capability of the audits, or a group of them; see `scope list capabilities`; may be
    repeated."""

    n: Annotated[
        int | None, whole_number(DATA, default="200; 300 if thorough"), Limits(least=1)
    ] = None
    """Number of texts to change and of questions to ask. Ten times as many texts are also asked
    unchanged; all questions, where answers are saved or with --thorough."""

    thorough: Annotated[bool, option(METHOD, negative="--quick")] = False
    """Take as many texts as each job's own command does, and all questions; --quick takes some
    minutes for small models on two cores."""

    compared: Annotated[bool, HIDDEN] = False
    """Whether answers to questions must be compared: what does not allow it is refused."""

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of texts of an audit."""
        audits = {name: getattr(AuditRequest, name) for name in QUICK if name != "n_most"}
        sizes = audits if self.thorough else QUICK
        if self.n is None:
            return dict(sizes)
        return {"n": self.n, "n_search": min(self.n, sizes["n_search"]), "n_unchanged": 10 * self.n}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "capabilities", expand_groups(self.capabilities))
        take_models(self, "models", "baseline", "floor", "controls")
        if len(self.models) < 2:
            raise SpecError(
                f"{len(self.models)} model{'' if len(self.models) == 1 else 's'}",
                expected="two models or more",
                fix="write for example scope pair models/original models/quantized",
            )


JOB = Job(
    name="pair",
    request=PairRequest,
    run="scope.jobs.pair.run:run_pair",
    prepare="scope.jobs.pair.run:prepare",
    result="scope.records:PairResult",
    page="scope.jobs.pair.page:page",
    gates=ReplacementGates,
    words="models",
)
