"""The report on a pair of models: runs the jobs that fit, and joins their results.

A job fits if it can be prepared: its own checks decide, and their errors are the reasons.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from scope.answers import Run
from scope.answers.vectors import stored_latents
from scope.core.request import Request, as_function, described, with_words
from scope.errors import DataError, ModelError, RunError, ScopeError, SpecError
from scope.estimation.choices import label_similarities
from scope.jobs.answering_models import in_one_form, is_saved, task_names
from scope.jobs.audit.request import AuditRequest, whole_spec
from scope.jobs.audit.run import prepare as prepare_audit
from scope.jobs.compare.request import CompareRequest
from scope.jobs.compare.run import prepare as prepare_compare
from scope.jobs.configuration import (
    AuditedTexts,
    JudgesAccuracy,
    LabelledTexts,
    SharesAnswers,
    default_run_name,
    manifest_of,
    short_names,
)
from scope.jobs.pair.request import PairRequest
from scope.jobs.probe.steps import aligned
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.run import prepare as prepare_reuse
from scope.jobs.runner import Prepared, cost_in_short, facts_of, prices_in, run_job
from scope.models.endpoint.protocol import EndpointError
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.models.scheme import load_latent_reader, loading_once, scheme_of
from scope.progress import Bars, Lines, remark
from scope.protocols import Role
from scope.records import (
    COMPARED,
    OBJECT,
    AuditResult,
    CompareResult,
    DataCard,
    EstimatedResult,
    LayerAlignment,
    Manifest,
    ModelCard,
    ModelFacts,
    NotRun,
    PairResult,
    ReuseResult,
    Setting,
)
from scope.records.examples import BLANK
from scope.records.text_parts import parts_of


def run_pair(request: PairRequest) -> PairResult:
    """Run the jobs that fit, or resume them."""
    if prices_in(request):
        return run_job(request, prepare)
    # Each part announces its own requests; the work of all would load models twice.
    return run_job(request, lambda request: prepare(request)._replace(work=tuple))


pair = with_words(as_function(PairRequest, run_pair), "models")


def prepare(request: PairRequest) -> Prepared[PairResult]:
    """Load and check everything before any model answers."""
    shared = (*request.models, request.baseline, request.floor)
    # Each part reads its own saved answers.
    with loading_once([spec for spec in shared if isinstance(spec, str) and not is_saved(spec)]):
        parts = plan_parts(request)
    manifests = [part.manifest for part in parts.fitting]
    settings: dict[str, Setting] = {"seed": request.seed, "thorough": request.thorough}
    settings |= {part.key: default_run_name(part.manifest) for part in parts.fitting}
    pieces = {card.name: card for manifest in manifests for card in manifest.capabilities}
    manifest = manifest_of(
        "pair",
        request,
        settings,
        models=_models(manifests),
        data=_data(manifests),
        capabilities=tuple(pieces.values()),
    )
    find = partial(_conduct, request, parts, manifest)
    work = chain.from_iterable(part.prepared.work() for part in parts.fitting)
    return Prepared(manifest, find, work=lambda: work)


def _conduct(request: PairRequest, parts: Parts, manifest: Manifest, run: Run) -> PairResult:
    """Carry out one part after the other, each in its own run."""
    results: list[EstimatedResult] = []
    errors: list[ScopeError] = []
    not_run = [*parts.not_run]
    if isinstance(request.progress, Bars | Lines) and not _kept_facts(run):
        work = (planned for part in parts.fitting for planned in part.prepared.work())
        remark(request.progress, f"in all {cost_in_short(work)}, less what is kept")
    for place, part in enumerate(parts.fitting, start=1):
        remark(request.progress, f"part {place} of {len(parts.fitting)}: {part.name}")
        try:
            result = part.run()
        except EndpointError:
            # The endpoint may answer when the command is given again.
            raise
        except (DataError, ModelError, SpecError) as error:
            # Such as a reference that gives all texts one label, or too few texts for reuse.
            errors.append(error)
            not_run.append(left_out(part.name, part.key, error))
            continue
        if result.clock is not None:
            run.asked_again += result.clock.asked_again
            run.drifts += result.clock.drifts
        results.append(replace(result, clock=None, folder=None))
    if not results:
        raise errors[0]
    audits = tuple(result for result in results if isinstance(result, AuditResult))
    manifests = [result.manifest for result in results]
    models = _models(manifests)
    judged = [card for card in models if card.role == "model"]
    layers = tuple(_aligned_layers(request, judged, results[0]))
    role, asked = _asked_in(results[0])
    loaded = {getattr(model, "spec", ""): model for model in parts.fitting[0].prepared.models}
    return PairResult(
        manifest=replace(manifest, models=models, data=_data(manifests)),
        audits=audits,
        similarities=tuple(label_similarities(audits)),
        # Measured once: times differ from session to session.
        facts=(() if any(card.spec.startswith(OBJECT) for card in judged) else _kept_facts(run))
        or tuple(
            facts_of(card, loaded.get(card.spec), role, asked, request.model_options)
            for card in judged
        ),
        alignments=tuple(layer for layer in layers if isinstance(layer, LayerAlignment)),
        comparisons=tuple(result for result in results if isinstance(result, CompareResult)),
        reuses=tuple(result for result in results if isinstance(result, ReuseResult)),
        not_run=(*not_run, *(layer for layer in layers if isinstance(layer, NotRun))),
    )


def _kept_facts(run: Run) -> tuple[ModelFacts, ...]:
    """The facts that an earlier session of the run measured."""
    try:
        earlier = run.read_result()
    except RunError:
        return ()
    return earlier.facts if isinstance(earlier, PairResult) else ()


def _models(manifests: Sequence[Manifest]) -> tuple[ModelCard, ...]:
    """The models of all parts, each once; those of the pair have the same role."""
    models: dict[str, ModelCard] = {}
    for card in (card for manifest in manifests for card in manifest.models):
        role = card.role if card.role in (*COMPARED, "control") else "model"
        known = models.setdefault(card.spec, replace(card, role=role, missing=()))
        models[card.spec] = replace(known, missing=(*known.missing, *card.missing))
    return tuple(models.values())


def _data(manifests: Sequence[Manifest]) -> tuple[DataCard, ...]:
    """The data of all parts, each once."""
    data = {(card.spec, card.capability): card for manifest in manifests for card in manifest.data}
    return tuple(data.values())


def _asked_in(part: EstimatedResult) -> tuple[Role, list[Any]]:
    """The role in which a part queried models, and its unchanged inputs."""
    if isinstance(part, AuditResult):
        return "classifier", [example.example.text for example in part.examples]
    items = part.tasks[0].items if isinstance(part, CompareResult) else ()
    questions = [item.question for item in items]
    if any(question.options for question in questions):
        return "choice_scorer", questions
    has_blanks = any(BLANK in question.text for question in questions)
    return "mask_filler" if has_blanks else "answerer", questions


def _aligned_layers(
    request: PairRequest, cards: Sequence[ModelCard], part: EstimatedResult
) -> Iterator[LayerAlignment | NotRun]:
    """The layers of each two models on some texts of a part, by linear CKA."""
    inputs = {getattr(item, "text", item) for item in _asked_in(part)[1]}
    texts = sorted("\n".join(parts_of(text)) for text in inputs)
    most = min(len(texts), request.sizes["n"])
    drawn = random.Random(request.seed).sample(texts, most)  # noqa: S311 - no secret
    models = {whole_spec(model): model for model in request.models}
    for first, second in combinations(cards, 2):
        names = (first.name, second.name)
        try:
            latents = []
            for card in (first, second):
                reader = load_latent_reader(models.get(card.spec, card.spec), request.model_options)
                latents.append(stored_latents(drawn, reader, request.progress).rows(drawn))
            yield aligned(names, latents, request.seed)
        except ScopeError as error:
            part_name = f"similarity of the layers of {' and '.join(names)}"
            yield left_out(part_name, "probe", error)


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
    # Questions are no running text, of which cloze questions could be made.
    asked = request.tasks or [name for name in task_names(pairs=False) if name != "cloze"]
    tasks = [task for task in asked if parts.compare(task)]
    if not (tasks or request.tasks) and parts.compare("cloze"):
        tasks.append("cloze")
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
        """The target in place of the reference, by labels or else by written answers."""
        request = self._request
        shared = self._shared(AuditedTexts) | self._shared(JudgesAccuracy)
        audit = partial(
            self._try,
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
        )
        # No label has a length.
        options = replace(request.model_options, max_answer_tokens=ModelOptions.max_answer_tokens)
        if request.role == "answer":
            audit(**shared)
        elif not audit(**shared | {"model_options": options}) and request.role == "classifier":
            refused = len(self.not_run)
            if audit(**shared | {"role": "answer"}):
                del self.not_run[refused - 1]

    def compare(self, task: str | object) -> bool:
        """The answers of all models to a task's questions."""
        name = str(getattr(task, "name", task))
        compare = partial(
            self._try,
            f"comparison of answers to {name}",
            f"compare-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}",
            CompareRequest,
            models=self._request.models,
            tasks=[task],
            data=self._request.data,
            **self._questions() | self._shared(JudgesAccuracy),
        )
        if compare():
            return True
        if SENTENCE_ENCODER.removeprefix("hf:") not in self._errors[-1].found:
            return False
        self.not_run[-1] = replace(self.not_run[-1], part=f"SemScore of answers to {name}")
        return compare(encoder="none")

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
