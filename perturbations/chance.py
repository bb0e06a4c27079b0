"""Gives every search the process's global sources of chance as if it ran alone.

TextAttack's population searches (genetic, particle swarm) and many of its transformations draw
from ``random`` and ``numpy.random``, which all searches of a process share. In lockstep each draw
of one would move the others, and a result would depend on its company.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from numpy.random import MT19937
from numpy.random.mtrand import get_bit_generator, set_bit_generator


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

    def __init__(self, ask: Callable[[str, Sequence[str]], list[Any]], seed: int) -> None:
        self._ask = ask
        self._seed = seed
        self._outside: _State | None = None

    def __enter__(self) -> OwnChance:
        self._outside = _state()
        random.seed(self._seed)
        set_bit_generator(MT19937(self._seed))
        return self

    def __call__(self, service: str, texts: Sequence[str]) -> list[Any]:
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
