"""Inference in which no row depends on the others: matrix products are padded.

The order of summation in a matrix product may depend on the number of its rows. Which numbers of
rows give equal bits differs between processors, libraries and numbers of threads, so it is measured
on the model at hand, and each product is padded with copies to such a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from threading import RLock
from typing import Any

from scope.errors import ModelError
from scope.models.batching import ANY_RULES, AS_GIVEN, Modules, RowRule, modules_of, of_filled_batch
from scope.models.torch_setup import load_torch, threads_of, torch_threads
from scope.untrusted import Failed, attempt

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

    @property
    def reproducible(self) -> str:
        """How reproducible answers are across batches."""
        return self._inference.reproducible

    @property
    def exact(self) -> bool:
        """Whether a text has the same bits in any batch."""
        return self._inference.rule is not None

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
