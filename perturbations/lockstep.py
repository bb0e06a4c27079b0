"""Runs many searches at once, and answers what they all ask in shared batches.

A search is ordinary sequential code that asks for the answers it needs and waits. Here each runs
in a greenlet of its own; asking switches to the scheduler, which gathers the questions of every
live search, drops duplicates, has each service answer them in one go, and resumes the searches
with their answers. No search has to know that there are others.

`Remembering` keeps a service's latest answers, so that what trials have in common is asked once.

`OwnChance` gives every search the process's global sources of chance as if it ran alone.
TextAttack's population searches (genetic, particle swarm) and many of its transformations draw from
``random`` and ``numpy.random``, which all searches of a process share. In lockstep each draw of one
would move the others, and a result would depend on its company.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from greenlet import getcurrent, greenlet
from numpy.random import MT19937
from numpy.random.mtrand import get_bit_generator, set_bit_generator

Result = TypeVar("Result")

Service = Callable[[list[Any]], Iterable[Any]]
"""Answers texts, or other things with a hash, each on its own: one answer per text, in order."""


class SearchQuestion(NamedTuple):
    """Texts that one search wants one service to answer."""

    service: str
    texts: tuple[Any, ...]


class Ask:
    """What a search calls to have texts answered; it waits until they are."""

    def __init__(self, scheduler: greenlet) -> None:
        self._scheduler = scheduler

    def __call__(self, service: str, texts: Sequence[Any]) -> list[Any]:
        """The service's answers, in the order of the texts."""
        answers: list[Any] = self._scheduler.switch(SearchQuestion(service, tuple(texts)))
        return answers


Asks = Callable[[str, Sequence[Any]], list[Any]]
"""Takes a service and texts, and may let other searches run before it answers."""

Search = Callable[[Asks], Result]
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
    parallel_texts
        Most searches that are live at once, at least 1; a finished one makes room for the next.

    Examples
    --------
    >>> def shout(text):
    ...     return lambda ask: ask("upper", [text])[0]
    >>> rounds = []
    >>> def upper(texts):
    ...     rounds.append(len(texts))
    ...     return [text.upper() for text in texts]
    >>> list(Lockstep({"upper": upper}, parallel_texts=2).run(map(shout, ["a", "b", "c"])))
    ['A', 'B', 'C']
    >>> rounds
    [2, 1]
    """

    def __init__(self, services: Mapping[str, Service], parallel_texts: int) -> None:
        self._services = services
        self._parallel_texts = parallel_texts

    def run(self, searches: Iterable[Search[Result]]) -> Iterator[Result]:
        """The searches' results as they come; their order depends on the number of slots."""
        waiting = iter(searches)
        steps: list[tuple[greenlet, tuple[Any]]] = [
            (greenlet(search), (Ask(getcurrent()),))
            for search in islice(waiting, self._parallel_texts)
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
            steps = [(asking.thread, (answers,)) for asking, answers in answered]

    def _answer(self, live: Sequence[_Live]) -> list[list[Any]]:
        answers: dict[str, dict[Any, Any]] = {}
        for service in dict.fromkeys(asking.question.service for asking in live):
            texts = list(
                dict.fromkeys(
                    text
                    for asking in live
                    if asking.question.service == service
                    for text in asking.question.texts
                )
            )
            answers[service] = dict(zip(texts, self._services[service](texts), strict=True))
        return [
            [answers[asking.question.service][text] for text in asking.question.texts]
            for asking in live
        ]


ANSWERS_REMEMBERED = 16_384
"""At 768 numbers an answer, about 100 MB."""


class Remembering:
    """A service that forgets the answer that was used least recently.

    Examples
    --------
    >>> asked = []
    >>> def length(texts):
    ...     asked.extend(texts)
    ...     return [len(text) for text in texts]
    >>> service = Remembering(length)
    >>> service(["a", "bb"]), service(["bb", "ccc"])
    ([1, 2], [2, 3])
    >>> asked
    ['a', 'bb', 'ccc']
    """

    def __init__(self, service: Service, capacity: int = ANSWERS_REMEMBERED) -> None:
        self._service = service
        self._capacity = capacity
        self._known: OrderedDict[Any, Any] = OrderedDict()

    def __call__(self, texts: list[Any]) -> list[Any]:
        """The answers, in the order of the texts."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(missing, self._service(missing), strict=True) if missing else ())
        answers = [self._known[text] for text in texts]
        for text in texts:
            self._known.move_to_end(text)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return answers


class OwnChance:
    """Stands in for a search's ``ask``; inside the context, global chance is the search's own.

    It starts from the seed, stays as it is while the search waits for answers, and afterwards
    the process goes on with its own. Seeding NumPy's legacy generator anew inside is allowed.

    Parameters
    ----------
    ask
        Takes a service and texts, and may let other searches run before it answers.
    seed
        From 0 to 2**32 - 1.

    Examples
    --------
    >>> def others_draw(service, texts):
    ...     return [random.random() for text in texts]
    >>> with OwnChance(others_draw, seed=1) as ask:
    ...     first = random.random()
    >>> with OwnChance(others_draw, seed=1) as ask:
    ...     answers = ask("classify", ["a", "b"])
    ...     random.random() == first
    True
    """

    def __init__(self, ask: Asks, seed: int) -> None:
        self._ask = ask
        self._seed = seed
        self._outside: _State | None = None

    def __enter__(self) -> OwnChance:
        self._outside = _state()
        random.seed(self._seed)
        set_bit_generator(MT19937(self._seed))
        return self

    def __call__(self, service: str, texts: Sequence[Any]) -> list[Any]:
        """The service's answers, in the order of the texts."""
        mine = _state()
        self._leave()
        answers = self._ask(service, texts)
        self._outside = _state()
        _set(mine)
        return answers

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        # A search that is given up while it waits has left already: there is nothing to put back.
        if self._outside is not None:
            _set(self._outside)
            self._outside = None


_State = tuple[tuple[Any, ...], Any]


def _state() -> _State:
    # Swapping NumPy's generator takes no time; copying its state back and forth would.
    return random.getstate(), get_bit_generator()


def _set(state: _State) -> None:
    random.setstate(state[0])
    set_bit_generator(state[1])
