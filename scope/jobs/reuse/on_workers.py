"""The searches and answers of a test of reuse on workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from scope.jobs.identity import NamedModel
from scope.jobs.on_workers import (
    Identities,
    as_sent,
    database,
    helpers,
    identities_of,
    require_same,
)
from scope.jobs.ray_connection import Engine
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import AskBefore, ask_nobody
from scope.jobs.reuse.tasks import PreparedTest
from scope.jobs.reuse.texts import prepare_test
from scope.store import Run


@contextmanager
def asking(
    request: ReuseRequest, prepared: PreparedTest, engine: Engine | None, run: Run
) -> Iterator[AskBefore]:
    """Have workers search the references; then give what has them answer before this process asks.

    Without an engine nothing is done before.
    """
    if engine is None:
        yield ask_nobody
        return
    models = prepared.plan.models
    known = identities_of(one.model for one in models.all)
    with helpers(partial(_load, as_sent(request), known), engine) as there:

        def fill(title: str, step: Callable[..., bytes], every: int, left: Sequence[Any]) -> None:
            if left:
                shown = request.progress.task(title, every, every - len(left))
                there.fill(run, step, left, shown, _words)

        for one in models.references:
            left = prepared.unsearched(one, run)
            fill(f"searching {one.name}", partial(search, one.name), len(left), left)

        def ask(model: NamedModel, asked: Sequence[Any]) -> None:
            left = [] if model.saved else prepared.unanswered(model, asked, run)
            fill(f"{model.name}: answering", partial(answer, model.name), len(asked), left)

        yield ask


def _words(asked: Any) -> str:
    """The text of an example or a question, or a text itself."""
    return str(getattr(asked, "text", asked))


def _load(request: ReuseRequest, known: Identities) -> PreparedTest:
    prepared = prepare_test(request)
    require_same((one.model for one in prepared.plan.models.all), known)
    return prepared


def _named(prepared: PreparedTest, name: str) -> NamedModel:
    return next(one for one in prepared.plan.models.all if one.name == name)


def search(name: str, prepared: PreparedTest, examples: Sequence[Any]) -> bytes:
    """A database of the searches of one reference on examples."""
    return database(partial(prepared.search, _named(prepared, name), examples))


def answer(name: str, prepared: PreparedTest, asked: Sequence[Any]) -> bytes:
    """A database of the answers of one model to texts or questions."""
    return database(partial(prepared.answer, _named(prepared, name), asked))
