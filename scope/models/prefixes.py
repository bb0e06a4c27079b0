"""Reads many texts at once as paths through a tree of tokens, each shared prefix only once.

In a causal model the keys and values of a token do not depend on later tokens. So the tokens of
many texts are read together, each distinct prefix once, and cached for later texts. The products of
a layer treat all tokens alike; only attention distinguishes texts. It is computed in blocks of
places, each in a shape that depends only on the block's number: a token's answer depends neither on
the other texts nor on when its prefix was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

from scope.models.torch_setup import load_torch, quiet_transformers

BLOCK = 8
"""Attention is computed for this many places at once: 0 to 7, 8 to 15 and so on. What a place sees
depends only on its number, never on the other texts. Prompts are read 5 % slower than in blocks of
16, and what is written 30 to 50 % faster: most of a block's places are empty then."""

MOST_KEYS = 32_768
"""Most keys that are gathered at once, for the sake of memory."""

NOWHERE = -1
"""Stands for a missing token."""

Row = Sequence[int]


class Piece(NamedTuple):
    """The tokens of one path that are read within one block.

    ``queries`` are their places among all tokens that are read, ``keys`` the slots of the path up
    to the block's end; both with `NOWHERE` where there is none.
    """

    queries: list[int]
    keys: list[int]


class Plan(NamedTuple):
    """The tokens that are read at once.

    ``tokens``, ``positions`` and ``slots`` have an entry for each token that is read; ``pieces``
    are keyed by the number of their block; ``wanted`` are the places, among the tokens that are
    read, of the last tokens of each row.
    """

    tokens: list[int]
    positions: list[int]
    slots: list[int]
    pieces: dict[int, list[Piece]]
    wanted: list[list[int]]


class Remembered:
    """The slots of tokens in a model's cache, by path; the least recently used lose theirs.

    Parameters
    ----------
    capacity
        Tokens in the cache. It grows for a larger batch, and shrinks when it next runs full.

    Examples
    --------
    >>> remembered = Remembered(8)
    >>> len(remembered.plan([[5, 6, 7], [5, 6, 8]], last=[1, 1]).tokens)
    4
    >>> len(remembered.plan([[5, 6, 9]], last=[1]).tokens)
    1
    """

    def __init__(self, capacity: int) -> None:
        self._least = capacity
        self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        self.capacity, self._reading, self._last_read = self._least, 0, dict[int, int]()
        self._keep(())

    def plan(self, rows: Sequence[Row], last: Sequence[int]) -> Plan:
        """The tokens to read, so that all rows are cached and their ``last`` tokens are read.

        The model's answer at a token is not cached: a cached token is read again where it is
        wanted.
        """
        self._reading += 1
        self._make_room(rows)
        read = Plan([], [], [], {}, [])
        places: dict[int, int] = {}
        for row, count in zip(rows, last, strict=True):
            wanted = len(row) - count
            path, known = self._path(row)
            queries: dict[int, list[int]] = {}
            for position in range(min(known, wanted), len(row)):
                slot = path[position]
                if slot in places:
                    continue
                places[slot] = len(places)
                read.tokens.append(row[position])
                read.positions.append(position)
                read.slots.append(slot)
                block, place = divmod(position, BLOCK)
                queries.setdefault(block, [NOWHERE] * BLOCK)[place] = places[slot]
            for block, some in queries.items():
                end = (block + 1) * BLOCK
                keys = [*path[:end], *[NOWHERE] * (end - len(path))]
                read.pieces.setdefault(block, []).append(Piece(some, keys))
            read.wanted.append([places[slot] for slot in path[wanted:]])
        return read

    def _path(self, row: Row) -> tuple[list[int], int]:
        """The slots of a row's tokens, and how many of them were cached."""
        path, known, before = [], len(row), NOWHERE
        for position, token in enumerate(row):
            slot = self._slots.get((before, token))
            if slot is None:
                known = min(known, position)
                slot = self._slots[before, token] = self._free.pop()
            path.append(slot)
            before = slot
        self._last_read |= dict.fromkeys(path, self._reading)
        return path, known

    def _make_room(self, rows: Sequence[Row]) -> None:
        """Make room for all tokens of the rows; other tokens lose their slots if necessary."""
        known: set[int] = set()
        new: dict[tuple[int, int], int] = {}
        for row in rows:
            before = NOWHERE
            for token in row:
                slot = self._slots.get((before, token))
                if slot is None:
                    # A number that no slot has stands for a slot that is not assigned yet.
                    slot = new.setdefault((before, token), NOWHERE - 1 - len(new))
                else:
                    known.add(slot)
                before = slot
        if len(new) <= len(self._free):
            return
        size = self._least
        while size < len(known) + len(new):
            # In steps: a long text that grows by a token would else be read again each time.
            size += self._least
        if size != self.capacity:
            self.capacity = size
            self._keep(())
            return
        # Whole readings go: a token is never read later than the one before it in a text. More than
        # is lacking, as each time takes as long as there are slots.
        self._last_read |= dict.fromkeys(known, self._reading)
        readings, lacking = Counter(self._last_read.values()), len(new) - len(self._free)
        lacking = max(lacking, min(self.capacity // 8, len(self._last_read) - len(known)))
        oldest = iter(sorted(readings))
        while lacking > 0:
            last = next(oldest)
            lacking -= readings[last]
        self._keep([slot for slot, reading in self._last_read.items() if reading > last])

    def _keep(self, slots: Collection[int]) -> None:
        known, kept = getattr(self, "_slots", {}), set(slots)
        self._slots = {key: slot for key, slot in known.items() if slot in kept}
        self._last_read = {slot: self._last_read[slot] for slot in kept}
        self._free = sorted(set(range(self.capacity)) - kept, reverse=True)


def batches_by_beginning(
    rows: Sequence[Row], more: Sequence[int], token_budget: int, most: int
) -> Iterator[list[int]]:
    """Indices of the rows in each batch; rows with a common prefix are adjacent.

    Parameters
    ----------
    more
        Tokens that are read after each row.
    token_budget
        Most tokens in a batch, a shared prefix counted once; a single row may exceed it.
    most
        Most rows in a batch.

    Examples
    --------
    >>> list(batches_by_beginning([[1, 2, 3], [4, 5], [1, 2, 9]], [0, 0, 0], 4, 48))
    [[0, 2], [1]]
    """
    batch: list[int] = []
    tokens = 0
    for index in sorted(range(len(rows)), key=lambda index: tuple(rows[index])):
        row = rows[index]
        new = len(row) + more[index] - (shared_beginning(rows[batch[-1]], row) if batch else 0)
        if batch and (tokens + new > token_budget or len(batch) == most):
            yield batch
            batch, tokens, new = [], 0, len(row) + more[index]
        batch.append(index)
        tokens += new
    if batch:
        yield batch


def shared_beginning(row: Row, other: Row) -> int:
    """The length in tokens of the common prefix of two rows."""
    pairs = enumerate(zip(row, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(row), len(other)))


_NAME = "scope_paths"

_OTHER_FORMULAS = ("softcap", "s_aux")
"""Arguments that models pass to attention of another formula. Torch's own (``sdpa``) drops them."""


class _Group(NamedTuple):
    """Pieces of one block: their queries and keys one after the other, as indices."""

    pieces: int
    block: int
    queries: Any
    keys: Any


class Attention:
    """The key-value cache of a model's layers, and the attention of the tokens read now.

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
        """Clear the cache."""
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
        quiet_transformers().AttentionInterface.register(_NAME, _attend)
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
                indices = (torch.tensor(places, device=device) for places in (queries, keys))
                self._groups.append(_Group(len(some), block, *indices))
        index_of = {place: index for index, place in enumerate(order)}
        self._places = torch.tensor([index_of[place] for place in range(missing)], device=device)
        self._slots = torch.tensor(plan.slots, device=device)

    def require_formula(self, options: Mapping[str, object]) -> None:
        """Refuse attention for which the model itself computes more than this class."""
        if not self._as_torch and any(
            options.get(formula) is not None for formula in _OTHER_FORMULAS
        ):
            raise NotImplementedError("attention of another formula")

    def __call__(
        self, module: Any, query: Any, key: Any, value: Any, scaling: float, window: int | None
    ) -> Any:
        """The attention output of the tokens, of shape (1, tokens, heads, numbers)."""
        torch = load_torch()
        self.windows[module] = window
        if module not in self._memory:
            self._memory[module] = tuple(
                tensor.new_zeros(tensor.shape[1], self._capacity + 1, tensor.shape[3])
                for tensor in (key, value)
            )
        keys, values = self._memory[module]
        keys[:, self._slots], values[:, self._slots] = key[0], value[0]
        # One extra token stands for the missing ones.
        queries = torch.nn.functional.pad(query[0], (0, 0, 0, 1))
        seen = [_seen(group, queries, keys, values, scaling, window) for group in self._groups]
        return torch.cat(seen).index_select(0, self._places).unsqueeze(0)


def _seen(
    group: _Group, queries: Any, keys: Any, values: Any, scaling: float, window: int | None
) -> Any:
    """The attention output of a group's queries, of shape (queries, heads, numbers)."""
    torch = load_torch()
    heads, pieces, length = len(keys), group.pieces, (group.block + 1) * BLOCK
    shared = len(queries) // heads
    asked = queries.index_select(1, group.queries)
    asked = asked.view(heads, shared, pieces, BLOCK, -1).transpose(1, 2)
    asked = asked.reshape(heads * pieces, shared * BLOCK, -1).mul(scaling)
    known, told = (
        tensor.index_select(1, group.keys).view(heads * pieces, length, -1)
        for tensor in (keys, values)
    )
    scores = torch.bmm(asked, known.transpose(1, 2)).view(-1, shared, BLOCK, length)
    unseen = _unseen(group.block, window, scores.device)
    start = 0 if window is not None else group.block * BLOCK
    scores[..., start:].masked_fill_(unseen[:, start:], float("-inf"))
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(values.dtype)
    seen = torch.bmm(weights.view(-1, shared * BLOCK, length), told)
    seen = seen.view(heads, pieces, shared, BLOCK, -1).permute(1, 3, 0, 2, 4)
    return seen.reshape(pieces * BLOCK, heads * shared, -1)


@lru_cache(maxsize=512)
def _unseen(block: int, window: int | None, device: Any) -> Any:
    """Which places are hidden from those of a block: later ones, and those before the window."""
    torch = load_torch()
    start, length = block * BLOCK, (block + 1) * BLOCK
    unseen = torch.ones(BLOCK, length, dtype=torch.bool, device=device).triu(start + 1)
    if window is not None:
        unseen |= torch.ones_like(unseen).tril(start - window)
    return unseen


_CURRENT: ContextVar[Attention] = ContextVar("reading")


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
    """The signature with which the transformers library calls a custom attention."""
    current = _CURRENT.get()
    current.require_formula(options)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    return current(module, query, key, value, scaling, sliding_window), None
