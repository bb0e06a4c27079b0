"""Attention by which a model reads the tokens of many texts at once, each seeing its own text.

The products of a layer take tokens as they come; only attention tells one text from another. It is
computed block by block (`scope.models.paths`), each in a shape that follows from the block's number
alone: so what a token gives is the same in any company, and whether its beginning was read now or
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from scope.models.paths import BLOCK, MOST_KEYS, NOWHERE, Plan
from scope.models.torch_setup import load_torch, quiet_transformers

_NAME = "scope_paths"

_OTHER_FORMULAS = ("softcap", "s_aux")
"""What models pass to attention of another formula. Torch's own (``sdpa``) drops it."""


class _Group(NamedTuple):
    """Pieces of one block: their queries and keys one after the other, as indices."""

    pieces: int
    block: int
    queries: Any
    keys: Any


class Attention:
    """What the layers of a model remember of tokens, and how those that are read now see them.

    Attributes
    ----------
    windows
        The sliding windows that layers asked for; one for each layer that attended.
    """

    def __init__(self) -> None:
        self.windows: dict[Any, int | None] = {}
        self._memory: dict[Any, tuple[Any, Any]] = {}
        self._groups: list[_Group] = []
        self._slots = self._places = None
        self._as_torch = False
        self._capacity = 0

    def forget(self) -> None:
        """Remember nothing."""
        self._memory.clear()

    @contextmanager
    def reading(self, plan: Plan, capacity: int, model: Any) -> Iterator[None]:
        """Let a model read the tokens of a plan inside."""
        if capacity != self._capacity:
            self.forget()
            self._capacity = capacity
        self._follow(plan, model.device)
        config = model.config
        usual = config._attn_implementation
        self._as_torch = usual == "sdpa"
        _register()
        token = _CURRENT.set(self)
        config._attn_implementation = _NAME
        try:
            yield
        finally:
            config._attn_implementation = usual
            _CURRENT.reset(token)

    def _follow(self, plan: Plan, device: Any) -> None:
        torch = load_torch()
        self._groups, order, missing = [], [], len(plan.tokens)
        for block, pieces in sorted(plan.pieces.items()):
            most = max(1, MOST_KEYS // ((block + 1) * BLOCK))
            for start in range(0, len(pieces), most):
                some = pieces[start : start + most]
                queries = [place for piece in some for place in piece.queries]
                keys = [slot for piece in some for slot in piece.keys]
                order += queries
                queries = [missing if place == NOWHERE else place for place in queries]
                keys = [self._capacity if slot == NOWHERE else slot for slot in keys]
                indices = (torch.tensor(one, device=device) for one in (queries, keys))
                self._groups.append(_Group(len(some), block, *indices))
        found = {place: index for index, place in enumerate(order)}
        self._places = torch.tensor([found[place] for place in range(missing)], device=device)
        self._slots = torch.tensor(plan.slots, device=device)

    def require_formula(self, options: Mapping[str, object]) -> None:
        """Refuse attention of which the model itself makes more than is computed here."""
        if not self._as_torch and any(options.get(one) is not None for one in _OTHER_FORMULAS):
            raise NotImplementedError("attention of another formula")

    def __call__(
        self, module: Any, query: Any, key: Any, value: Any, scaling: float, window: int | None
    ) -> Any:
        """What tokens see: of shape (1, tokens, heads, numbers)."""
        torch = load_torch()
        self.windows[module] = window
        if module not in self._memory:
            self._memory[module] = tuple(
                one.new_zeros(one.shape[1], self._capacity + 1, one.shape[3])
                for one in (key, value)
            )
        keys, values = self._memory[module]
        keys[:, self._slots], values[:, self._slots] = key[0], value[0]
        # One token more stands for those that there are not.
        queries = torch.nn.functional.pad(query[0], (0, 0, 0, 1))
        seen = [_seen(one, queries, keys, values, scaling, window) for one in self._groups]
        return torch.cat(seen).index_select(0, self._places).unsqueeze(0)


def _seen(
    group: _Group, queries: Any, keys: Any, values: Any, scaling: float, window: int | None
) -> Any:
    """What the queries of a group see: of shape (queries, heads, numbers)."""
    torch = load_torch()
    heads, pieces, length = len(keys), group.pieces, (group.block + 1) * BLOCK
    shared = len(queries) // heads
    asked = queries.index_select(1, group.queries)
    asked = asked.view(heads, shared, pieces, BLOCK, -1).transpose(1, 2)
    asked = asked.reshape(heads * pieces, shared * BLOCK, -1)
    known, told = (
        one.index_select(1, group.keys).view(heads * pieces, length, -1) for one in (keys, values)
    )
    scores = torch.bmm(asked, known.transpose(1, 2)).mul_(scaling)
    scores = scores.view(-1, shared, BLOCK, length)
    scores.masked_fill_(_unseen(group.block, window, scores.device), float("-inf"))
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(values.dtype)
    seen = torch.bmm(weights.view(-1, shared * BLOCK, length), told)
    seen = seen.view(heads, pieces, shared, BLOCK, -1).permute(1, 3, 0, 2, 4)
    return seen.reshape(pieces * BLOCK, heads * shared, -1)


def _unseen(block: int, window: int | None, device: Any) -> Any:
    """Which places the places of a block do not see: those behind them, and before the window."""
    torch = load_torch()
    start, length = block * BLOCK, (block + 1) * BLOCK
    unseen = torch.ones(BLOCK, length, dtype=torch.bool, device=device).triu(start + 1)
    if window is not None:
        unseen |= torch.ones_like(unseen).tril(start - window)
    return unseen


_CURRENT: ContextVar[Attention | None] = ContextVar("reading", default=None)


def _attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    _mask: Any,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Any, None]:
    """The form in which the transformers library calls an attention of one's own."""
    current = _CURRENT.get()
    if current is None:
        raise RuntimeError("attention over paths outside of a reading")
    current.require_formula(options)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    return current(module, query, key, value, scaling, sliding_window), None


def _register() -> None:
    quiet_transformers().AttentionInterface.register(_NAME, _attend)
