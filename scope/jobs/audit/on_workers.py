"""The searches and answers of an audit on workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import get_args

from scope.jobs.audit.plan import AuditPlan, models_of, plan_audits
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.searched import gather
from scope.jobs.on_workers import (
    Identities,
    as_sent,
    database,
    helpers,
    identities_of,
    require_same,
    require_same_data,
)
from scope.jobs.perturbing import Kind, stored_name
from scope.jobs.ray_connection import Engine
from scope.jobs.scoring import answer_texts
from scope.progress import Silent
from scope.protocols import DrawsRandom, Encoder
from scope.store import Run

Places = tuple[int, ...]


@contextmanager
def searching(
    plans: Sequence[AuditPlan], engine: Engine | None, run: Run
) -> Iterator[Callable[[], None]]:
    """What has workers search and answer all texts, and fills the run; without an engine nothing.

    The references have answered the unchanged texts before.
    """
    if engine is None:
        yield lambda: None
        return
    request, examples = plans[0].request, plans[0].data.examples
    load = partial(
        _load,
        as_sent(request),
        identities_of(one.model for one in models_of(plans)),
        identities_of(_encoders(plans)),
        plans[0].data.card.fingerprint,
    )
    places = range(len(examples))
    with helpers(load, engine) as there:

        def fill(step: Callable[..., bytes], known: set[int], title: str) -> None:
            left = [place for place in places if place not in known]
            shown = request.progress.task(title, len(places), len(known))
            there.fill(run, step, left, shown, lambda place: examples[place].text)

        fill(answer, _answered_in(plans, run), "references: answering")
        yield lambda: fill(search, _searched_in(plans, run), "searching and answering")


def _answered_in(plans: Sequence[AuditPlan], run: Run) -> set[int]:
    """The texts that all references have answered."""
    texts = [example.text for example in plans[0].data.examples]
    known = [run.get(plan.models.reference.model.fingerprint, texts) for plan in plans]
    return {place for place, text in enumerate(texts) if all(text in one for one in known)}


def _searched_in(plans: Sequence[AuditPlan], run: Run) -> set[int]:
    """The texts of which the run holds every search."""
    ids = {example.id for example in plans[0].data.examples}
    found = [
        {example for example, _ in run.perturbations(stored_name(plan.kept_as(chosen), kind))}
        | (ids - (plan.searched_ids if kind == "kept" else plan.changed_ids))
        for plan in plans
        for chosen in plan.capabilities
        for kind in get_args(Kind)
        if kind == "kept"
        or (plan.options.candidates and isinstance(chosen.capability, DrawsRandom))
    ]
    whole = set.intersection(*found) if found else set()
    texts = [example.text for example in plans[0].data.examples]
    models = [model.model for model in models_of(plans) if not model.saved]
    known = [run.get(model.fingerprint, texts) for model in models]
    return {
        place
        for place, one in enumerate(plans[0].data.examples)
        if one.id in whole and all(one.text in answers for answers in known)
    }


def _encoders(plans: Sequence[AuditPlan]) -> list[Encoder]:
    """The encoder of all plans, if there is one: a least similarity decides what is found."""
    return [] if plans[0].encoder is None else [plans[0].encoder]


def _load(
    request: AuditRequest, models: Identities, encoders: Identities, data: str
) -> tuple[AuditPlan, ...]:
    plans = plan_audits(request).plans
    require_same_data([plans[0].data.card], [data])
    require_same((one.model for one in models_of(plans)), models)
    require_same(_encoders(plans), encoders)
    return plans


def answer(plans: Sequence[AuditPlan], places: Places) -> bytes:
    """A database of the references' answers to the texts at some places."""
    texts = [plans[0].data.examples[place].text for place in places]

    def find(run: Run) -> None:
        for plan in plans:
            answer_texts(plan.models.reference, texts, run, Silent())

    return database(find)


def search(plans: Sequence[AuditPlan], places: Places) -> bytes:
    """A database of all searches and answers of the texts at some places, but for saved answers.

    Those are looked up where the run is: it names the texts that are missing, of all shards.
    """
    own = [
        replace(
            plan,
            data=replace(plan.data, examples=tuple(plan.data.examples[place] for place in places)),
        )
        for plan in plans
    ]
    return database(partial(gather, own, saved=False))
