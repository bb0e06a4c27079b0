"""Fills up the rows of batches and of matrix products, while a model computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from scope.models.row_rules import RowRule
from scope.models.torch_setup import load_torch

_SPLIT_FROM, _A_SHARE = 16_384, 32_768
"""From so many numbers on torch may split what it computes number by number, and from so many for
each of its threads it always does."""

_AT_ONCE = 64
"""A multiple of how many numbers any processor computes by one instruction."""

_ATTENTION = ("MultiheadAttention",)
_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")


def of_filled_batch(rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
    """What is computed for the rows of a batch that is filled up by a rule.

    Parameters
    ----------
    compute
        Gets the rows, filled up, by name; returns a tensor, an array or a tuple of which tensors
        and arrays have one entry a row.
    rows
        Tensors or lists with one entry a row.
    """
    first = next(iter(rows.values()))
    given = len(first)
    wanted = rule.rows(given, *getattr(first, "shape", ())[1:2])
    answer = compute(**{name: _filled(values, wanted) for name, values in rows.items()})
    if isinstance(answer, tuple):
        return tuple(_first(part, given) for part in answer)
    return _first(answer, given)


class Modules:
    """The modules of a model that compute otherwise under a rule.

    Their own ``forward`` is exchanged while the model computes, since hooks cost more than a small
    product: by the first of several threads, and back by the last.
    """

    def __init__(self, model: Any) -> None:
        linear = load_torch().nn.Linear
        # A Conv1D of transformers is a Linear that is stored the other way round.
        self.products = [
            module
            for module in model.modules()
            if isinstance(module, linear) or type(module).__name__ == "Conv1D"
        ]
        self._activations = [
            module
            for module in model.modules()
            if type(module).__module__ in _ACTIVATIONS and type(module).__name__ not in _ATTENTION
        ]
        self._lock = Lock()
        self._inside = 0
        self._exchanged: list[_Exchanged] = []
        self._last: tuple[RowRule, bool] | None = None

    @contextmanager
    def under(self, rule: RowRule) -> Iterator[None]:
        """Let products fill up their rows inside, and activations be computed without seams."""
        with self._lock:
            if not self._inside:
                self._exchange(rule, load_torch().get_num_threads() > 1)
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._restore()

    def _exchange(self, rule: RowRule, several_threads: bool) -> None:
        """Put what computes under the rule in the place of each ``forward``.

        It is made once: to make it anew for each batch would cost more than a small product.
        """
        changed = any(one.attributes.get("forward") is not one.own for one in self._exchanged)
        if changed or self._last != (rule, several_threads):
            self._last = rule, several_threads
            fills = rule.least > 1 and not rule.batches
            self._exchanged = [
                *(
                    _exchanged(one, partial(_of_filled_product, rule))
                    for one in self.products
                    if fills
                ),
                *(
                    _exchanged(one, _of_seamless_activation)
                    for one in self._activations
                    if several_threads
                ),
            ]
        for one in self._exchanged:
            one.attributes["forward"] = one.other

    def _restore(self) -> None:
        for one in self._exchanged:
            if one.own is None:
                one.attributes.pop("forward", None)
            else:
                one.attributes["forward"] = one.own


class _Exchanged(NamedTuple):
    """A module's attributes, its own ``forward`` among them if it has one, and the other one."""

    attributes: dict[str, Any]
    own: Any
    other: Callable[[Any], Any]


def _exchanged(module: Any, other: Callable[..., Any]) -> _Exchanged:
    return _Exchanged(vars(module), vars(module).get("forward"), partial(other, module.forward))


def _of_seamless_activation(forward: Callable[[Any], Any], given: Any) -> Any:
    """What an activation computes, on one thread unless the shares of all threads are even.

    Where torch splits numbers between threads, the last ones of a share may be computed by other
    instructions than those in the middle: those that do not fill up an instruction.
    """
    numbers, threads = given.numel(), load_torch().get_num_threads()
    even = numbers > _A_SHARE * (threads - 1) and not numbers % (_AT_ONCE * threads)
    if numbers < _SPLIT_FROM or even or given.device.type != "cpu":
        return forward(given)
    with one_thread():
        return forward(given)


def _of_filled_product(rule: RowRule, forward: Callable[[Any], Any], given: Any) -> Any:
    """What a product computes for rows of shape (..., inputs)."""
    rows = math.prod(given.shape[:-1])
    if not rows or (rows >= rule.least and not rows % rule.multiple):
        return forward(given)
    found = forward(_filled(given.reshape(rows, -1), rule.rows(rows)))[:rows]
    return found.reshape(*given.shape[:-1], -1)


def _filled(values: Any, wanted: int) -> Any:
    """Values with copies of the last behind them, up to as many as are wanted."""
    missing = wanted - len(values)
    if not missing:
        return values
    if isinstance(values, list):
        return [*values, *values[-1:] * missing]
    return load_torch().cat([values, values[-1:].expand(missing, *values.shape[1:])])


def _first(answer: Any, given: int) -> Any:
    return answer[:given] if hasattr(answer, "shape") else answer


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread inside, and as before afterwards."""
    torch = load_torch()
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
