"""Keeps a service's latest answers, so that what trials have in common is asked once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from perturbations.lockstep import Service

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
        self._known: OrderedDict[str, Any] = OrderedDict()

    def __call__(self, texts: list[str]) -> list[Any]:
        """The answers, in the order of the texts."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(missing, self._service(missing), strict=True) if missing else ())
        answers = [self._known[text] for text in texts]
        for text in texts:
            self._known.move_to_end(text)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return answers
