"""Forms batches of texts of equal length, and pads their rows while a model computes.

Texts are not padded: nothing is masked or wasted, and an answer cannot depend on other texts. Rows
are padded by rules, so that none depends on the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from scope.models.torch_setup import load_torch, torch_threads


class RowRule(NamedTuple):
    """How many rows a matrix product must have so that none depends on the others.

    Parameters
    ----------
    least, multiple
        Rows are padded to at least ``least``, and to a multiple of ``multiple``.
    one_thread
        Whether this holds only where one thread computes.
    texts
        Least texts in a batch: some models use another memory layout for a single text.
    batches
        Whether whole batches are padded, because not only products depend on the number of rows.
    tokens
        Approximate tokens of every batch, where only the shape of a batch matters.
    """

    least: int = 1
    multiple: int = 1
    one_thread: bool = False
    texts: int = 1
    batches: bool = False
    tokens: int | None = None

    def rows(self, rows: int) -> int:
        """Number of rows to which a product is padded.

        Examples
        --------
        >>> [RowRule(least=4).rows(rows) for rows in (1, 4, 5)]
        [4, 4, 5]
        >>> [RowRule(least=4, multiple=4).rows(rows) for rows in (1, 4, 5)]
        [4, 4, 8]
        """
        return -(-max(rows, self.least) // self.multiple) * self.multiple

    def batch(self, rows: int, length: int = 1) -> int:
        """Number of rows, of ``length`` tokens each, to which a batch is padded.

        Examples
        --------
        >>> [RowRule(least=4, batches=True).batch(rows) for rows in (1, 4, 5)]
        [4, 4, 5]
        >>> [RowRule(least=4, texts=2).batch(rows) for rows in (1, 4, 5)]
        [2, 4, 5]
        >>> [RowRule(tokens=256).batch(1, length) for length in (8, 300)]
        [32, 1]
        """
        if self.tokens is not None:
            return max(rows, self.tokens // length)
        return self.rows(rows) if self.batches else max(rows, self.texts)

    def __str__(self) -> str:
        """The promise in words.

        Examples
        --------
        >>> str(RowRule()), str(RowRule(least=4))
        ('to the byte', 'to the byte, at least 4 rows a product')
        >>> str(RowRule(least=4, texts=2))
        'to the byte, at least 4 rows a product, at least 2 texts a batch'
        >>> str(RowRule(least=8, multiple=8, one_thread=True))
        'to the byte, rows a product in multiples of 8, one thread'
        >>> str(RowRule(least=4, batches=True))
        'to the byte, at least 4 rows a batch'
        """
        parts, whole = ["to the byte"], "batch" if self.batches else "product"
        if self.tokens is not None:
            parts.append(f"always {self.tokens} tokens a batch")
        elif self.multiple > 1:
            parts.append(f"rows a {whole} in multiples of {self.multiple}")
        elif self.least > 1:
            parts.append(f"at least {self.least} rows a {whole}")
        if self.texts > 1:
            parts.append(f"at least {self.texts} texts a batch")
        if self.one_thread:
            parts.append("one thread")
        return ", ".join(parts)


AS_GIVEN = RowRule()
_SIZES = ((2, 1), (4, 1), (8, 1), (4, 4), (8, 8), (16, 16))
_FILLED = tuple(
    rule
    for size in _SIZES
    for rule in (RowRule(*size), RowRule(*size, texts=2), RowRule(*size, batches=True))
)
ONE_THREAD_RULES = tuple(rule._replace(one_thread=True) for rule in (AS_GIVEN, *_FILLED))
ANY_RULES = (AS_GIVEN, *_FILLED, *ONE_THREAD_RULES)
"""Tried in this order: all threads before one, few rows before many, products before batches."""


_GRAIN_SIZE = 32_768
"""Least numbers that torch gives a thread of an elementwise operation; half of it for slow
operations (GELU)."""

_VECTOR = 64
"""A multiple of the number of values that any processor computes by one instruction."""

_ATTENTION = ("MultiheadAttention",)
_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")


def of_filled_batch(rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
    """The result for the rows of a batch, computed on the batch padded by a rule.

    Parameters
    ----------
    compute
        Gets the padded rows by name; returns a tensor, an array or a tuple whose tensors and arrays
        have one entry per row.
    rows
        Tensors or lists with one entry per row.
    """
    first = next(iter(rows.values()))
    count = len(first)
    wanted = rule.batch(count, *getattr(first, "shape", ())[1:2])
    if wanted == count:
        return compute(**rows)
    answer = compute(**{name: _filled(values, wanted) for name, values in rows.items()})
    if isinstance(answer, tuple):
        return tuple(_first(part, count) for part in answer)
    return _first(answer, count)


class Modules:
    """The modules of a model that a rule changes.

    Their ``forward`` is replaced while the model computes, since hooks cost more than a small
    product. The first of several threads replaces it, and the last one restores it.
    """

    def __init__(self, model: Any) -> None:
        linear = load_torch().nn.Linear
        # A Conv1D of transformers is a Linear with transposed weights.
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
        self._replaced: list[tuple[dict[str, Any], Any]] = []

    @contextmanager
    def under(self, rule: RowRule) -> Iterator[None]:
        """Let products pad their rows inside, and activations be computed without seams."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._replace(rule)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._restore()

    def _replace(self, rule: RowRule) -> None:
        """Replace each ``forward`` by one that follows the rule."""
        if rule.least > 1 and not rule.batches:
            for product in self.products:
                self._wrap(product, partial(_of_filled_product, rule))
        if load_torch().get_num_threads() > 1:
            for activation in self._activations:
                self._wrap(activation, _of_seamless_activation)

    def _wrap(self, module: Any, compute: Callable[..., Any]) -> None:
        attributes = vars(module)
        self._replaced.append((attributes, attributes.get("forward")))
        attributes["forward"] = partial(compute, module.forward)

    def _restore(self) -> None:
        while self._replaced:
            attributes, original = self._replaced.pop()
            if original is None:
                del attributes["forward"]
            else:
                attributes["forward"] = original


_OF_MODELS: WeakKeyDictionary[Any, Modules] = WeakKeyDictionary()


def modules_of(model: Any) -> Modules:
    """The modules of a model, shared by all threads: two copies would undo each other's patches."""
    return _OF_MODELS.setdefault(model, Modules(model))


def _of_seamless_activation(forward: Callable[[Any], Any], input: Any) -> Any:
    """The output of an activation, on one thread unless all threads get equal shares.

    Where torch splits numbers between threads, the last ones of a share, which do not fill an
    instruction, may be computed by other instructions than those in the middle.
    """
    numbers, threads = input.numel(), load_torch().get_num_threads()
    even = numbers > _GRAIN_SIZE * (threads - 1) and not numbers % (_VECTOR * threads)
    if numbers < _GRAIN_SIZE // 2 or even or input.device.type != "cpu":
        return forward(input)
    with torch_threads(1):
        return forward(input)


def _of_filled_product(rule: RowRule, forward: Callable[[Any], Any], input: Any) -> Any:
    """The product for rows of shape (..., inputs)."""
    rows = math.prod(input.shape[:-1])
    if not rows or (rows >= rule.least and not rows % rule.multiple):
        return forward(input)
    product = forward(_filled(input.reshape(rows, -1), rule.rows(rows)))[:rows]
    return product.reshape(*input.shape[:-1], -1)


def _filled(values: Any, wanted: int) -> Any:
    """The values, padded to ``wanted`` values with copies of the last one."""
    missing = wanted - len(values)
    if not missing:
        return values
    if isinstance(values, list):
        return [*values, *values[-1:] * missing]
    return load_torch().cat([values, values[-1:].expand(missing, *values.shape[1:])])


def _first(answer: Any, count: int) -> Any:
    return answer[:count] if hasattr(answer, "shape") else answer


ANSWERS_A_BATCH = 48
"""Most questions in flight: with the answers not yet stored at most 64, the answers lost if the
process is killed."""


def batches_of_equal_length(
    lengths: Sequence[int], token_budget: int, most: int | None = None
) -> Iterator[list[int]]:
    """Indices of the texts in each batch, longest first so that memory peaks at once.

    Parameters
    ----------
    lengths
        Number of tokens of each text.
    token_budget
        Most tokens in a batch; a single text may exceed it.
    most
        Most texts in a batch, whatever their length; by default any number.

    Examples
    --------
    >>> list(batches_of_equal_length([3, 5, 3, 3], token_budget=6))
    [[1], [0, 2], [3]]
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        groups[length].append(index)
    for length in sorted(groups, reverse=True):
        rows = max(1, token_budget // max(1, length))
        rows = rows if most is None else min(rows, most)
        members = groups[length]
        for start in range(0, len(members), rows):
            yield members[start : start + rows]


def portions_by_length(lengths: Sequence[int], most: int = ANSWERS_A_BATCH) -> Iterator[list[int]]:
    """Indices of questions that are answered together, neighbours in length, longest first.

    For models that read a question in several parts: no question waits for the parts of all others.

    Examples
    --------
    >>> list(portions_by_length([3, 5, 3, 4], most=2))
    [[1, 3], [0, 2]]
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), most):
        yield order[start : start + most]
