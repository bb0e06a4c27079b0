"""The comparison, from its plan on: do models answer the same questions alike, right or wrong?

The verdict on each later model: is it accurate enough to replace the first one?

It rests on accuracy alone, or on the mean score where an evaluation tool gives scores between 0 and
1: at most a margin below the first model's, or with a recovery at least a share of it. Of several
benchmarks, which are tasks or those of a log, the unweighted mean is judged, and none of them may
fail alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from reports.wording import comma_list
from scope.answers import Run, recognise
from scope.core.request import as_function
from scope.data.log_items import ItemName
from scope.estimation.answer_shares import SILENT, cut_thoughts
from scope.estimation.conditions import conditions_of
from scope.estimation.regions import Measured, find_regions
from scope.estimation.tasks import (
    TaskNumbers,
    counted_pairs,
    distinct_texts,
    measure_task,
    most_pairs,
)
from scope.jobs.answering_models import (
    ChosenTask,
    answerer_card,
    ask_all,
    check_answering_models,
    choose_tasks,
    in_one_form,
    load_answering_models,
    spec_of,
    with_reasons,
)
from scope.jobs.compare.examples import task_estimates
from scope.jobs.compare.request import CompareRequest
from scope.jobs.configuration import configuration_of, manifest_of, short_names
from scope.jobs.drift import drift_along, texts_of
from scope.jobs.encoders import ByEncoder, Likeness, SemScore, load_semscore
from scope.jobs.gates import Gate, parse_gate, require_names
from scope.jobs.runner import Planned, Prepared, questions_work, run_job, vectors_work
from scope.jobs.shards import SETTING, Shard, check_engine, run_shards
from scope.models.options import LETTER_TOKENS
from scope.models.prompts import prompt_of
from scope.models.questions import KINDS
from scope.models.scheme import Model, split_spec, with_name
from scope.protocols import Progress
from scope.records import (
    ERROR,
    GOLD,
    MOST_WITH_CELLS,
    CompareResult,
    Endpoint,
    Estimate,
    Item,
    Manifest,
    Outcome,
    Region,
    Replacement,
    Setting,
    TaskAnswers,
    Undefined,
)
from scope.verdicts.decide import lacking_clusters
from scope.verdicts.plan import ALL_GOLD, Evidence, Scores, accuracy_evidence, verdicts_on
from scope.verdicts.words import comparison_words


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The plan of the job, immutable."""

    request: CompareRequest
    answering_models: tuple[Model, ...]
    tasks: tuple[ChosenTask, ...]
    semscore: SemScore | None

    def _asked_with(self) -> dict[str, Setting]:
        """The prompts and the maximum length of answers, for models that may use them."""
        if all(model.saved or model.own for model in self.answering_models):
            return {}
        used = dict.fromkeys(name for task in self.tasks for name in KINDS[task.task.role].prompts)
        prompts = {
            f"prompt {name}": prompt_of(name, self.request.model_options).template for name in used
        }
        return {**prompts, "max_answer_tokens": self.request.model_options.max_answer_tokens}

    def manifest(self) -> Manifest:
        """The manifest before any model has answered."""
        roles = [task.task.role for task in self.tasks]
        return manifest_of(
            "compare",
            self.request,
            {
                "seed": self.request.seed,
                "normalize": self.request.normalize,
                "accuracy_margin": self.request.accuracy_margin,
                "recovery": self.request.recovery,
                "region_margin": self.request.region_margin,
                **(self.semscore.settings if self.semscore else {"encoder": None}),
                **self._asked_with(),
                **({"cluster": self.request.cluster} if self.request.cluster else {}),
                **({SETTING: self.request.shard} if self.request.shard else {}),
            },
            models=tuple(answerer_card(model, roles) for model in self.answering_models),
            data=tuple(task.data.card for task in self.tasks),
            capabilities=tuple(task.card() for task in self.tasks),
            encoder_reproducible=self.semscore.reproducible if self.semscore else "",
        )


def plan_comparison(request: CompareRequest) -> ComparisonPlan:
    """Load and check everything in the plan."""
    shard = None if request.shard is None else Shard.parse(request.shard)
    sample: dict[str, Any] = {name: getattr(request, name) for name in ("n", "seed", "cluster")}
    tasks = choose_tasks(request.tasks, request.data_by_task, request.settings, **sample)
    roles = [task.task.role for task in tasks]
    request = in_one_form(request, request.models, chooses="choice_scorer" in roles)
    options = request.model_options
    models = check_answering_models(request.models, roles, options)
    _require_names_of_gates(request.gates, tasks, models)
    # From here on each step may take half a minute.
    semscore = load_semscore(request.encoder, [task.task for task in tasks], options)
    if shard is not None:
        data = [replace(task.data, items=tuple(shard.part(task.data.items))) for task in tasks]
        tasks = tuple(replace(task, data=part) for task, part in zip(tasks, data, strict=True))
    return ComparisonPlan(
        request=request,
        answering_models=load_answering_models(models, tasks, options, request.progress),
        tasks=tasks,
        semscore=semscore,
    )


def _require_names_of_gates(
    gates: Sequence[str | Gate], tasks: Sequence[ChosenTask], models: Sequence[str | object]
) -> None:
    """Check that the names in gates will be measured, now that all models of a table are known."""
    specs = [
        with_name(":".join(split_spec(model)), model) if isinstance(model, str) else spec_of(model)
        for model in models
    ]
    known = [*(task.task.name for task in tasks), *short_names(specs), GOLD]
    for gate in gates:
        read = parse_gate(gate, "tasks") if isinstance(gate, str) else gate
        require_names(
            read.only,
            read.text,
            known,
            expected=f"a task or a model of this comparison, or {GOLD} for the right answers",
            fix="check the name, or name the model with --model",
        )


def run_compare(request: CompareRequest) -> CompareResult:
    """Run the comparison, or resume it."""
    return run_job(request, prepare)


compare = as_function(CompareRequest, run_compare)


def prepare(request: CompareRequest) -> Prepared[CompareResult]:
    """Load and check everything before any model is asked."""
    check_engine(request, (*request.models, *request.tasks))
    plan = plan_comparison(request)
    loaded = [model.adapter for model in plan.answering_models]
    manifest = plan.manifest()
    find = partial(_conduct, plan, configuration_of(manifest))
    return Prepared(manifest, find, loaded, partial(_work, plan))


def _work(plan: ComparisonPlan) -> Iterator[Planned]:
    """The work that a dry run shows: each model's answers to each task, and SemScore's vectors."""
    tokens_out = plan.request.model_options.max_answer_tokens
    for chosen in plan.tasks:
        replied = LETTER_TOKENS if chosen.task.role == "choice_scorer" else tokens_out
        for model in plan.answering_models:
            yield questions_work(model, chosen.task, chosen.questions, replied)
    if isinstance(plan.semscore, ByEncoder):
        encoder = plan.semscore.encoder
        questions = [question.text for task in plan.tasks for question in task.questions]
        # One answer of each model, which is shorter than its question.
        yield vectors_work("encoder", "SemScore", encoder.encode, questions)


def _conduct(plan: ComparisonPlan, configuration: Mapping[str, object], run: Run) -> CompareResult:
    """Inference, then metrics; reuses stored answers."""
    progress = plan.request.progress
    for task in plan.tasks:
        for model in plan.answering_models:
            recognise(model, task.task.role, task.questions, run, progress)
    most = min(len(task.questions) for task in plan.tasks)
    run_shards(plan.request, run_compare, configuration, most, run)
    models = plan.answering_models
    names = [model.name for model in models]
    asked = [ask_all(models, task, run, progress) for task in plan.tasks]
    answered = [answers for answers, _ in asked]
    replies = {answers.task: of_all for answers, of_all in asked}
    manifest = with_reasons(plan.manifest(), replies, plan.request.most_unusable)
    likeness = [
        plan.semscore.likeness(distinct_texts(answers), chosen.task, progress)
        if plan.semscore is not None and chosen.task.role != "choice_scorer"
        else None
        for chosen, answers in zip(plan.tasks, answered, strict=True)
    ]
    numbers = [_measure(plan, *pair, progress) for pair in zip(answered, likeness, strict=True)]
    lost = (
        {name: sum(answer.leaves_out for answer in row.values()) for name, row in task.items()}
        for task in replies.values()
    )
    totals = (len(task.questions) for task in plan.tasks)
    measured = list(map(MeasuredTask, answered, numbers, lost, totals))
    result = CompareResult(
        manifest=manifest,
        outcomes=tuple(map(_outcome, answered, likeness)),
        measurements=tuple(row for of_task in numbers for row in of_task.measurements),
        differences=tuple(row for of_task in numbers for row in of_task.differences),
        tasks=tuple(answered),
        task_shares=tuple(row for of_task in numbers for row in of_task.shares),
        cells=tuple(row for of_task in numbers for row in of_task.cells),
        drift=tuple(
            row
            for task in answered
            for row in drift_along(dict(texts_of(task)), models, task.task, run, progress)
        ),
        verdicts=comparison_verdicts(
            measured, names, plan.request.accuracy_margin, plan.request.recovery
        ),
    )
    regions = regions_of_tasks(result, plan.request.region_margin, plan.request.seed)
    return replace(result, regions=tuple(regions))


def regions_of_tasks(result: CompareResult, margin: float, seed: int) -> Iterator[Region]:
    """The questions on which each later model is right less, or more, often than the first.

    Only of tasks with right answers, and none with more than ten models.
    """
    error = ERROR / max(1, len(result.tasks))
    for task in task_estimates(result) if len(result.manifest.models) <= MOST_WITH_CELLS else ():
        items = {item.question.id: item for item in task.answers.items} if task.answers else {}
        first, *others = task.names
        for target in others:
            if not (both := task.shared(first, target)):
                continue
            asked = [items[id_] for id_ in both]
            lost = np.array([before - after for before, after in both.values()])
            conditions = conditions_of(
                [item.question.text for item in asked], _named(asked), seed=seed
            )
            for region in find_regions(
                target,
                list(both),
                conditions,
                [Measured("accuracy", lost), Measured("gain", -lost)],
                margin=margin,
                error=error,
                seed=seed,
            ):
                yield replace(region, task=task.task)


def _named(items: Sequence[Item]) -> dict[str, list[str | None]]:
    """The category of each question, and the place of its right option."""
    places = ("first", "second", "third", "fourth", "fifth")
    return {
        "category": [item.category and f"in {item.category}" for item in items],
        "right": [
            f"of which the {places[item.right]} option is right"
            if item.right is not None and item.right < len(places)
            else None
            for item in items
        ],
    }


def _measure(
    plan: ComparisonPlan, answers: TaskAnswers, likeness: Likeness | None, progress: Progress
) -> TaskNumbers:
    scorers = {task.task.name: task.scorers for task in plan.tasks}
    measure = partial(
        measure_task,
        answers,
        [model.name for model in plan.answering_models],
        normalize=plan.request.normalize,
        seed=plan.request.seed,
        scorers=scorers[answers.task],
    )
    if likeness is None:
        return measure()
    with progress.task(f"{answers.task}: SemScore of pairs", most_pairs(answers)) as advance:
        return measure(
            by_meaning=counted_pairs(likeness.by_meaning, advance),
            by_words=likeness.by_words,
            cosines=likeness.cosines,
        )


def _outcome(answered: TaskAnswers, likeness: Likeness | None) -> Outcome:
    every = [answer for row in answered.answers for answer in row if answer.asked]
    missing = Counter(answer.missing for answer in every if not answer.given)
    cut = likeness.truncated if likeness else 0
    return Outcome(
        capability=answered.task,
        status="measured",
        reason=f"SemScore goes by the beginning of texts that are too long: {cut}" if cut else None,
        searched=len(every),
        found=len(every) - missing.total(),
        failures={why or "no answer": count for why, count in missing.items()},
    )


MEAN_SCORE = "mean score"
"""In place of accuracy, where scores lie between 0 and 1."""

NO_GOLD = "no question has a known right answer"


class Benchmark(NamedTuple):
    """Two models' scores, of target and reference, and why they are not judged, if so."""

    name: str
    scores: Scores
    why_not: str = ""
    ids: Sequence[str] = ()

    @property
    def measure(self) -> str:
        """What the scores measure."""
        return MEAN_SCORE if set().union(*self.scores) - {0.0, 1.0} else "accuracy"


class MeasuredTask(NamedTuple):
    """A task's answers and estimates, and how many of all questions each model left out for all."""

    answers: TaskAnswers
    numbers: TaskNumbers
    lost: Mapping[str, int] = MappingProxyType({})
    total: int = 0

    def too_few_left(self, margin: float) -> str:
        """Why what is left of the questions decides nothing; empty where most are left."""
        lost = self.total - len(self.answers.items)
        if lost <= margin * self.total:
            return ""
        names = comma_list([name for name, count in self.lost.items() if count])
        return (
            f"{lost:,} of {self.total:,} questions of {self.name} are left out for want of answers "
            f"of {names}, more than the margin of {margin:g}"
        )

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.answers.task

    @property
    def known(self) -> set[str]:
        """The ids of the items whose right answer is known, or to which an answer is scored."""
        return {id_ for scores in self.numbers.scores.values() for id_ in scores}

    def benchmarks(self, reference: str, target: str, *, all_gold: bool) -> Iterator[Benchmark]:
        """The whole task, or each task of a log."""
        first, second = (self.numbers.scores.get(model, {}) for model in (reference, target))
        tasks: dict[str, list[str]] = {}
        for item in self.answers.items:
            of_log = ItemName.parse(item.question.id)
            name = of_log.conditions.task if of_log else self.name
            tasks.setdefault(name, []).append(item.question.id)
        for name, ids in tasks.items():
            both = [id_ for id_ in ids if id_ in first and id_ in second]
            scores = [(second[id_], first[id_]) for id_ in both]
            known, why = len(self.known.intersection(ids)), ""
            if all_gold and known < len(ids):
                why = ALL_GOLD.format(known=known, texts=len(ids))
            elif not scores:
                why = "no question was put to both models" if known else NO_GOLD
            yield Benchmark(name if len(tasks) > 1 else self.name, scores, why, both)


def comparison_verdicts(
    tasks: Sequence[MeasuredTask],
    models: Sequence[str],
    margin: float,
    recovery: float | None = None,
) -> tuple[Replacement, ...]:
    """May each later model replace the first? None with more than ten models.

    A model that is degenerate on a task, that was asked less than three quarters of its questions,
    or whose reference is hardly better than chance, never *may replace*. One whose thoughts are cut
    is never *may not*, either: the limit decides what it answers. Nor is any model where unreadable
    rows or failing servers leave out a larger share of the questions than the margin.
    """
    if not 2 <= len(models) <= MOST_WITH_CELLS:
        return ()
    reference, *targets = models
    evidence: dict[str, list[Evidence]] = {}
    unusable: dict[str, str] = {}
    for target in targets:
        benchmarks: list[Benchmark] = []
        never_beyond = False
        for task in tasks:
            cut = cut_thoughts(task.answers.answers[models.index(target)])
            cut = cut and f"of {target} on {task.name}, {cut}"
            if few := lacking_clusters([item.question.id for item in task.answers.items]):
                unusable.setdefault(target, few)
            if open_by := cut or task.too_few_left(margin):
                never_beyond, unusable[target] = True, open_by
            here = list(task.benchmarks(reference, target, all_gold=recovery is not None))
            asked = sum(len(benchmark.scores) for benchmark in here)
            if task.known and (why := _unusable(task, asked, reference, target, margin)):
                unusable.setdefault(target, why)
            benchmarks += here
        otherwise = sum(
            cells.count(share)
            for cells in (cells for task in tasks for cells in task.numbers.cells)
            for share in (cells.flips, cells.other_wrong)
            if share and (cells.first, cells.second) == (reference, target)
        )
        share = otherwise / max(sum(len(benchmark.scores) for benchmark in benchmarks), 1)
        judge = partial(accuracy_evidence, margin=margin, recovery=recovery, otherwise=share)
        parts = _evidence(benchmarks, judge, recovery or -margin, "recovery" if recovery else "")
        evidence[target] = [part.never_beyond if never_beyond else part for part in parts]
    return verdicts_on(evidence, unusable, partial(comparison_words, reference=reference))


def _evidence(
    benchmarks: Sequence[Benchmark], judge: Callable[..., Evidence], limit: float, measure: str
) -> Iterator[Evidence]:
    """The mean of several benchmarks, then each by itself."""
    judged = [part for part in benchmarks if not part.why_not]
    if len(judged) > 1:
        measures = {part.measure for part in judged}
        name = measure or (measures.pop() if len(measures) == 1 else MEAN_SCORE)
        yield judge(name, [part.scores for part in judged])
    for part in benchmarks:
        name = (measure or part.measure) + f" on {part.name}" * (len(benchmarks) > 1)
        if part.why_not:
            none = Undefined(reason=part.why_not)
            shown = None if part.why_not == NO_GOLD else limit
            yield Evidence(Endpoint(name=name, estimate=none, limit=shown))
        else:
            endpoint, planned = judge(name, [part.scores], ids=part.ids)
            yield Evidence(replace(endpoint, needed=len(judged) == 1), planned)


def _unusable(
    task: MeasuredTask, asked: int, reference: str, target: str, margin: float
) -> str | None:
    """Why the answers to a task cannot show that the target may replace the reference."""
    for share in task.numbers.shares:
        if share.model in (reference, target) and share.degenerate is not None:
            advice = "; put another model first" if share.model == reference else ""
            return f"{share.model} is degenerate on {task.name}{advice}"
    known = task.known
    if asked < (1 - SILENT) * len(known):
        return f"only {asked:,} of {len(known):,} questions of {task.name} were put to both models"
    asked_about = [item.question for item in task.answers.items if item.question.id in known]
    options = [len(question.options) for question in asked_about if question.options]
    chance = float(np.mean([1 / count for count in options])) if options else 0.0
    accuracy = next(share.accuracy for share in task.numbers.shares if share.model == reference)
    if not isinstance(accuracy, Estimate) or accuracy.low <= chance + margin:
        if not options:
            return (
                f"the accuracy of {reference} on {task.name} is {accuracy}, not shown to exceed "
                f"the margin of {margin:g}"
            )
        return (
            f"{reference} may only guess on {task.name}: its accuracy is {accuracy}, chance is "
            f"{chance:.3f}, and the margin is {margin:g}"
        )
    return None
