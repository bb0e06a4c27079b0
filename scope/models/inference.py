"""The one way in which a model computes: with products so filled that no row depends on the others.

A matrix product adds up in an order that may depend on the number of its rows. Which numbers of
rows give equal bits differs between processors, libraries and numbers of threads, so it is
measured on the model at hand, and each product is filled up with copies to such a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from scope.models.filling import Modules, of_filled_batch, one_thread
from scope.models.row_rules import ANY_RULES, AS_GIVEN, RowRule
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

_SPECIAL_TOKENS = ("pad", "bos", "eos", "sep", "cls", "mask", "unk", "decoder_start")


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
    def _modules(self) -> Modules:
        return Modules(self._model)

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
                return of_filled_batch(rule, compute, rows)
            with self._modules.under(rule):
                return of_filled_batch(rule, compute, rows) if rule.batches else compute(**rows)

    def _products_allow(self, rule: RowRule) -> bool:
        """Whether no matrix product of the model breaks the rule."""
        if rule.tokens is not None:
            return True
        products = {
            (tuple(product.weight.shape), product.weight.dtype, product.bias is None): product
            for product in self._modules.products
        }
        with load_torch().inference_mode(), one_thread() if rule.one_thread else nullcontext():
            try:
                return all(_product_allows(product, rule) for product in products.values())
            except (RuntimeError, TypeError, NotImplementedError):
                # Weights of few bits take other numbers than those that are tried.
                return False

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
    """Whether rows have the same bits among few as among many, for each number that is tried."""
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
    same_gaps = torch.equal(one.isnan(), other.isnan())
    return bool(same_gaps and torch.equal(one.nan_to_num(), other.nan_to_num()))
