"""The life of a run, for every job: it is opened, filled, written, reported, or only estimated.

A dry run prepares the job and adds up the work for each model: its amount, its time on this machine
and its price. A model is timed for a few seconds, on a random part of its real texts.
"""

from __future__ import annotations

import json
import math
import random
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pkgutil import resolve_name
from typing import Any, Generic, NamedTuple, TypeVar

from reports.blocks import Block, Table, paragraph
from reports.text import to_text
from scope.answers import CachedClassifier, Memory
from scope.answers.asking import REPEATED
from scope.answers.run import Run, shared_answers
from scope.core.request import Job, Request, described
from scope.errors import RunError, ScopeError, SpecError, did_you_mean
from scope.jobs import JOBS, job_named
from scope.jobs.answering_models import refuse_unusable
from scope.jobs.configuration import (
    LeavesOut,
    SharesAnswers,
    configuration_of,
    default_run_name,
    notes_of,
)
from scope.jobs.pages import headline_of
from scope.models.options import LETTER_TOKENS, ModelOptions
from scope.models.questions import ask
from scope.models.scheme import Model, scheme_of, split_spec
from scope.models.written import writer_of
from scope.paths import expanded
from scope.progress import reading_shown_by, remark
from scope.protocols import Capability, EstimatesQueries, Failed, Role, SearchOptions, Task, attempt
from scope.records import (
    Clock,
    Example,
    Manifest,
    ModelCard,
    ModelFacts,
    Prediction,
    Question,
    Result,
)
from scope.records.text_parts import parts_of, with_part
from scope.store.folder import check_folder, check_run, run_folder

Asked = TypeVar("Asked", bound=Request)
Found = TypeVar("Found", bound=Result)


class Prepared(NamedTuple, Generic[Found]):
    """A job whose models and data are loaded and checked.

    ``manifest`` names the run and heads its result; ``compute`` does the work in the open run, and
    reuses its stored answers. ``models`` are those whose answers the run stores.
    ``work`` gives the cost of each model for a dry run; ``trains_models`` is true for a job
    that also trains models of its own, whose time is unknown. ``plan`` says what the run can show.
    """

    manifest: Manifest
    compute: Callable[[Run], Found]
    models: Sequence[object] = ()
    work: Callable[[], Iterable[Planned]] = tuple
    trains_models: bool = False
    plan: str = ""


def run_job(request: Asked, prepare: Callable[[Asked], Prepared[Found]]) -> Found:
    """Prepare the job, open its run, do the work, and write the result and its report.

    The result is what the run's file holds, with the run's folder.

    Raises
    ------
    ScopeError
        An error that the user can fix, such as a run that was started with different arguments.
    """
    began = time.monotonic()
    check_room(request)
    with reading_shown_by(request.progress):
        prepared = prepare(request)
    manifest = prepared.manifest
    if isinstance(request, LeavesOut):
        refuse_unusable(manifest.data, request.most_unusable)
    folder = run_folder(request.run or default_run_name(manifest), request.runs)
    configuration, notes = configuration_of(manifest), notes_of(manifest)
    # Before the run is begun: a price may be that of no endpoint.
    served = any(scheme_of(card.spec).served for card in manifest.models)
    work = prepared.work() if served else ()
    announced = tuple(announcements(work, prices_in(request)))
    shares = isinstance(request, SharesAnswers) and request.cache
    with (
        shared_answers(prepared.models, shares, request.progress) as shared,
        Run.open(folder, configuration, notes=notes, shared=shared, began=began) as run,
    ):
        _refuse_another_generation(run, manifest)
        if any(held := run.table.held()):
            remark(request.progress, f"reuses {held} of earlier sessions")
        notes_on_data = (f"{card.spec}: {note}" for card in manifest.data for note in card.notes)
        for line in filter(None, (*notes_on_data, prepared.plan, *announced)):
            remark(request.progress, line)
        return _finish(_found(prepared.compute, run), run)


def _refuse_another_generation(run: Run, manifest: Manifest) -> None:
    """Answers of two generations of transformers may differ in their last bits: no run mixes them.

    Endpoints, saved answers and objects do not depend on it.
    """
    began: Mapping[str, str] = run.read_notes().get("versions", {})  # type: ignore[assignment]
    before, now = (versions.get("transformers", "") for versions in (began, manifest.versions))
    local = any(scheme_of(card.spec).computed for card in manifest.models)
    if local and before.partition(".")[0] != now.partition(".")[0]:
        raise RunError(
            f"run `{run.path.name}` was started with transformers {before}; {now} is installed",
            expected="the generation of transformers with which the run was started",
            fix="choose another name with --run; `scope report` shows the run as it is",
        )


def prices_in(request: Request) -> Mapping[str, str]:
    """The prices of endpoints; none where the job has no options of models."""
    options = getattr(request, "model_options", None)
    prices: Mapping[str, str] = getattr(options, "prices", {})
    return prices


def check_room(request: Request, job: str | None = None) -> None:
    """Check, before anything is loaded, that the run can be kept in its folder.

    Raises
    ------
    RunError
        When it cannot, or the folder is that of another job or configuration.
    """
    if request.run is None:
        check_folder(expanded(request.runs))
        return
    folder = run_folder(request.run, request.runs)
    check_folder(folder)
    key = next((entry.key for entry in JOBS if entry.request is type(request)), None)
    # In a plugin's manifest, the name of a field may belong to another number.
    fields = () if key is None else described(type(request))
    values = {field.name: getattr(request, field.name) for field in fields}
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    check_run(folder, job or key, numbers)


def _found(compute: Callable[[Run], Found], run: Run) -> Found:
    """The result; a run that is refused before anything was kept in it leaves no folder."""
    try:
        return compute(run)
    except ScopeError:
        if run.is_unused:
            run.discard()
        raise
    finally:
        if run.path.exists():
            run.stopwatch.write()


def _finish(result: Found, run: Run) -> Found:
    clock = Clock(
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=run.stopwatch.seconds,
        asked_again=run.asked_again,
        drifts=tuple(run.drifts),
    )
    stored = run.write_result(replace(result, clock=clock))
    try:
        page = stored.html()
    except ScopeError as error:
        error.fix += (
            f"; the result is kept in `{run.result_path}`, and `scope report {run.path}` makes the "
            "page from it"
        )
        raise
    run.write_report(page)
    run.stopwatch.write(headline_of(stored))
    return replace(stored, folder=run.path)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a run from its beginning; stored answers are not deducted.

    Parameters
    ----------
    job
        The name of the job.
    work
        Each model's part. A perturbed text counts for every trial, although some find none.
    prices
        Of each endpoint with a price: the most that it costs, in the currency of the price.
    preparation
        Seconds that this dry run took to load models and read data, which a run takes, too.
    memory
        The most memory that this dry run has used, in MB: all models and a small batch.
    trains_models
        Whether the job trains models of its own; their time is not in these numbers.
    plan
        What the run can show, in words.
    """

    job: str
    work: tuple[Work, ...]
    prices: Mapping[str, float]
    preparation: float
    memory: float
    trains_models: bool
    plan: str = ""

    @property
    def queries(self) -> int:
        """Of all models."""
        return sum(part.queries for part in self.work)

    @property
    def seconds(self) -> float:
        """Expected time of the run, without endpoints and training."""
        return self.preparation + math.fsum(part.seconds or 0.0 for part in self.work)

    def to_json(self) -> str:
        """All numbers, with the sums."""
        sums = {"queries": self.queries, "seconds": round(self.seconds, 1)}
        return json.dumps(asdict(self) | sums, indent=1, ensure_ascii=False)

    def blocks(self) -> Iterator[Block]:
        """The blocks for a terminal."""
        if self.work:
            yield self._table()
        asks_endpoints = any(part.seconds is None for part in self.work)
        yield paragraph(
            "In all {queries} queries, {time}{but}, {memory} MB of memory.",
            queries=f"{self.queries:,}",
            time=_in_words(self.seconds),
            but=" without the time of endpoints" if asks_endpoints else "",
            memory=f"{self.memory:,.0f}",
        )
        for model, price in self.prices.items():
            yield paragraph("{model}: at most {price}.", model=model, price=in_cents(price))
        if self.trains_models:
            yield paragraph("The time to fit models of the job's own is not included.")
        if self.plan:
            yield paragraph("{plan}", plan=self.plan)

    def _table(self) -> Table:
        tokens = any(part.tokens_in for part in self.work)
        headings = ("queries", "time", *(("tokens in", "tokens out") if tokens else ()))
        rows = (
            (
                *(work.model, work.purpose, f"{work.queries:,}"),
                "not tried" if work.seconds is None else _in_words(work.seconds),
                *((f"{work.tokens_in:,}", f"{work.tokens_out:,}") if tokens else ()),
            )
            for work in self.work
        )
        return Table.of({"model": "name", "for": "text", **dict.fromkeys(headings, "number")}, rows)

    def __str__(self) -> str:
        return to_text(self.blocks())


def dry_run(job: str, **arguments: Any) -> Cost:
    """What a run of a job with these arguments would cost; it leaves no run.

    Models are loaded and answer for a few seconds each. Endpoints are not asked.

    Parameters
    ----------
    job
        The name of the command, such as ``audit`` or ``fleet embed``.
    **arguments
        Those of the job's own function.

    Raises
    ------
    ScopeError
        Whatever the user can fix: see `scope.errors`.
    """
    chosen = job_named(job.replace(" ", "-"))
    return cost_of(chosen, chosen.request(**arguments))


def cost_of(job: Job, request: Request) -> Cost:
    """What a run of this request would cost.

    Raises
    ------
    SpecError
        When the job has no dry run, or a price cannot be read or is that of no endpoint.
    """
    if not job.prepare:
        raise SpecError(
            f"a dry run of `{job.name}`",
            expected="a job whose preparation is known",
            fix="choose another job; `scope JOB --help` shows --dry-run",
        )
    began = time.monotonic()
    check_room(request)
    with reading_shown_by(request.progress):
        prepared: Prepared[Any] = resolve_name(job.prepare)(request)
    preparation = time.monotonic() - began
    work = []
    with request.progress.task("timing models", None) as advance:
        for planned in prepared.work():
            work.append(planned.measured())
            advance()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(
        job=job.name,
        work=tuple(work),
        prices=priced(work, prices_in(request)),
        preparation=round(preparation, 1),
        memory=peak / (1e6 if sys.platform == "darwin" else 1e3),
        trains_models=prepared.trains_models,
        plan=prepared.plan,
    )


def cost_in_short(planned: Iterable[Planned]) -> str:
    """The answers that work takes, and their time, which is measured for some seconds a model."""
    work = [part.measured() for part in planned]
    queries, seconds = sum(part.queries for part in work), sum(part.seconds or 0.0 for part in work)
    return f"about {queries:,} answers, {_in_words(seconds)}"


def _in_words(seconds: float) -> str:
    """A time as a person reads it.

    >>> _in_words(4.2), _in_words(200), _in_words(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


SECONDS_A_TRIAL = 3.0
"""Time for which a model answers, or a search runs."""

SECONDS_TO_ESTIMATE = 1.0
"""Time for estimates of a search, after the first of them; the others follow from length."""

CHARACTERS_A_TOKEN = 4
"""Of English text, about; the tokenizer of a server is unknown."""

Input = TypeVar("Input")


@dataclass(frozen=True, kw_only=True)
class Work:
    """The queries of a run to one model for one purpose.

    Parameters
    ----------
    model, purpose
        Who is asked, and for what: "texts", "search: typo", the name of a task.
    queries
        Texts or questions, each counted once; of a search the expected number. Of models that
        write twice as many, at most: a score of the reference's answer, and an answer.
    seconds
        Expected time on this machine; 0 for saved answers, None for an endpoint, which a dry run
        does not ask.
    tokens_in, tokens_out
        Of an endpoint: about the tokens sent, and at most those of its replies.
    """

    model: str
    purpose: str
    queries: int
    seconds: float | None
    tokens_in: int = 0
    tokens_out: int = 0


class Planned(NamedTuple):
    """A part of a run's work that is measured when it is asked for; that of endpoints at once."""

    at_endpoint: bool
    measured: Callable[[], Work]


def texts_work(model: Model, examples: Sequence[Example], perturbations: int) -> Planned:
    """A model's answers to texts and to ``perturbations`` changed ones of their length."""
    texts = list(dict.fromkeys(example.text for example in examples))
    queries = len(texts) + perturbations

    return _planned("texts", model, "classifier", texts, queries, tokens_out=_label_tokens(model))


def samples_work(model: Model, questions: Sequence[Question]) -> Planned:
    """A writer's sampled answers to questions with seeds."""
    writer, most = replace(model, adapter=writer_of(model.adapter)), _label_tokens(model)
    return _planned("samples", writer, "answerer", questions, len(questions), tokens_out=most)


def questions_work(
    model: Model, task: Task, questions: Sequence[Question], tokens_out: int
) -> Planned:
    """A model's answers to the questions of a task."""
    known = {
        (question.text, question.context, question.options): question for question in questions
    }
    distinct = list(known.values())
    return _planned(task.name, model, task.role, distinct, len(distinct), tokens_out=tokens_out)


def vectors_work(name: str, purpose: str, read: Callable[[Any], object], texts: Any) -> Planned:
    """The vectors that an encoder or a reader of layers makes of texts."""

    def measured() -> Work:
        distinct = list(dict.fromkeys(texts))
        seconds = seconds_to_answer(distinct, read)
        return Work(model=name, purpose=purpose, queries=len(distinct), seconds=seconds)

    return Planned(at_endpoint=False, measured=measured)


def search_work(
    capability: Capability, reference: Model, examples: Sequence[Example], options: SearchOptions
) -> Planned:
    """The search of a capability on a reference.

    The search itself runs for a few seconds, and its answers are not kept; a capability that asks
    an endpoint is not searched. If all tried examples finish, their true number of queries
    corrects the estimate.
    """
    texts = [example.text for example in examples]
    purpose = f"search: {capability.name}"

    def measured() -> Work:
        began = time.monotonic()
        queries = expected_queries(capability, examples, options)
        # The first estimate imports TextAttack, which a run does, too.
        estimating = time.monotonic() - began
        if reference.served:
            return _endpoint_work(reference, purpose, texts, queries, _label_tokens(reference))
        work = partial(Work, model=reference.name)
        asked_models: Sequence[object] = getattr(capability, "asked_models", tuple)()
        if any(scheme_of(str(getattr(model, "spec", "-"))).served for model in asked_models):
            each = seconds_to_answer(texts, reference.adapter.classify) / max(len(texts), 1)
            seconds = queries * each
            return work(purpose=purpose, queries=queries * _reads(reference), seconds=seconds)
        sample = random.Random(0).sample(examples, min(len(examples), options.parallel_texts))  # noqa: S311 - no secret
        trial = _TimedClassifier(reference, with_part(texts[0], options.change, _FIRST_TEXT))
        pairs = attempt(lambda: list(capability.search(trial, sample, options)))
        fails = isinstance(pairs, Failed) and not isinstance(pairs.error, _TrialEndsError)
        if not isinstance(pairs, Failed) and trial.seen:
            expected = expected_queries(capability, sample, options) or len(trial.seen)
            queries = round(queries * len(trial.seen) / expected)
        return work(
            purpose=f"{purpose}, which fails" if fails else purpose,
            queries=queries * _reads(reference),
            seconds=estimating + queries * trial.seconds / max(len(trial.seen), 1),
        )

    return Planned(reference.served, measured)


def expected_queries(
    capability: Capability, examples: Sequence[Example], options: SearchOptions
) -> int:
    """The distinct texts that a search is expected to ask about; 0 where that is unknown."""
    if not isinstance(capability, EstimatesQueries):
        return 0
    # A sample: in the order of the data, the first examples may be shorter than the others.
    sample = random.Random(0).sample(examples, len(examples))  # noqa: S311 - no secret
    # An estimate may fail where the search still works.
    known = attempt(partial(_estimated_in_time, capability, sample, options))
    if isinstance(known, Failed):
        return 0
    letters = sum(len(example.text) for example in examples if example.id in known)
    each = sum(known.values()) / max(letters, 1)
    queries = math.fsum(known.get(example.id, each * len(example.text)) for example in examples)
    return max(round(queries), len(examples))


def _estimated_in_time(
    capability: EstimatesQueries, examples: Sequence[Example], options: SearchOptions
) -> dict[str, float]:
    """Estimates by example id, until the time is up."""
    known: dict[str, float] = {}
    end = math.inf
    for example in examples:
        part = replace(example, text=parts_of(example.text)[options.change])
        known[example.id] = capability.estimate_queries(part, options)
        # The first one may also load TextAttack, which the search needs in any case.
        end = min(end, time.monotonic() + SECONDS_TO_ESTIMATE)
        if time.monotonic() >= end:
            break
    return known


class Timed(NamedTuple):
    """Seconds that the first answer took, which prepares the model, and each of the others."""

    first: float
    each: float
    answered: int


def timed(items: Sequence[Input], answer: Callable[[Sequence[Input]], object]) -> Timed:
    """A model's answers to a random part of the items, for a few seconds."""
    sample = random.Random(0).sample(items, len(items))  # noqa: S311 - no secret
    began = time.monotonic()
    answer(sample[:1])
    first = time.monotonic() - began
    done, size, began = 1, 4, time.monotonic()
    while done < len(sample) and time.monotonic() - began < SECONDS_A_TRIAL:
        portion = sample[done : done + size]
        answer(portion)
        done, size = done + len(portion), 2 * size
    each = (time.monotonic() - began) / (done - 1) if done > 1 else first
    return Timed(first, each, done)


def seconds_to_answer(items: Sequence[Input], answer: Callable[[Sequence[Input]], object]) -> float:
    """Seconds that a model takes to answer all items, by a random part of them."""
    if not items:
        return 0.0
    times = timed(items, answer)
    return times.first + times.each * (len(items) - 1)


class _TrialEndsError(Exception):
    """Ends a trial of a search when its time is over."""


_FIRST_TEXT = "a first text prepares the model"


class _TimedClassifier(CachedClassifier):
    """A reference that answers for some seconds and counts the distinct texts."""

    def __init__(self, reference: Model, first_text: str) -> None:
        super().__init__(reference.adapter, Memory())
        super().classify([first_text])
        self._began = time.monotonic()
        self.seen: set[str] = set()
        self.seconds = 0.0

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        answers = super().classify(texts)
        self.seen.update(texts)
        self.seconds = time.monotonic() - self._began
        if self.seconds > SECONDS_A_TRIAL:
            raise _TrialEndsError
        return answers


def _planned(
    purpose: str, model: Model, role: Role, items: Sequence[Any], queries: int, *, tokens_out: int
) -> Planned:
    def measured() -> Work:
        if model.served:
            # The first are asked alone and together.
            requests = queries + min(len(items), REPEATED)
            return _endpoint_work(model, purpose, items, requests, tokens_out)
        seconds = 0.0
        if not model.saved:
            seconds = seconds_to_answer(items, lambda some: list(ask(model.adapter, role, some)))
            seconds *= queries / max(len(items), 1)
        asked = queries * _reads(model)
        return Work(model=model.name, purpose=purpose, queries=asked, seconds=seconds)

    return Planned(model.served, measured)


def _endpoint_work(
    model: Model, purpose: str, items: Sequence[Any], queries: int, tokens_out: int
) -> Work:
    """Requests with items of this mean length, and the tokens that they take at most."""
    texts = [
        item if isinstance(item, str) else " ".join((item.text, item.context or "", *item.options))
        for item in items
    ]
    length = sum(map(len, texts)) / max(len(texts), 1) + _prompt_length(model)
    # A next token comes without a thought.
    thought = getattr(model.adapter, "thought_tokens", 0) if tokens_out > 1 else 0
    # With each score an answer is sent, and each answer once more, to count its tokens.
    scored = (queries + len(items)) * (_reads(model) - 1)
    return Work(
        model=model.name,
        purpose=purpose,
        queries=queries + scored,
        seconds=None,
        tokens_in=round((queries + scored) * length / CHARACTERS_A_TOKEN) + scored * tokens_out,
        tokens_out=queries * (tokens_out + thought) + scored,
    )


def _reads(named: Model) -> int:
    """How often a text is asked about at most: a model that writes scores a given answer, too.

    Whether an endpoint can is not known before it is asked.
    """
    adapter = named.adapter
    return 1 + (getattr(adapter, "writes", False) and (named.served or adapter.scores))


def _prompt_length(named: Model) -> int:
    prompts = getattr(named.adapter, "prompts", {})
    return max(map(len, prompts.values()), default=0)


def _label_tokens(named: Model) -> int:
    """The most tokens of a reply to a text; without a prompt, one: the next token."""
    most: int = getattr(named.adapter, "most_tokens", LETTER_TOKENS if _prompt_length(named) else 1)
    return most


_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")


def priced(work: Sequence[Work], prices: Mapping[str, str]) -> dict[str, float]:
    """The most that the work at each endpoint with a price costs, in the currency of the price.

    Parameters
    ----------
    work
        The work of endpoints has no ``seconds``; other work costs nothing.
    prices
        By model name: the prices of a million tokens sent and of a million in replies, such as
        ``{"vendor": "0.15/0.60"}``.

    Raises
    ------
    SpecError
        When a price cannot be read or is that of no endpoint.
    """
    rates: dict[str, tuple[float, float]] = {}
    for name, price in prices.items():
        if not (match := _PRICE.fullmatch(price)):
            raise SpecError(
                f"the price `{price}` of `{name}`",
                expected="IN/OUT: the prices of a million tokens sent and of a million in replies",
                fix=f"write for example --price {name}=0.15/0.60",
            )
        rates[name] = float(match[1]), float(match[2])
    endpoints = [part for part in work if part.seconds is None]
    known = sorted({endpoint.model for endpoint in endpoints})
    if unknown := next((name for name in prices if name not in known), None):
        raise SpecError(
            f"a price for `{unknown}`",
            expected=f"one of the endpoints: {', '.join(known) or 'there are none'}",
            fix=did_you_mean(unknown, known, "leave out --price"),
        )
    costs = dict.fromkeys(rates, 0.0)
    for part in endpoints:
        if part.model in rates:
            sent, replied = rates[part.model]
            costs[part.model] += part.tokens_in * sent + part.tokens_out * replied
    return {name: cost / 1e6 for name, cost in costs.items()}


def in_cents(price: float) -> str:
    """The price rounded up to a cent, so that a small price is not shown as 0.

    Examples
    --------
    >>> in_cents(0.0018), in_cents(0.25), in_cents(0.0), in_cents(1234.5601)
    ('0.01', '0.25', '0.00', '1,234.57')
    """
    return f"{math.ceil(round(price * 100, 6)) / 100:,.2f}"


def announcements(planned: Iterable[Planned], prices: Mapping[str, str]) -> Iterator[str]:
    """A line for each endpoint: how many requests it will get, and the most that they cost.

    Raises
    ------
    SpecError
        When a price cannot be read or is that of no endpoint.
    """
    work = [part.measured() for part in planned if part.at_endpoint]
    costs = priced(work, prices)
    for name in dict.fromkeys(part.model for part in work):
        queries = sum(part.queries for part in work if part.model == name)
        cost = f", at most {in_cents(costs[name])}" if name in costs else ""
        yield f"{name}: about {queries:,} requests in all{cost}"


def facts_of(
    card: ModelCard, model: Any, role: Role, asked: Sequence[Any], options: ModelOptions
) -> ModelFacts:
    """The size of a model by its files, and the mean time of some of its answers.

    Parameters
    ----------
    model
        The model that answers; None where none is loaded. Endpoints and saved answers are not
        timed.
    """
    scheme = scheme_of(card.spec)
    size = scheme.weights(split_spec(card.spec)[1], options)
    if model is None or not asked or scheme.served or scheme.saved:
        return ModelFacts(model=card.name, **size._asdict())
    times = timed(asked, lambda some: list(ask(model, role, some)))
    return ModelFacts(model=card.name, seconds=times.each, timed=times.answered, **size._asdict())
