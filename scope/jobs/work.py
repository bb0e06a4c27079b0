"""The work that a run gives to a model: how much it is, and how long it takes on this machine.

A dry run makes these; see `scope.jobs.cost`. A model is timed on a random part of its real texts,
for a few seconds.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from scope.answers import CachedClassifier, Memory
from scope.answers.answers import checked
from scope.foreign import Failed, attempt
from scope.jobs.identity import NamedModel
from scope.models.loading import split_spec
from scope.models.options import LETTER_TOKENS
from scope.protocols import Capability, EstimatesQueries, SearchOptions, Task
from scope.records import Example, Prediction, Question

SECONDS_A_TRIAL = 3.0
"""Time for which a model answers, or a search runs."""

SECONDS_TO_ESTIMATE = 1.0
"""Time for estimates of a search, after the first of them; the others follow from length."""

CHARACTERS_A_TOKEN = 4
"""English text has about so many; the tokenizer of a server is unknown."""

Asked = TypeVar("Asked")


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a run asks of one model for one purpose.

    Parameters
    ----------
    model, purpose
        Who is asked, and for what: "texts", "search: typo", the name of a task.
    queries
        Texts or questions, each counted once; of a search the expected number.
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


def texts_work(model: NamedModel, examples: Sequence[Example], perturbations: int) -> Planned:
    """A model's answers to the texts and to at most so many perturbations of about their length."""
    texts = list(dict.fromkeys(one.text for one in examples))
    queries = len(texts) + perturbations

    def ask(some: Sequence[str]) -> object:
        return model.model.classify(some)

    return _planned(
        model.name, "texts", model, ask, texts, queries, tokens_out=_label_tokens(model)
    )


def questions_work(
    model: NamedModel, task: Task, questions: Sequence[Question], tokens_out: int
) -> Planned:
    """A model's answers to the questions of a task."""
    distinct = list({(one.text, one.context, one.options): one for one in questions}.values())

    def ask(some: Sequence[Question]) -> object:
        return list(checked(model.model, task.role, some, own=model.own))

    queries = len(distinct)
    return _planned(model.name, task.name, model, ask, distinct, queries, tokens_out=tokens_out)


def vectors_work(name: str, purpose: str, read: Callable[[Any], object], texts: Any) -> Planned:
    """The vectors that an encoder or a reader of layers makes of texts."""

    def measured() -> Work:
        distinct = list(dict.fromkeys(texts))
        seconds = seconds_to_answer(distinct, read)
        return Work(model=name, purpose=purpose, queries=len(distinct), seconds=seconds)

    return Planned(at_endpoint=False, measured=measured)


def search_work(
    capability: Capability,
    reference: NamedModel,
    examples: Sequence[Example],
    options: SearchOptions,
) -> Planned:
    """The search of a capability on a reference.

    A few seconds of the search itself are run, whose answers are not kept; not where the
    capability asks an endpoint. Where all of the tried
    examples are finished, their true number of queries corrects the estimate.
    """
    measured = partial(_search_work, capability, reference, examples, options)
    return Planned(_is_endpoint(reference), measured)


def _search_work(
    capability: Capability,
    reference: NamedModel,
    examples: Sequence[Example],
    options: SearchOptions,
) -> Work:
    began = time.monotonic()
    sample = random.Random(0).sample(examples, min(len(examples), options.slots))  # noqa: S311 - no secret
    asks_endpoint = any(
        str(getattr(one, "spec", "")).startswith("openai:")
        for one in getattr(capability, "asked_models", tuple)()
    )
    queries = expected_queries(capability, examples, options)
    # The first estimate imports TextAttack, which a run does, too.
    estimating = time.monotonic() - began
    if _is_endpoint(reference):
        length = _mean_length([one.text for one in examples]) + _prompt_length(reference)
        characters = queries * length
        return Work(
            model=reference.name,
            purpose=f"search: {capability.name}",
            queries=queries,
            seconds=None,
            tokens_in=_tokens(characters),
            tokens_out=queries * _label_tokens(reference),
        )
    if asks_endpoint:
        texts, ask = [one.text for one in examples], reference.model.classify
        each = seconds_to_answer(texts, ask) / max(len(texts), 1)
        purpose = f"search: {capability.name}"
        return Work(model=reference.name, purpose=purpose, queries=queries, seconds=queries * each)
    trial = _TimedClassifier(reference)
    whole = attempt(lambda: list(capability.search(trial, sample, options)))
    fails = isinstance(whole, Failed) and not isinstance(whole.error, _TrialEndsError)
    if not isinstance(whole, Failed) and trial.queries:
        expected = expected_queries(capability, sample, options) or trial.queries
        queries = round(queries * trial.queries / expected)
    each = trial.seconds / max(trial.queries, 1)
    return Work(
        model=reference.name,
        purpose=f"search: {capability.name}{', which fails' if fails else ''}",
        queries=queries,
        seconds=estimating + queries * each,
    )


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
    letters = sum(len(one.text) for one in examples if one.id in known)
    each = sum(known.values()) / max(letters, 1)
    queries = math.fsum(known.get(one.id, each * len(one.text)) for one in examples)
    return max(round(queries), len(examples))


def _estimated_in_time(
    capability: EstimatesQueries, examples: Sequence[Example], options: SearchOptions
) -> dict[str, float]:
    """Estimates by example id, as many as there is time for."""
    known: dict[str, float] = {}
    end = math.inf
    for example in examples:
        known[example.id] = capability.estimate_queries(example, options)
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


def timed(items: Sequence[Asked], ask: Callable[[Sequence[Asked]], object]) -> Timed:
    """A model's answers to a random part of the items, for a few seconds."""
    sample = random.Random(0).sample(items, len(items))  # noqa: S311 - no secret
    began = time.monotonic()
    ask(sample[:1])
    first = time.monotonic() - began
    done, size, began = 1, 4, time.monotonic()
    while done < len(sample) and time.monotonic() - began < SECONDS_A_TRIAL:
        portion = sample[done : done + size]
        ask(portion)
        done, size = done + len(portion), 2 * size
    each = (time.monotonic() - began) / (done - 1) if done > 1 else first
    return Timed(first, each, done)


def seconds_to_answer(items: Sequence[Asked], ask: Callable[[Sequence[Asked]], object]) -> float:
    """Seconds that a model takes to answer all items, by a random part of them."""
    if not items:
        return 0.0
    found = timed(items, ask)
    return found.first + found.each * (len(items) - 1)


class _TrialEndsError(Exception):
    """Ends a trial of a search when its time is over."""


class _TimedClassifier:
    """A reference that answers for some seconds and counts the distinct texts."""

    def __init__(self, reference: NamedModel) -> None:
        self._classifier = CachedClassifier(reference.model, Memory())
        self._classifier.classify(["a first text prepares the model"])
        self._began = time.monotonic()
        self._seen: set[str] = set()
        self.seconds = 0.0
        self.spec = self._classifier.spec
        self.fingerprint = self._classifier.fingerprint
        self.labels = self._classifier.labels

    @property
    def queries(self) -> int:
        return len(self._seen)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        answers = self._classifier.classify(texts)
        self._seen.update(texts)
        self.seconds = time.monotonic() - self._began
        if self.seconds > SECONDS_A_TRIAL:
            raise _TrialEndsError
        return answers


def _planned(
    name: str,
    purpose: str,
    model: NamedModel,
    ask: Callable[[Sequence[Any]], object],
    items: Sequence[Any],
    queries: int,
    *,
    tokens_out: int,
) -> Planned:
    work = partial(Work, model=name, purpose=purpose, queries=queries)

    def measured() -> Work:
        if model.saved:
            return work(seconds=0.0)
        if _is_endpoint(model):
            characters = queries * _mean_length([_words(one) for one in items])
            sent = _tokens(characters + queries * _prompt_length(model))
            return work(seconds=None, tokens_in=sent, tokens_out=queries * tokens_out)
        return work(seconds=seconds_to_answer(items, ask) * queries / max(len(items), 1))

    return Planned(_is_endpoint(model), measured)


def _words(item: str | Question) -> str:
    if isinstance(item, str):
        return item
    return " ".join((item.text, item.context or "", *item.options))


def _is_endpoint(named: NamedModel) -> bool:
    return split_spec(named.model.spec)[0] == "openai"


def _prompt_length(named: NamedModel) -> int:
    prompts = getattr(named.model, "prompts", {})
    return max(map(len, prompts.values()), default=0)


def _label_tokens(named: NamedModel) -> int:
    """The longest reply to a text: of what is asked without a prompt, the next token."""
    return LETTER_TOKENS if _prompt_length(named) else 1


def _mean_length(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / max(len(texts), 1)


def _tokens(characters: float) -> int:
    return round(characters / CHARACTERS_A_TOKEN)
