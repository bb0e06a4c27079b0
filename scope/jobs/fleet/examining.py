"""Which exam a job holds: new questions for a stored fleet, or part of the answers held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scope.errors import SpecError
from scope.jobs.fleet.exam import PlannedExam
from scope.jobs.fleet.held_out_exam import plan_held_out_exam
from scope.jobs.fleet.learning import AUTO, Learning
from scope.jobs.fleet.stored_exam import plan_stored_exam
from scope.jobs.frame import Surroundings

FORMS = "--fleet RUN with --questions FILE, or --data ANSWERS, of which part is held out"
OF_FLEETS = ("--questions", "--add")
OF_ANSWERS = ("--test-share", "--embedder")


@dataclass(frozen=True, kw_only=True)
class ExamRequest:
    """What the user named of a fleet and of questions; see `scope.forecast_fleet`."""

    fleet: str | Path | None
    questions: str | None
    add: str | None
    data: str | Sequence[str]
    test_share: float | None
    embedder: str | None
    encoder: str | None
    columns: Mapping[str, str]
    seed: int

    def given(self, options: Sequence[str]) -> list[str]:
        """Those of the options that have a value."""
        names = {name: name.removeprefix("--").replace("-", "_") for name in options}
        return [name for name, field in names.items() if getattr(self, field) is not None]


def plan_exam(request: ExamRequest, around: Surroundings) -> PlannedExam:
    """Read all that the exam takes, so that what is wrong with it is told before any work.

    Raises
    ------
    ScopeError
        When the request mixes the two forms, or something in it cannot be read.
    """
    if request.fleet is None:
        _require_answers(request)
        return plan_held_out_exam(
            request.data,
            test_share=request.test_share,
            learning=Learning(embedder=request.embedder or AUTO, seed=request.seed),
            encoder=request.encoder,
            columns=request.columns,
            around=around,
        )
    return plan_stored_exam(
        request.fleet,
        _questions_for_fleet(request),
        add=request.add,
        encoder=request.encoder,
        columns=request.columns,
        around=around,
    )


def _require_answers(request: ExamRequest) -> None:
    if not request.data:
        raise SpecError(
            "neither a fleet nor answers to learn one from",
            expected=FORMS,
            mend="write for example --fleet ours --questions new.csv",
        )
    _refuse(request.given(OF_FLEETS), "--data")


def _questions_for_fleet(request: ExamRequest) -> str:
    if request.data:
        raise SpecError(
            "a fleet, and answers to learn another one from",
            expected=FORMS,
            mend="leave --fleet or --data out",
        )
    _refuse(request.given(OF_ANSWERS), "--fleet")
    if request.questions is None:
        raise SpecError("a fleet and no questions", expected=FORMS, mend="add --questions FILE")
    return request.questions


def _refuse(idle: Sequence[str], beside: str) -> None:
    """An option that would do nothing is a misunderstanding."""
    if idle:
        named = " and ".join(idle)
        raise SpecError(f"{named} with {beside}", expected=FORMS, mend=f"leave {named} out")
