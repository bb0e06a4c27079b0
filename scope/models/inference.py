"""Inference in batches in which no row depends on the others.

The order of summation in a matrix product may depend on the number of its rows. Which numbers of
rows give equal bits differs between processors, libraries and numbers of threads, so it is measured
on the model at hand, and each product is padded with copies to such a number.

Batches hold texts of equal length: none is padded or masked, so no work is wasted.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from threading import Lock, RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from scope.errors import ModelError
from scope.models.torch_setup import load_torch, threads_of, torch_threads
from scope.protocols import Failed, attempt


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


Trial = Callable[[Any], Any]
"""From tokens of shape (rows, length) to numbers of shape (rows, ...), as the model gives them."""

NOT_TO_THE_BYTE = "to about"
"""The beginning of the statement where no number of rows gives equal bits; the greatest observed
difference follows."""

_FEW_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 31, 32, 33, 36, 48, 64, 65, 80)
_COUNTS = (*_FEW_ROWS, 300, 777)
"""Numbers of rows that are tried with a matrix product."""

_ROWS_BY_SIZE = ((1_000_000, 1024), (4_000_000, 96), (32_000_000, 48), (float("inf"), 16))
"""Rows with which they are compared, by the most weights of a product: a bound on time."""

TRIAL_LENGTHS = (1, 3, 8, 13, 24)
_TRIAL_ROWS = 32
_TRIAL_PARTS = tuple(slice(*part) for part in ((0, 1), (9, 10), (20, 21), (30, 32), (3, 16)))
"""The model itself is tried with this many texts of each length, and with these parts of them
separately."""

_SPECIAL_TOKENS = ("pad", "bos", "eos", "sep", "cls", "mask", "unk", "decoder_start")


class Inference:
    """Runs one model; every answer of every adapter passes here.

    Parameters
    ----------
    model
        A module of torch, in evaluation mode on its device.
    trial
        Runs the model on made-up tokens as the adapter runs it on real ones; None where the model
        reads no tokens.
    rules
        The rules to try, in order. The first one that gives equal rows equal bits is kept.
    body
        The part of the model that reads tokens, where it is not the model itself.
    lengths
        Lengths of the made-up texts in the trial.
    """

    def __init__(
        self,
        model: Any,
        trial: Trial | None,
        *,
        rules: Sequence[RowRule] = ANY_RULES,
        body: Any = None,
        lengths: Sequence[int] = TRIAL_LENGTHS,
    ) -> None:
        self._model, self._trial, self._rules = model, trial, rules
        self._lengths = lengths
        self._body = model if body is None else body
        self._lock = RLock()
        self._products_tried: dict[tuple[int, int, bool], bool] = {}

    @property
    def rule(self) -> RowRule | None:
        """The rule that holds for this model on this machine; None where none was found.

        First the model's matrix products are tried on their own, which leaves few rules; then the
        model itself, with texts alone and in larger batches. For a small encoder both together
        take a few tenths of a second.
        """
        # Under a lock: a second thread would compute without a rule meanwhile.
        with self._lock:
            return self._found

    @cached_property
    def _found(self) -> RowRule | None:
        on_cpu = next(self._model.parameters()).device.type == "cpu"
        for rule in self._rules:
            if rule.one_thread and not on_cpu:
                continue
            if self._products_allow(rule) and self._trial_allows(rule):
                return rule
        return None

    @cached_property
    def _threads(self) -> int | None:
        return threads_of(self._model)

    @cached_property
    def _modules(self) -> Modules:
        return modules_of(self._model)

    @property
    def _fallback(self) -> RowRule:
        """The fallback where no rule holds: a fixed shape comes nearest to equal bits."""
        return self._rules[-1] if self._rules[-1].tokens is not None else AS_GIVEN

    @property
    def reproducible(self) -> str:
        """How reproducible a text's answers are across batches, in words.

        Empty where the model could not be tried, so that nothing can be stated.
        """
        if self.rule is not None:
            return str(self.rule)
        with self._lock:
            seen = self._greatest_difference
        return "" if seen is None else f"{NOT_TO_THE_BYTE} {seen:.0e}"

    @cached_property
    def _greatest_difference(self) -> float | None:
        """The difference between texts alone and in a batch, if no rule holds; None if untried."""
        differences = list(self._differences(self._fallback))
        if not differences:
            return None
        torch, dtype = load_torch(), next(self._model.parameters()).dtype
        rounding = torch.finfo(dtype if dtype.is_floating_point else torch.float32).eps
        return float(max(*differences, rounding))

    @property
    def spread(self) -> float:
        """Twice the greatest difference of a number between texts alone and in a batch."""
        with self._lock:
            return 0.0 if self.rule is not None else 2 * (self._greatest_difference or 0.0)

    def padded(self, rows: Any) -> Any:
        """Values with an entry per row, padded as batches of as many rows are."""
        return _filled(rows, (self.rule or self._fallback).batch(len(rows)))

    def run(self, compute: Callable[..., Any], **rows: Any) -> Any:
        """The model's output for these rows.

        Parameters
        ----------
        compute
            Gets the rows by name, padded where batches are; returns a tensor, an array or a tuple
            whose tensors and arrays have one entry per row. Other members of the tuple, such as a
            cache, are returned as they are, padded.
        rows
            Tensors or lists with one entry per row.
        """
        return self._under(self.rule or self._fallback, compute, rows)

    def _under(self, rule: RowRule, compute: Callable[..., Any], rows: dict[str, Any]) -> Any:
        with (
            load_torch().inference_mode(),
            torch_threads(1 if rule.one_thread else self._threads),
            nullcontext() if rule.tokens is not None else self._modules.under(rule),
        ):
            return of_filled_batch(rule, compute, rows)

    def _products_allow(self, rule: RowRule) -> bool:
        """Whether no matrix product of the model breaks the rule."""
        if rule.tokens is not None:
            return True
        tried = (rule.least, rule.multiple, rule.one_thread)
        if tried not in self._products_tried:
            self._products_tried[tried] = self._try_products(rule)
        return self._products_tried[tried]

    def _try_products(self, rule: RowRule) -> bool:
        products = {
            (tuple(product.weight.shape), product.weight.dtype, product.bias is None): product
            for product in self._modules.products
        }
        with load_torch().inference_mode(), torch_threads(1 if rule.one_thread else self._threads):
            try:
                return all(_product_allows(product, rule) for product in products.values())
            except (RuntimeError, TypeError, ValueError, NotImplementedError):
                # Weights of few bits, and layers that choose between experts, take other numbers.
                return False

    def _trial_allows(self, rule: RowRule) -> bool:
        """Whether texts have the same bits alone and in a batch, at each length that is read."""
        if self._trial is None:
            return True
        differences = self._differences(rule)
        return next(differences, None) == 0 and not any(differences)

    def _differences(self, rule: RowRule) -> Iterator[float]:
        """The greatest difference at each length; a model may refuse some lengths."""
        if self._trial is None:
            return
        for length in self._lengths:
            difference = attempt(partial(self._greatest, rule, length, self._trial))
            if not isinstance(difference, Failed):
                yield difference

    def _greatest(self, rule: RowRule, length: int, trial: Trial) -> float:
        """The greatest difference between texts of a length alone and in a batch."""
        tokens = made_up_tokens(self._body, length)
        if rule.tokens is not None:
            tokens = tokens[: rule.batch(1, length)]
        whole = self._under(rule, trial, {"tokens": tokens})
        return max(
            _difference(self._under(rule, trial, {"tokens": tokens[part]}), whole[part])
            for part in _TRIAL_PARTS
            if len(tokens[part])
        )


class Computed:
    """A model whose numbers an `Inference` computes."""

    _inference: Inference
    _model: Any

    def measure(self) -> None:
        """Call the model for the first time, on invented tokens; see `Inference.rule`."""
        _ = self._inference.rule

    @property
    def reproducible(self) -> str:
        """How reproducible answers are across batches, as was measured."""
        return self._inference.reproducible

    @property
    def exact(self) -> bool:
        """Whether a text has the same bits in any batch."""
        return self._inference.rule is not None

    @property
    def spread(self) -> float:
        """Within how much two logits may change places between batches; 0 if bits are equal."""
        return self._inference.spread

    def _tensor(self, values: Sequence[Any]) -> Any:
        return load_torch().tensor(values, device=self._model.device)


def made_up_tokens(model: Any, length: int) -> Any:
    """Rows of different ordinary tokens, each ending with the end-of-text token if there is one."""
    torch, config = load_torch(), model.config.get_text_config()
    generator = torch.Generator().manual_seed(length)
    special = {token for name in _SPECIAL_TOKENS for token in token_ids(config, name)}
    size = model.get_input_embeddings().weight.shape[0]
    ordinary = [token for token in range(min(size, 1000)) if token not in special] or [0]
    chosen = torch.randint(len(ordinary), (_TRIAL_ROWS, length), generator=generator)
    tokens = torch.tensor(ordinary)[chosen]
    end = next((token for token in token_ids(config, "eos") if 0 <= token < size), None)
    if end is not None:
        tokens[:, -1] = end
    return tokens.to(next(model.parameters()).device)


def token_ids(config: Any, name: str) -> list[int]:
    """The special tokens of a name; some configurations have none, some several.

    Raises
    ------
    ModelError
        When one is not a whole number.
    """
    value = getattr(config, f"{name}_token_id", None)
    ids = value if isinstance(value, list) else [] if value is None else [value]
    if not all(type(token) is int and abs(token) < 2**31 for token in ids):
        raise ModelError(
            f"the checkpoint has the {name}_token_id {value!r:.60}",
            expected="the number of a token, or a list of numbers",
            fix=f"fix {name}_token_id in its generation_config.json or config.json",
        )
    return ids


def _product_allows(product: Any, rule: RowRule) -> bool:
    """Whether rows have the same bits in small and large products, for each tried number."""
    torch, weight = load_torch(), product.weight
    # A transformers Conv1D holds the transposed weight of a torch Linear.
    inputs = getattr(product, "in_features", weight.shape[0])
    most = next(rows for size, rows in _ROWS_BY_SIZE if weight.numel() <= size)
    most = rule.rows(max(most, 2 * rule.multiple + 1))
    rows = torch.randn(most, inputs, generator=torch.Generator().manual_seed(0))
    rows = rows.to(weight.device, weight.dtype)
    whole = product(rows)
    return all(
        not _difference(product(rows[:count]), whole[:count])
        for count in _COUNTS
        if count < most and rule.rows(count) == count
    )


def _difference(first: Any, second: Any) -> float:
    """The greatest difference between two tensors; infinite where only one of them has NaN."""
    torch = load_torch()
    first, second = torch.as_tensor(first), torch.as_tensor(second)
    if not torch.equal(first.isnan(), second.isnan()):
        return math.inf
    first, second = first.nan_to_num(), second.nan_to_num()
    if torch.equal(first, second):
        return 0.0
    return float((first.double() - second.double()).abs().max())
