"""Fills up the rows of batches and of matrix products, while a model computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from scope.models.row_rules import RowRule
from scope.models.torch_setup import load_torch, one_torch_thread

_GRAIN_SIZE = 32_768
"""So many numbers are what torch gives a thread at least, computing number by number; half as many
where one number takes long (GELU)."""

_VECTOR = 64
"""A multiple of how many numbers any processor computes by one instruction."""

_ATTENTION = ("MultiheadAttention",)
_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")


def of_filled_batch(rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
    """What is computed for the rows of a batch that is padded by a rule.

    Parameters
    ----------
    compute
        Gets the rows, padded, by name; returns a tensor, an array or a tuple of which tensors
        and arrays have one entry per row.
    rows
        Tensors or lists with one entry per row.
    """
    first = next(iter(rows.values()))
    given = len(first)
    wanted = rule.batch(given, *getattr(first, "shape", ())[1:2])
    if wanted == given:
        return compute(**rows)
    answer = compute(**{name: _filled(values, wanted) for name, values in rows.items()})
    if isinstance(answer, tuple):
        return tuple(_first(part, given) for part in answer)
    return _first(answer, given)


class Modules:
    """The modules of a model that compute otherwise under a rule.

    Their own ``forward`` is replaced while the model computes, since hooks cost more than a small
    product: by the first of several threads, and put back by the last.
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
        self._patches: list[_Patch] = []
        self._patched_for: tuple[RowRule, bool] | None = None

    @contextmanager
    def under(self, rule: RowRule) -> Iterator[None]:
        """Let products pad their rows inside, and activations be computed without seams."""
        entered = False
        try:
            with self._lock:
                self._inside += 1
                entered = True
                if self._inside == 1:
                    self._patch(rule, load_torch().get_num_threads() > 1)
            yield
        finally:
            if entered:
                with self._lock:
                    self._inside -= 1
                    if not self._inside:
                        self._restore()

    def _patch(self, rule: RowRule, several_threads: bool) -> None:
        """Put what computes under the rule in the place of each ``forward``.

        It is made once: to make it anew for each batch would cost more than a small product.
        """
        changed = any(one.attributes.get("forward") is not one.original for one in self._patches)
        if changed or self._patched_for != (rule, several_threads):
            self._patched_for = rule, several_threads
            fills = rule.least > 1 and not rule.batches
            self._patches = [
                *(_patch(one, partial(_of_filled_product, rule)) for one in self.products if fills),
                *(
                    _patch(one, _of_seamless_activation)
                    for one in self._activations
                    if several_threads
                ),
            ]
        for one in self._patches:
            one.attributes["forward"] = one.replacement

    def _restore(self) -> None:
        for one in self._patches:
            if one.original is None:
                one.attributes.pop("forward", None)
            else:
                one.attributes["forward"] = one.original


_OF_MODELS: WeakKeyDictionary[Any, Modules] = WeakKeyDictionary()
_OF_MODELS_LOCK = Lock()


def modules_of(model: Any) -> Modules:
    """Those of a model, the same however many run it: two would put back each other's patches."""
    with _OF_MODELS_LOCK:
        if model not in _OF_MODELS:
            _OF_MODELS[model] = Modules(model)
        return _OF_MODELS[model]


class _Patch(NamedTuple):
    """A module's attributes, its original ``forward`` among them if it has one, and the other."""

    attributes: dict[str, Any]
    original: Any
    replacement: Callable[[Any], Any]


def _patch(module: Any, replacement: Callable[..., Any]) -> _Patch:
    whole = partial(replacement, module.forward)
    return _Patch(vars(module), vars(module).get("forward"), whole)


def _of_seamless_activation(forward: Callable[[Any], Any], input: Any) -> Any:
    """What an activation computes, on one thread unless the shares of all threads are even.

    Where torch splits numbers between threads, the last ones of a share may be computed by other
    instructions than those in the middle: those that do not pad an instruction.
    """
    numbers, threads = input.numel(), load_torch().get_num_threads()
    even = numbers > _GRAIN_SIZE * (threads - 1) and not numbers % (_VECTOR * threads)
    if numbers < _GRAIN_SIZE // 2 or even or input.device.type != "cpu":
        return forward(input)
    with one_torch_thread():
        return forward(input)


def _of_filled_product(rule: RowRule, forward: Callable[[Any], Any], input: Any) -> Any:
    """What a product computes for rows of shape (..., inputs)."""
    rows = math.prod(input.shape[:-1])
    if not rows or (rows >= rule.least and not rows % rule.multiple):
        return forward(input)
    found = forward(_filled(input.reshape(rows, -1), rule.rows(rows)))[:rows]
    return found.reshape(*input.shape[:-1], -1)


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
