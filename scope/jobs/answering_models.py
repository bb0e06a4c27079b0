"""The models of a comparison, each loaded once, in the roles that its tasks need.

The tasks and their data are checked before any model is loaded. What a job leaves out, and why
models give no answer, is counted by reason, with examples.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import chain, combinations
from typing import Any, TypeVar, get_args

from scope.answers import Run, answer_questions
from scope.core.request import Request
from scope.data.fields import CLUSTER
from scope.data.sources import NAMED, LeftOutRows
from scope.errors import DataError, ModelError, SpecError, counted, shown
from scope.jobs.configuration import short_names
from scope.metrics.catalog import Metric, parse_metric
from scope.models.options import Form, ModelOptions
from scope.models.prompts import prompt_of
from scope.models.questions import KINDS
from scope.models.saved import TableColumn
from scope.models.scheme import (
    Model,
    checked_spec,
    expand_spec,
    in_role,
    load_model,
    mark_cacheable,
    scheme_of,
)
from scope.protocols import Progress, Role, Task, TaskData
from scope.records import (
    MEMORY,
    Answer,
    CapabilityCard,
    DataCard,
    LeftOut,
    Manifest,
    ModelCard,
    Prediction,
    PromptReading,
    Question,
    Setting,
    TaskAnswers,
)
from scope.records.text_parts import parts_of
from scope.registry import (
    entries,
    find,
    guarded_piece,
    make_piece,
    piece_card,
    refuse_unused_settings,
    require_distinct,
    settings_of,
)


def answerer_card(answerer: Model, roles: Sequence[Role]) -> ModelCard:
    """A model's entry in the manifest, with the prompts that it is asked with in these roles."""
    prompts = getattr(answerer.adapter, "prompts", {})
    used = [name for role in roles for name in KINDS[role].prompts]
    asked = {name: prompts[name] for name in used if name in prompts}
    return replace(answerer.card(), prompts=asked)


def check_answering_models(
    models: Sequence[str | object], roles: Sequence[Role], options: ModelOptions
) -> tuple[str | object, ...]:
    """All models that the specs mean, checked as far as that needs none of them loaded.

    Raises
    ------
    SpecError
        When there are fewer than two models, one is given twice, or a prompt cannot be used.
    ModelError
        When a model's file is missing.
    """
    check_prompts(roles, options)
    meant = [expand_spec(model) if isinstance(model, str) else [model] for model in models]
    expanded = tuple(chain.from_iterable(meant))
    if len(expanded) < 2:
        raise SpecError(
            counted(len(expanded), "model"),
            expected="at least two models to compare",
            fix="add --model SPEC",
        )
    short_names([checked_spec(model) for model in expanded if isinstance(model, str)])
    return expanded


def load_answering_models(
    expanded: Sequence[str | object],
    tasks: Sequence[ChosenTask],
    options: ModelOptions,
    progress: Progress,
) -> tuple[Model, ...]:
    """Load every model, saved answers first, and check that it has the roles of the tasks.

    Raises
    ------
    SpecError
        When a model is given twice.
    ModelError
        When a model cannot be loaded, lacks a role, holds answers to other data, or has the
        fingerprint of another.
    """
    loaded: list[Any] = [None] * len(expanded)
    with progress.task("loading models", len(expanded)) as advance:
        for place in sorted(range(len(expanded)), key=lambda place: not is_saved(expanded[place])):
            loaded[place] = load_for_tasks(expanded[place], tasks, options)
            # Saved answers are to all questions: else no other model is loaded.
            for task in tasks if is_saved(expanded[place]) else ():
                ask = getattr(loaded[place], KINDS[task.task.role].method)
                deque(ask(task.questions), maxlen=0)
            advance()
    names = short_names([model.spec for model in loaded])
    answering_models = tuple(
        Model(name=name, adapter=model) for name, model in zip(names, loaded, strict=True)
    )
    require_own_fingerprints(loaded)
    if any(task.task.role == "choice_scorer" for task in tasks):
        require_one_form(loaded)
    return answering_models


def is_saved(model: str | object) -> bool:
    """Whether a model is given as saved answers, which are read and not run."""
    return isinstance(model, str) and scheme_of(model).saved


Asked = TypeVar("Asked", bound=Request)


def in_one_form(request: Asked, models: Sequence[object], *, chooses: bool) -> Asked:
    """The request with the form in which all its language models choose.

    It is letters as soon as one of the models can answer with nothing else, as endpoints.

    Raises
    ------
    SpecError
        When such a model is to choose words, or an endpoint to be asked without a chat template.
    """
    options: ModelOptions = request.model_options  # type: ignore[attr-defined]
    form = options.ask if chooses else None
    for spec in filter(lambda spec: scheme_of(spec).by_letters, map(spec_of, models)):
        for name, refused, reason in (("ask", "words", "letters"), ("chat", "no", "in chats")):
            if getattr(options, name) == refused and (name == "ask" or scheme_of(spec).served):
                raise SpecError(
                    f"--{name} {refused} with `{spec}`",
                    expected=f"all models asked alike; this one answers {reason} alone",
                    fix=f"leave --{name} out, or compare models of the scheme hf alone",
                )
        form = "letters" if chooses else None
    changed = replace(options, ask=form)
    return request if changed == options else replace(request, model_options=changed)  # type: ignore[call-arg]


def require_one_form(models: Iterable[Any]) -> None:
    """Refuse language models that were loaded to choose in different forms, as objects may be.

    Raises
    ------
    ModelError
        When there are two.
    """
    forms = {getattr(model, "form", ""): model.spec for model in models}
    if len(asked := [form for form in get_args(Form) if form in forms]) > 1:
        shown = " and ".join(f"`{forms[form]}` for {form}" for form in asked)
        raise ModelError(
            f"models that are asked differently: {shown}",
            expected="one form for all models of a verdict",
            fix="pass their specs; or load each with ModelOptions(ask='letters')",
        )


def check_prompts(roles: Sequence[Role] | None, options: ModelOptions) -> None:
    """Read the prompts of the user; of tasks, refuse those with which nothing would be asked."""
    unused = "choice" if options.ask == "letters" else "choice_letters"
    used = [name for role in roles or () for name in KINDS[role].prompts if name != unused]
    for name in options.prompts:
        if roles is not None and name not in used:
            raise SpecError(
                f"the prompt `{name}`, which none of the tasks uses",
                expected=f"prompts of these tasks: {', '.join(used)}",
                fix="leave it out, or check the name",
            )
        prompt_of(name, options)


def require_own_fingerprints(models: Sequence[Any]) -> None:
    """See that models of the user's own code have a fingerprint each; copies of files may not.

    Raises
    ------
    ModelError
        When two have the same.
    """
    own = [model for model in models if getattr(model, "own", False)]
    of_libraries = [model for model in models if model.spec.startswith(MEMORY)]
    refuse_same_models([*own, *of_libraries])


def refuse_same_models(models: Sequence[Any]) -> None:
    """Answers are stored by fingerprint: of two models with the same one, only one would be asked.

    Raises
    ------
    ModelError
        When two specs have the same.
    """
    for first, second in combinations(models, 2):
        if first.fingerprint == second.fingerprint and first.spec != second.spec:
            raise ModelError(
                f"`{first.spec}` and `{second.spec}` are the same model, with the fingerprint "
                f"{first.fingerprint!r}",
                expected="different models: a fingerprint changes whenever the answers could",
                fix="leave one of them out, or give objects a `fingerprint` each",
            )


def spec_of(model: object) -> str:
    """The spec itself, that of an object, or the name of its class."""
    return model if isinstance(model, str) else str(getattr(model, "spec", type(model).__name__))


def load_for_tasks(model: str | object, tasks: Sequence[ChosenTask], options: ModelOptions) -> Any:
    """The model behind a spec, or the object itself, in the roles of the tasks."""
    loaded = load_answering_model(model, [task.task.role for task in tasks], options)
    if isinstance(loaded, TableColumn):
        # A table of answers goes by row: it must have been made for just these data.
        for task in tasks:
            loaded.require_rows(task.data.card.rows, task.data.card.spec)
    first = {name: task.questions[0] for task in tasks for name in KINDS[task.task.role].prompts}
    return with_reading(loaded, first)


def with_reading(model: Any, first: Mapping[str, Question]) -> Any:
    """A model of ours that notes how it reads its first prompts."""
    kind = type(model)
    if kind.__module__.startswith("scope.") and hasattr(kind, "prompt_as_read"):
        used = [name for name in first if name in model.prompts]
        shown = {name: model.prompt_as_read(name, first[name]) for name in used}
        model.reading = PromptReading(template=model.template, first_prompts=shown)
    return model


def load_answering_model(model: str | object, roles: Sequence[Role], options: ModelOptions) -> Any:
    """The model behind a spec, or the object itself, if it has all the roles."""
    first, *others = dict.fromkeys(roles)
    if isinstance(model, str):
        loaded = mark_cacheable(load_model(model, first, options), model, options)
    else:
        loaded = in_role(model, spec_of(model), first, options)
    for role in others:
        in_role(loaded, loaded.spec, role, options)
    return loaded


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenTask:
    """A task, where it comes from, the items made for it, and its own scorers."""

    task: Task
    origin: str
    data: TaskData
    scorers: tuple[Metric, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the items, in their order."""
        return tuple(item.question for item in self.data.items)

    def card(self) -> CapabilityCard:
        """Its entry in the manifest."""
        return piece_card(self.task, self.origin)


def choose_tasks(
    tasks: Sequence[str | object],
    data: str | Mapping[str, str],
    settings: Mapping[str, Setting],
    *,
    n: int | None,
    seed: int,
    cluster: str | None = None,
) -> tuple[ChosenTask, ...]:
    """The tasks by name or as they stand, each with its settings and its items.

    Raises
    ------
    SpecError
        When a name is unknown or occurs twice, a task has no data or data no task, or no task has
        one of the settings.
    DataError
        When data cannot be read or contain no questions.
    """
    chosen: list[tuple[Task, str]] = []
    for requested in tasks:
        task, origin = find_task(requested, settings)
        if _is_of_pairs(task):
            raise SpecError(
                f"the task `{task.name}`, whose scored pairs are for probes",
                expected=f"a task that asks questions: {', '.join(task_names(pairs=False))}",
                fix=f"write scope probe --task {task.name}",
            )
        chosen.append((task, origin))
    names = [task.name for task, _ in chosen]
    require_distinct("tasks", names, "--task cloze --task extractive_qa")
    refuse_unused_settings(settings, {task.name: settings_of(task) for task, _ in chosen})
    specs = _data_by_task(names, data)
    clustered = {} if cluster is None else {CLUSTER: cluster}
    tasks_with_data = []
    for task, origin in chosen:
        known = CLUSTER in signature(task.load).parameters and len(chosen) == 1
        if clustered and not known:
            raise SpecError(
                f"--cluster {cluster} for the tasks {', '.join(names)}",
                expected="one task whose `load` takes `cluster`: choice, extractive_qa, generation",
                fix="leave --cluster out, or compare one of these tasks by itself",
            )
        data_of = task.load(specs[task.name], n=n, seed=seed, **clustered)
        data_of = replace(data_of, card=replace(data_of.card, capability=task.name))
        scorers = _scorers(task)
        tasks_with_data.append(ChosenTask(task=task, origin=origin, data=data_of, scorers=scorers))
    return tuple(tasks_with_data)


def _scorers(task: Task) -> tuple[Metric, ...]:
    """The scorers that a task names in addition to the metrics of all tasks.

    Raises
    ------
    SpecError
        When one is unknown, or compares no texts.
    """
    named = getattr(task, "scorers", ())
    if not isinstance(named, tuple | list) or not all(isinstance(name, str) for name in named):
        raise SpecError(
            f"`{task.name}` with the scorers {shown(named)}",
            expected="a tuple of names of metrics",
            fix="write for example scorers = ('same_initial',)",
        )
    metrics = tuple(map(parse_metric, named))
    for metric in metrics:
        if metric.on_texts is None:
            raise SpecError(
                f"the metric `{metric}` as a scorer of `{task.name}`",
                expected="a metric with `on_texts`, a function of two lists of texts",
                fix="change `scorers` in the code of the task",
            )
    return metrics


def task_names(*, pairs: bool) -> list[str]:
    """The names of the tasks of pairs, or of those whose questions models answer.

    Examples
    --------
    >>> "similarity" in task_names(pairs=True), "similarity" in task_names(pairs=False)
    (True, False)
    """
    working = (entry for entry in entries("tasks") if entry.error is None)
    return [entry.name for entry in working if _is_of_pairs(entry.target) == pairs]


def find_task(task: str | object, settings: Mapping[str, Setting]) -> tuple[Any, str]:
    """A task of any kind, by its name or as it is, and where it comes from."""
    if isinstance(task, str):
        entry = find("tasks", task)
        return guarded_piece(make_piece(entry, settings)), entry.origin
    return guarded_piece(task), type(task).__module__


def _is_of_pairs(task: Any) -> bool:
    return getattr(task, "role", None) == "latent_reader"


def _data_by_task(names: Sequence[str], data: str | Mapping[str, str]) -> Mapping[str, str]:
    if isinstance(data, str):
        if len(names) > 1:
            raise SpecError(
                f"one data spec, `{data}`, for the tasks {', '.join(names)}",
                expected="data for each task",
                fix=f"write for example --data {names[0]}={data} --data {names[1]}=…",
            )
        return {names[0]: data}
    if set(data) != set(names):
        raise SpecError(
            f"data for {', '.join(sorted(data)) or 'no task'}",
            expected=f"data for each of the tasks: {', '.join(names)}",
            fix=f"write for example --data {names[0]}=…",
        )
    return data


UNANSWERED = "no answer of "
"""Begins the reason for leaving out a question, or a text, that some model did not answer."""

CHANGED = "changed text, "
"""Stands before it where only a change of a text was not answered."""

ByModel = Mapping[str, Mapping[str, Answer | Prediction]]
"""All answers to a task, or to texts, by the model's name and the question's id or the text."""


def ask_all(
    models: Sequence[Model], chosen: ChosenTask, run: Run, progress: Progress
) -> tuple[TaskAnswers, ByModel]:
    """The answers to the questions that no server failed to answer, and those to all questions."""
    rows = [
        answer_questions(model, chosen.task, chosen.questions, run, progress) for model in models
    ]
    ids = [question.id for question in chosen.questions]
    by_id = [dict(zip(ids, row, strict=True)) for row in rows]
    replies = dict(zip([model.name for model in models], by_id, strict=True))
    failed = unanswered(replies)
    kept = [place for place, name in enumerate(ids) if name not in failed]
    items = [chosen.data.items[place] for place in kept]
    answers = TaskAnswers(
        task=chosen.task.name,
        # Rows and labels are needed only for inference; a result names questions by their ids.
        items=tuple(
            replace(item, question=replace(item.question, row=None, labels=())) for item in items
        ),
        answers=tuple(tuple(row[place] for place in kept) for row in rows),
    )
    return answers, replies


def unanswered(answers: ByModel, reference: str | None = None) -> dict[str, str]:
    """The questions, or texts, that are left out for all models, and why.

    They are those that a server failed to answer, or the ``reference`` of an audit, with whose
    answer all others are compared.

    Examples
    --------
    >>> good, failed = Answer(choice=0), Answer(missing="server")
    >>> unanswered({"a": {"q0": good, "q1": good}, "b": {"q0": failed, "q1": good}})
    {'q0': 'no answer of b: server'}
    """
    return {
        name: f"{UNANSWERED}{model}: {answer.missing}"
        for model, row in answers.items()
        for name, answer in row.items()
        if answer.leaves_out or (model == reference and not answer.given)
    }


def with_reasons(
    manifest: Manifest,
    tasks: Mapping[Any, ByModel],
    most: float,
    texts: Collection[str] | None = None,
    reference: str | None = None,
) -> Manifest:
    """The manifest with what is known once models have answered the tasks, by the tasks' names.

    It counts what is left out of the data of each task, how many questions each model truncated,
    how many of its answers are cut, and why it gave no answer to others. The name of an audit is
    None, ``texts`` are those of its data, and what its ``reference`` does not answer is left out.

    Raises
    ------
    DataError
        When a larger share than ``most`` is left out for want of an answer.
    """
    data, models = [], []
    failed = {task: unanswered(rows, reference) for task, rows in tasks.items()}
    for card in manifest.data:
        whys = failed.get(card.capability, {})
        plain = {name for name in whys if texts is None or name in texts}
        # Of a question with its passage, the question alone.
        last = max(1, len(card.parts))
        lefts = _counted(
            (CHANGED * (name not in plain) + whys[name], parts_of(name)[:last][-1]) for name in whys
        )
        used = card.used - len(plain)
        data.append(replace(card, used=used, left_out=(*card.left_out, *lefts)))
    refuse_unusable(data, most)
    last = max((len(card.parts) for card in manifest.data), default=0) or 1
    for model in manifest.models:
        rows = [(failed[task], row.get(model.name, {})) for task, row in tasks.items()]
        missing = _counted(
            (
                answer.missing or "no reason is known",
                getattr(answer, "reply", "") or parts_of(name)[:last][-1],
            )
            for whys, row in rows
            for name, answer in row.items()
            if not answer.given and getattr(answer, "asked", True)
            if name not in whys and (texts is None or name in texts)
        )
        answers = [answer for _, row in rows for answer in row.values()]
        truncated, cut = (sum(getattr(a, of) for a in answers) for of in ("truncated", "cut"))
        several = len(answers) if truncated or cut else 0
        numbered = replace(model, truncated=truncated, cut=cut, answers=several)
        models.append(replace(numbered, missing=tuple(missing)))
    return replace(manifest, data=tuple(data), models=tuple(models))


def _counted(examples: Iterable[tuple[str, str]]) -> Iterator[LeftOut]:
    """How many there are of each reason, the commonest first, with the commonest examples."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for reason, example in examples:
        by_reason[reason].append(example)
    for reason, named in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
        commonest = tuple(example for example, _ in Counter(named).most_common(NAMED))
        yield LeftOut(reason=reason, count=len(named), examples=commonest)


def refuse_unusable(data: Iterable[DataCard], most: float) -> None:
    """Check that not too much is left out of the data.

    Raises
    ------
    DataError
        When a larger share than ``most`` of the rows is unusable or empty, or of the questions or
        texts is left out for want of an answer.
    """
    for card in data:
        # A cloze counts sentences that it does not ask as empty, which are no rows.
        every = card.left_out if card.capability == "cloze" else card.all_left_out
        failed = [left for left in card.left_out if left.reason.startswith(UNANSWERED)]
        others = [left for left in every if UNANSWERED not in left.reason]
        asked = card.used + sum(left.count for left in failed)
        for lefts, whole, what, fix in (
            (others, card.rows, "rows", "correct the data"),
            (failed, asked, "rows asked", "check the model, its server and rows"),
        ):
            _refuse_more(lefts, most, whole, f"{what} of `{card.spec}`", fix)


def notes_on(left_out: LeftOutRows, rows: int, name: str, most: float) -> list[str]:
    """A sentence for each reason why some of the rows of a table are left out.

    Raises
    ------
    DataError
        When a larger share than ``most`` is.
    """
    lefts = left_out.commonest()
    fix = "correct the data, or name another column: --column ROLE=NAME"
    _refuse_more(lefts, most, rows, f"rows of {name}", fix)
    return [
        f"{counted(left.count, 'row')} of {name} left out, {left.reason}: "
        f"{'; '.join(left.examples)}"
        for left in lefts
    ]


def _refuse_more(lefts: Sequence[LeftOut], most: float, whole: int, what: str, fix: str) -> None:
    count = sum(left.count for left in lefts)
    if count > most * whole:
        reasons = "; ".join(
            f"{left.reason} ({left.count}){': ' * bool(left.examples)}{', '.join(left.examples)}"
            for left in lefts
        )
        raise DataError(
            f"{count} of {whole} {what} cannot be used; {reasons}",
            expected=f"at most {most:.0%}",
            fix=f"{fix}; --most-unusable allows more",
        )
