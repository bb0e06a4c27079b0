"""Runs many searches at once, and answers what they all ask in shared batches.

A search is ordinary sequential code that asks for the answers it needs and waits. Here each runs
in a greenlet of its own; asking switches to the scheduler, which gathers the questions of every
live search, drops duplicates, has each service answer them in one go, and resumes the searches
with their answers. No search has to know that there are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")

Service = Callable[[list[str]], Iterable[Any]]
"""Answers texts, each on its own: one answer per text, in order."""


class SearchQuestion(NamedTuple):
    """Texts that one search wants one service to answer."""

    service: str
    texts: tuple[str, ...]


class Ask:
    """What a search calls to have texts answered; it waits until they are."""

    def __init__(self, scheduler: greenlet) -> None:
        self._scheduler = scheduler

    def __call__(self, service: str, texts: Sequence[str]) -> list[Any]:
        """The service's answers, in the order of the texts."""
        answers: list[Any] = self._scheduler.switch(SearchQuestion(service, tuple(texts)))
        return answers


Search = Callable[[Ask], Result]
"""One search, from its first question to its result."""


class _Live(NamedTuple):
    thread: greenlet
    question: SearchQuestion


class Lockstep(Generic[Result]):
    """Runs searches in lockstep.

    Parameters
    ----------
    services
        What the searches may ask, by name.
    slots
        Most searches that are live at once, at least 1; a finished one makes room for the next.

    Examples
    --------
    >>> def shout(text):
    ...     return lambda ask: ask("upper", [text])[0]
    >>> rounds = []
    >>> def upper(texts):
    ...     rounds.append(len(texts))
    ...     return [text.upper() for text in texts]
    >>> list(Lockstep({"upper": upper}, slots=2).run(map(shout, ["a", "b", "c"])))
    ['A', 'B', 'C']
    >>> rounds
    [2, 1]
    """

    def __init__(self, services: Mapping[str, Service], slots: int) -> None:
        if slots < 1:
            raise ValueError(f"{slots} slots hold no search")
        self._services = services
        self._slots = slots

    def run(self, searches: Iterable[Search[Result]]) -> Iterator[Result]:
        """The searches' results as they come; their order depends on the number of slots."""
        waiting = iter(searches)
        steps: list[tuple[greenlet, tuple[Any]]] = [
            (greenlet(search), (Ask(getcurrent()),)) for search in islice(waiting, self._slots)
        ]
        while steps:
            live: list[_Live] = []
            for thread, argument in steps:
                current, outcome = thread, thread.switch(*argument)
                while current.dead:
                    yield outcome
                    search = next(waiting, None)
                    if search is None:
                        break
                    current = greenlet(search)
                    outcome = current.switch(Ask(getcurrent()))
                else:
                    live.append(_Live(current, outcome))
            answered = zip(live, self._answer(live), strict=True)
            steps = [(one.thread, (answers,)) for one, answers in answered]

    def _answer(self, live: Sequence[_Live]) -> list[list[Any]]:
        answers: dict[str, dict[str, Any]] = {}
        for service in dict.fromkeys(one.question.service for one in live):
            texts = list(
                dict.fromkeys(
                    text
                    for one in live
                    if one.question.service == service
                    for text in one.question.texts
                )
            )
            answers[service] = dict(zip(texts, self._services[service](texts), strict=True))
        return [
            [answers[one.question.service][text] for text in one.question.texts] for one in live
        ]
