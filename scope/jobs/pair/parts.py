"""The parts of a report on a pair: which jobs fit the models and the data, and why others do not.

A job fits if it can be prepared: its own checks decide, and their errors are the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from scope.core.request import Request, described
from scope.errors import ScopeError, SpecError
from scope.jobs.answering_models import in_one_form, is_saved, task_names
from scope.jobs.audit.request import AuditRequest, whole_spec
from scope.jobs.audit.run import prepare as prepare_audit
from scope.jobs.compare.request import CompareRequest
from scope.jobs.compare.run import prepare as prepare_compare
from scope.jobs.identity import short_names
from scope.jobs.pair.request import PairRequest
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.run import prepare as prepare_reuse
from scope.jobs.runner import Prepared, run_job
from scope.jobs.shared_fields import JudgesAccuracy, LabelledTexts, SharesAnswers
from scope.models.scheme import scheme_of
from scope.records import EstimatedResult, Manifest, NotRun

_PREPARE: Mapping[type[Request], Callable[[Any], Prepared[Any]]] = MappingProxyType(
    {AuditRequest: prepare_audit, CompareRequest: prepare_compare, ReuseRequest: prepare_reuse}
)


class Part(NamedTuple):
    """A job that fits, under a name for readers and a key that is unique in the report."""

    name: str
    key: str
    request: Request
    prepared: Prepared[EstimatedResult]

    @property
    def manifest(self) -> Manifest:
        """The manifest of the part's own run."""
        return self.prepared.manifest

    def run(self) -> EstimatedResult:
        """The result of the job's own command, which resumes its run."""
        return run_job(self.request, lambda _: self.prepared)


def left_out(part: str, key: str, error: ScopeError) -> NotRun:
    """A part that is not run because of this error."""
    reason = " ".join(error.found.split())
    return NotRun(job=key.partition("-")[0], part=part, reason=reason)


def plan_parts(request: PairRequest) -> Parts:
    """Prepare every job that the models and the data may allow.

    Raises
    ------
    ScopeError
        When none fits, or a model is given twice.
    """
    every = (*request.models, request.baseline, request.floor, *request.controls)
    request = in_one_form(request, every, chooses=request.role == "classifier")
    names = short_names(list(map(whole_spec, request.models)))
    parts = Parts(request)
    pairs = list(combinations(range(len(names)), 2))
    for first, second in pairs:
        for target, reference in ((second, first), (first, second)):
            parts.audit(names, target, reference)
    tasks = [task for task in request.tasks or task_names(pairs=False) if parts.compare(task)]
    for first, second in pairs if request.controls else ():
        parts.reuse(names, second, first, tasks)
    if not parts.fitting:
        raise parts.nothing_fits()
    if request.compared:
        parts.require_comparison()
    return parts


class Parts:
    """The jobs that fit, and the others, tried one by one."""

    def __init__(self, request: PairRequest) -> None:
        self.fitting: list[Part] = []
        self.not_run: list[NotRun] = []
        self._errors: list[ScopeError] = []
        self._request = request

    def audit(self, names: Sequence[str], target: int, reference: int) -> None:
        """The target in place of the reference."""
        request = self._request
        self._try(
            f"audit of {names[target]} in place of {names[reference]}",
            f"audit-{target + 1}-for-{reference + 1}",
            AuditRequest,
            reference=request.models[reference],
            targets=[request.models[target]],
            # Only the first model has a baseline.
            baseline=request.baseline if reference == 0 else None,
            floor=request.floor,
            capabilities=request.capabilities,
            # Both directions and the other parts ask for most of the texts anyway.
            looks=1 if scheme_of(whole_spec(request.models[target])).served else None,
            **request.sizes,
            **self._shared(LabelledTexts) | self._shared(JudgesAccuracy),
        )

    def compare(self, task: str | object) -> bool:
        """The answers of all models to a task's questions."""
        name = str(getattr(task, "name", task))
        return self._try(
            f"comparison of answers to {name}",
            f"compare-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}",
            CompareRequest,
            models=self._request.models,
            tasks=[task],
            data=self._request.data,
            **self._questions() | self._shared(JudgesAccuracy),
        )

    def reuse(
        self, names: Sequence[str], suspect: int, reference: int, tasks: Sequence[str | object]
    ) -> None:
        """The suspect against the reference: on labels if they classify, else on the first task."""
        request = self._request
        audited = any(isinstance(part.request, AuditRequest) for part in self.fitting)
        sizes = request.sizes
        of_texts = {
            "n": sizes["n_unchanged"],
            "n_perturbed": min(sizes["n"], ReuseRequest.n_perturbed),
            **self._shared(LabelledTexts),
        }
        of_task = {"task": tasks[0] if tasks else None, "data": request.data, **self._questions()}
        self._try(
            f"reuse of {names[reference]} by {names[suspect]}",
            f"reuse-{suspect + 1}-of-{reference + 1}",
            ReuseRequest,
            suspect=request.models[suspect],
            references=[request.models[reference]],
            controls=request.controls,
            **(of_texts if audited or not tasks else of_task),
        )

    def nothing_fits(self) -> ScopeError:
        """The error that all jobs share, or one that lists the tried jobs."""
        if len({error.found for error in self._errors}) == 1:
            return self._errors[0]
        return SpecError(
            f"no job fits these models and data: {self._tried()}",
            expected="models that label the texts of the data, or answer its questions",
            fix="check the models and the data, or see what one job advises by its own command",
        )

    def _tried(self, job: str = "") -> str:
        """The parts that are not run, of one job or of all, with their reasons."""
        refused = (left for left in self.not_run if job in ("", left.job))
        return "; ".join(f"{left.part}: {left.reason}" for left in refused)

    def require_comparison(self) -> None:
        """Refuse a report without answers to questions: --eee writes only these."""
        if not any(isinstance(part.request, CompareRequest) for part in self.fitting):
            raise SpecError(
                f"--eee without a comparison of answers: {self._tried('compare')}",
                expected="data with questions that both models answer",
                fix="give such data, or omit --eee",
            )

    def _try(self, part: str, key: str, kind: type[Request], **arguments: Any) -> bool:
        run = self._request.run
        part_run = None if run is None else type(run)(f"{run}-{key}")
        try:
            request = kind(**arguments, run=part_run)
            prepared = _PREPARE[kind](request)
        except ScopeError as error:
            self.not_run.append(left_out(part, key, error))
            self._errors.append(error)
            return False
        self.fitting.append(Part(part, key, request, prepared))
        return True

    def _shared(self, kind: type[Request]) -> dict[str, Any]:
        """The fields of all jobs of a kind, as they are given for the pair."""
        names = (field.name for field in described(kind) if field.name not in ("n", "run"))
        return {name: getattr(self._request, name) for name in names}

    def _questions(self) -> dict[str, Any]:
        """The number of questions, and the options of their jobs."""
        request = self._request
        # Saved answers cost nothing.
        every = request.thorough or all(isinstance(m, str) and is_saved(m) for m in request.models)
        n = request.n or (None if every else request.sizes["n"])
        shared = self._shared(SharesAnswers)
        return {"n": n, "seed": request.seed, "model_options": request.model_options, **shared}
