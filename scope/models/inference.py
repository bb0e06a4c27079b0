"""The one way in which a model computes: with products so filled that no row depends on the others.

A matrix product adds up in an order that may depend on the number of its rows. Which numbers of
rows give equal bits differs between processors, libraries and numbers of threads, so it is
measured on the model at hand, and each product is filled up with copies to such a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from threading import Lock
from typing import Any, NamedTuple

from scope.models.torch_setup import load_torch

Trial = Callable[[Any], Any]
"""From tokens of shape (rows, length) to numbers of shape (rows, ...), as the model gives them."""

TO_SIX_DECIMALS = "to six decimals"
"""What is stated where no number of rows gives equal bits, in float32; a last decimal may differ
where a number lies between two."""

_FEW_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 31, 32, 33, 36, 48, 64, 65, 80)
_COUNTS = (*_FEW_ROWS, 300, 777)
"""Numbers of rows that are tried with a matrix product."""

_ROWS_BY_SIZE = ((1_000_000, 1024), (4_000_000, 96), (32_000_000, 48), (float("inf"), 16))
"""Rows with which they are compared, for products of at most so many weights: a bound on time."""

_TRIAL_LENGTHS = (1, 3, 8, 13, 24)
_TRIAL_ROWS = 32
_TRIAL_PARTS = tuple(slice(*part) for part in ((0, 1), (9, 10), (20, 21), (30, 32), (3, 16)))
"""The model itself is tried with so many texts of each length that it reads, and with these of
them apart."""

_SPLIT_BETWEEN_THREADS = 32_768
"""Of so many numbers torch splits what it computes number by number."""

_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")
_SPECIAL_TOKENS = ("pad", "bos", "eos", "sep", "cls", "mask", "unk", "decoder_start")


class RowRule(NamedTuple):
    """How many rows a matrix product must have so that none depends on the others.

    Parameters
    ----------
    least, multiple
        Rows are filled up to at least the one, and to a multiple of the other.
    one_thread
        Whether this holds only where one thread computes.
    batches
        Whether whole batches are filled up: where more than a model's products depends on rows.
    tokens
        Where the shape of a batch alone decides: how many tokens every batch has, about.
    """

    least: int = 1
    multiple: int = 1
    one_thread: bool = False
    batches: bool = False
    tokens: int | None = None

    def rows(self, given: int, length: int = 1) -> int:
        """Rows of a product or batch of which so many are given, of so many tokens each.

        Examples
        --------
        >>> [RowRule(least=4).rows(given) for given in (1, 4, 5)]
        [4, 4, 5]
        >>> [RowRule(least=4, multiple=4).rows(given) for given in (1, 4, 5)]
        [4, 4, 8]
        >>> [RowRule(tokens=256).rows(1, length) for length in (8, 300)]
        [32, 1]
        """
        if self.tokens is not None:
            return max(given, self.tokens // length)
        return -(-max(given, self.least) // self.multiple) * self.multiple

    def __str__(self) -> str:
        """The promise in words.

        Examples
        --------
        >>> str(RowRule()), str(RowRule(least=4))
        ('to the byte', 'to the byte, at least 4 rows a product')
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
        if self.one_thread:
            parts.append("one thread")
        return ", ".join(parts)


AS_GIVEN = RowRule()
_SIZES = ((2, 1), (4, 1), (8, 1), (4, 4), (8, 8), (16, 16))
_FILLED = tuple(RowRule(*size, batches=batches) for size in _SIZES for batches in (False, True))
ONE_THREAD_RULES = tuple(rule._replace(one_thread=True) for rule in (AS_GIVEN, *_FILLED))
ANY_RULES = (AS_GIVEN, *_FILLED, *ONE_THREAD_RULES)
"""Tried in this order: all threads before one, few rows before many, products before batches."""


class Inference:
    """Runs one model; every call of every adapter passes here.

    Parameters
    ----------
    model
        A module of torch, in evaluation mode on its device.
    trial
        Runs the model on made-up tokens as the adapter runs it on real ones; None where the model
        reads no tokens.
    rules
        The rules to try, in order. The first is kept under which equal rows have equal bits.
    body
        The part of the model that reads tokens, where it is not the model itself.
    """

    def __init__(
        self,
        model: Any,
        trial: Trial | None,
        *,
        rules: Sequence[RowRule] = ANY_RULES,
        body: Any = None,
    ) -> None:
        self._model, self._trial, self._rules = model, trial, rules
        self._body = model if body is None else body

    @cached_property
    def rule(self) -> RowRule | None:
        """The rule that holds for this model on this machine; None where none was found.

        First the model's matrix products are tried on their own, which leaves few rules; then the
        model itself, with texts alone and in larger batches. For a small encoder both together
        take a few tenths of a second.
        """
        on_cpu = next(self._model.parameters()).device.type == "cpu"
        for rule in self._rules:
            if rule.one_thread and not on_cpu:
                continue
            if self._products_allow(rule) and self._trial_allows(rule):
                return rule
        return None

    @cached_property
    def _modules(self) -> _Modules:
        return _Modules(self._model)

    @property
    def _fallback(self) -> RowRule:
        """What is done where no rule holds: a fixed shape comes nearest to equal bits."""
        return self._rules[-1] if self._rules[-1].tokens is not None else AS_GIVEN

    @property
    def reproducible(self) -> str:
        """How equal a text's answers are whatever is asked beside it, in words."""
        if self.rule is not None:
            return str(self.rule)
        precision = str(next(self._model.parameters()).dtype).removeprefix("torch.")
        return TO_SIX_DECIMALS if precision == "float32" else f"to the rounding of {precision}"

    def run(self, compute: Callable[..., Any], **rows: Any) -> Any:
        """What the model computes for these rows.

        Parameters
        ----------
        compute
            Gets the rows by name, filled up where batches are; returns a tensor, an array or a
            tuple of which tensors and arrays have one entry a row. Whatever else stands in the
            tuple, such as a cache, is passed on as it is, filled up.
        rows
            Tensors or lists with one entry a row.
        """
        return self._under(self.rule or self._fallback, compute, rows)

    def _under(self, rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
        with load_torch().inference_mode(), one_thread() if rule.one_thread else nullcontext():
            if rule.tokens is not None:
                return _of_filled_batch(rule, compute, rows)
            with self._modules.under(rule):
                return _of_filled_batch(rule, compute, rows) if rule.batches else compute(**rows)

    def _products_allow(self, rule: RowRule) -> bool:
        """Whether no matrix product of the model breaks the rule."""
        if rule.tokens is not None:
            return True
        products = {
            (tuple(product.weight.shape), product.weight.dtype, product.bias is None): product
            for product in self._modules.products
        }
        with load_torch().inference_mode(), one_thread() if rule.one_thread else nullcontext():
            return all(_product_allows(product, rule) for product in products.values())

    def _trial_allows(self, rule: RowRule) -> bool:
        if self._trial is None:
            return True
        tried = [self._length_allows(rule, length, self._trial) for length in _TRIAL_LENGTHS]
        return any(tried) and False not in tried

    def _length_allows(self, rule: RowRule, length: int, trial: Trial) -> bool | None:
        """Whether texts of a length have the same bits alone and beside others.

        None where the model does not read made-up texts of that length, for whatever reason.
        """
        try:
            tokens = _made_up_tokens(self._body, length)
            if rule.tokens is not None:
                tokens = tokens[: rule.rows(1, length)]
            whole = self._under(rule, trial, {"tokens": tokens})
            parts = [part for part in _TRIAL_PARTS if len(tokens[part])]
            return all(
                _same_bits(self._under(rule, trial, {"tokens": tokens[part]}), whole[part])
                for part in parts
            )
        except Exception:  # noqa: BLE001 - what a model does with other than its own texts is open
            return None


def _of_filled_batch(rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
    first = next(iter(rows.values()))
    given = len(first)
    wanted = rule.rows(given, *getattr(first, "shape", ())[1:2])
    answer = compute(**{name: _filled(values, wanted) for name, values in rows.items()})
    if isinstance(answer, tuple):
        return tuple(_first(part, given) for part in answer)
    return _first(answer, given)


class _Modules:
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
            module for module in model.modules() if type(module).__module__ in _ACTIVATIONS
        ]
        self._lock = Lock()
        self._inside = 0
        self._before: list[tuple[dict[str, Any], Any]] = []

    @contextmanager
    def under(self, rule: RowRule) -> Iterator[None]:
        """Let products fill up their rows inside, and activations be computed without seams."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                if rule.least > 1 and not rule.batches:
                    self._exchange(self.products, partial(_of_filled_product, rule))
                if load_torch().get_num_threads() > 1:
                    self._exchange(self._activations, _of_seamless_activation)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._restore()

    def _exchange(self, modules: Sequence[Any], other: Callable[..., Any]) -> None:
        for module in modules:
            self._before.append((vars(module), vars(module).get("forward")))
            vars(module)["forward"] = partial(other, module.forward)

    def _restore(self) -> None:
        for attributes, forward in self._before:
            if forward is None:
                del attributes["forward"]
            else:
                attributes["forward"] = forward
        self._before.clear()


def _of_seamless_activation(forward: Callable[[Any], Any], given: Any) -> Any:
    """What an activation computes, on one thread.

    Where torch splits numbers between threads, the last ones of a share may be computed by other
    instructions than those in the middle.
    """
    if given.numel() < _SPLIT_BETWEEN_THREADS:
        return forward(given)
    with one_thread():
        return forward(given)


def _of_filled_product(rule: RowRule, forward: Callable[[Any], Any], given: Any) -> Any:
    """What a product computes for rows of shape (..., inputs)."""
    rows = math.prod(given.shape[:-1])
    wanted = rule.rows(rows)
    if wanted == rows or not rows:
        return forward(given)
    found = forward(_filled(given.reshape(rows, -1), wanted))[:rows]
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


def _made_up_tokens(model: Any, length: int) -> Any:
    """Rows of ordinary tokens, different ones; the last of each ends a text if there is such."""
    torch, config = load_torch(), model.config.get_text_config()
    generator = torch.Generator().manual_seed(length)
    special = {token for name in _SPECIAL_TOKENS for token in _token_ids(config, name)}
    size = model.get_input_embeddings().weight.shape[0]
    ordinary = [token for token in range(min(size, 1000)) if token not in special] or [0]
    chosen = torch.randint(len(ordinary), (_TRIAL_ROWS, length), generator=generator)
    tokens = torch.tensor(ordinary)[chosen]
    end = next((token for token in _token_ids(config, "eos") if 0 <= token < size), None)
    if end is not None:
        tokens[:, -1] = end
    return tokens.to(next(model.parameters()).device)


def _token_ids(config: Any, name: str) -> list[int]:
    """The special tokens of a name; some configurations have none, some several."""
    found = getattr(config, f"{name}_token_id", None)
    return found if isinstance(found, list) else [] if found is None else [found]


def _product_allows(product: Any, rule: RowRule) -> bool:
    """Whether rows have the same bits among few as among many, for each number that may occur."""
    torch, weight = load_torch(), product.weight
    # A transformers Conv1D holds its weight the other way round than a torch Linear.
    inputs = getattr(product, "in_features", weight.shape[0])
    most = next(rows for size, rows in _ROWS_BY_SIZE if weight.numel() <= size)
    most = max(most, 2 * rule.multiple + 1)
    rows = torch.randn(most, inputs, generator=torch.Generator().manual_seed(0))
    rows = rows.to(weight.device, weight.dtype)
    whole = product(rows)
    return all(
        _same_bits(product(rows[:count]), whole[:count])
        for count in _COUNTS
        if count < most and rule.rows(count) == count
    )


def _same_bits(one: Any, other: Any) -> bool:
    torch = load_torch()
    one, other = torch.as_tensor(one), torch.as_tensor(other)
    return bool(torch.equal(one.nan_to_num(), other.nan_to_num()))


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
