"""Runs a model once, and records the residual stream after each of its layers.

Batches run in parallel, each on its own thread, except for models that change while they read:
these keep state of one text for the next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from scope.errors import ModelError
from scope.models.inference import ONE_THREAD_RULES, Computed, Inference, RowRule
from scope.models.options import DType
from scope.models.torch_setup import (
    CHANGING_POSITIONS,
    chosen_threads,
    load_torch,
    position_kinds,
    torch_threads,
)
from scope.printing import first_line
from scope.untrusted import converting

_LIBRARY = "transformers"
# ESM keeps the positions of the last length, BigBird the kind of its attention.
_CHANGING_PARTS = ("_seq_len_cached", "set_attention_type")


def changes_while_reading(model: Any) -> bool:
    """Whether texts that are read in parallel may change each other's numbers.

    A model from outside the transformers library may change in unknown ways.
    """
    if type(model).__module__.partition(".")[0] != _LIBRARY:
        return True
    return any(
        any(kind in position_kinds(module) for kind in CHANGING_POSITIONS)
        or any(hasattr(module, name) for name in _CHANGING_PARTS)
        for module in model.modules()
    )


def longest_unchanged(model: Any) -> int | None:
    """The most tokens of a text that does not change the model; None for any number.

    A text that is longer than those of the training stretches dynamic rotary positions, for later
    texts, too.
    """
    lengths = [
        int(length)
        for module in model.modules()
        if "dynamic" in position_kinds(module)
        for name, length in vars(module).items()
        if name.endswith("original_max_seq_len") and length is not None
    ]
    return min(lengths, default=None)


Given = TypeVar("Given")
Made = TypeVar("Made")


def side_by_side(
    make: Callable[[Given], Made], values: Sequence[Given], *, most: int | None = None
) -> list[Made]:
    """The result of ``make`` for each value, in order, on as many threads as torch may use.

    In each of them torch computes with one thread: the order in which several threads add a sum
    depends on their number, and with it the last bits. One batch per core is no slower than one
    batch on all cores, and in most cases faster.

    Parameters
    ----------
    most
        Most values at once; by default the number of threads.

    Examples
    --------
    >>> side_by_side(lambda number: number + 1, [1, 2, 3])
    [2, 3, 4]
    """
    torch = load_torch()
    workers = min(most or torch.get_num_threads(), max(1, len(values)))
    with (
        torch_threads(1),
        # The number applies to the thread that sets it, and to threads that start later.
        ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):
        return list(pool.map(make, values))


_A_TOKEN, _A_PLACE = 0, slice(1, 2)
_EXPECTED = "a transformer that reads text, whose layers can be read"
_FIX = "name a causal or masked language model, an encoder, or an encoder-decoder"
# Above this cosine two vectors have one direction: rounding to bfloat16 changes less.
_ONE_DIRECTION = 0.99999


class _OtherLayoutError(Exception):
    """A block's output is not of the shape texts, tokens, width."""


class _Here(threading.local):
    """The state of one thread; all threads share the blocks."""

    tokens: Any = None
    places = slice(0)
    taken: list[Any] | None = None


class Blocks(Computed):
    """A transformer without head, and its blocks.

    A block's output is taken after its residual connection and before the final norm, as soon as it
    is computed: only the parts of a batch that are read are kept. The model's own hidden states are
    used where its blocks are not in one list, as in ALBERT, which reuses one block, and XLM, which
    has a list for each part of a block; where the order is not texts, tokens, width, as in XLNet;
    and where the blocks' outputs differ from the hidden states.

    Raises
    ------
    ModelError
        When the model cannot be run on a text alone, or has no hidden states.
    """

    def __init__(
        self,
        model: Any,
        spec: str,
        dtype: DType = "float32",
        rules: Sequence[RowRule] = ONE_THREAD_RULES,
    ) -> None:
        self._model, self._spec = model, spec
        # The cache of a causal model would be written for nothing.
        model.config.use_cache = False
        # Outputs that a checkpoint itself requests are collected for one thread at a time.
        model.config.output_hidden_states = model.config.output_attentions = False
        self.device = next(model.parameters()).device
        # Some parameters may be more precise than requested.
        self._dtype = getattr(load_torch(), dtype)
        self._here = _Here()
        self._blocks = _listed_blocks(model)
        for block in self._blocks:
            block.register_forward_hook(self._take)
        self._one_at_a_time = self.device.type != "cpu" or changes_while_reading(model)
        self.layers, self.width = self._sizes()
        self._inference = Inference(model, partial(self._read, places=slice(0, 1)), rules=rules)

    @property
    def most_at_once(self) -> int | None:
        """How many threads may read at once; None for as many as torch has.

        Where hidden states are requested, the library changes the model while it runs; some models
        change themselves.
        """
        several = bool(self._blocks) and not self._one_at_a_time
        return chosen_threads(self._model) if several else 1

    def read(self, rows: Sequence[Sequence[int]], places: slice) -> Any:
        """The mean over ``places`` at each layer: of shape (rows, layers, width), in float32.

        Parameters
        ----------
        rows
            The tokens of the texts, all of the same length: no mask is needed.

        Raises
        ------
        ModelError
            When a block's output is not of the shape texts, tokens, width.
        """
        tokens = load_torch().tensor([list(row) for row in rows], device=self.device)
        try:
            return self._inference.run(partial(self._read, places=places), tokens=tokens)
        except _OtherLayoutError as error:
            raise ModelError(
                f"`{self._spec}` is a {type(self._model).__name__} with a block that "
                f"returns numbers of shape {error} for tokens of shape {tuple(tokens.shape)}",
                expected=_EXPECTED,
                fix=_FIX,
            ) from error

    def _read(self, tokens: Any, places: slice) -> Any:
        means = self._run(tokens, places)[0] if self._blocks else self._ask(tokens, places)
        return load_torch().stack(means, dim=1)

    def _sizes(self) -> tuple[int, int]:
        """Layers and width, which configurations name in many ways."""
        # One row of two tokens, so that rows and tokens cannot be taken for each other.
        tokens = load_torch().tensor([[_A_TOKEN, _A_TOKEN]], device=self.device)
        # A model for other input than text may raise any error without it.
        with converting(self._fails_on_a_text), load_torch().inference_mode():
            if self._blocks and not self._give_hidden_states(tokens):
                self._blocks = ()
            _, layers, width = self._read(tokens, _A_PLACE).shape
        return layers, width

    def _fails_on_a_text(self, error: BaseException) -> ModelError:
        return ModelError(
            f"`{self._spec}` is a {type(self._model).__name__} that fails on a single text, in "
            f"{str(self._dtype).removeprefix('torch.')} ({first_line(error)})",
            expected=_EXPECTED,
            fix=f"{_FIX}; some run in --dtype float32 alone",
        )

    def _give_hidden_states(self, tokens: Any) -> bool:
        """Whether the blocks' outputs are the model's own hidden states, where it has any."""
        config = self._model.config
        # Not by an argument: a model without hidden states may not accept it.
        config.output_hidden_states = True
        try:
            taken, answer = self._run(tokens, _A_PLACE)
        except _OtherLayoutError:
            return False
        finally:
            config.output_hidden_states = False
        states = getattr(answer, "hidden_states", None) or ()
        expected = [
            self._mean(state, _A_PLACE) for state in states if state.shape[:-1] == tokens.shape
        ]
        if len(expected) < len(taken):
            return True
        # Most models begin with the input embeddings, Mamba and similar models with the first
        # block. The last state comes after the final norm.
        return any(all(map(_one_direction, taken[:-1], expected[start:])) for start in (1, 0))

    def _run(self, tokens: Any, places: slice) -> tuple[list[Any], Any]:
        """The outputs of the blocks, and of the model."""
        here = self._here
        here.tokens, here.places, here.taken = tokens, places, []
        try:
            answer = self._model(input_ids=tokens)
            return here.taken, answer
        finally:
            here.taken = None

    def _take(self, module: Any, inputs: Any, output: Any) -> None:
        here = self._here
        if here.taken is None:
            return
        states = output[0] if isinstance(output, tuple) else output
        if states.shape[:-1] != here.tokens.shape:
            raise _OtherLayoutError(tuple(states.shape))
        here.taken.append(self._mean(states, here.places))

    def _ask(self, tokens: Any, places: slice) -> list[Any]:
        answer = self._model(input_ids=tokens, output_hidden_states=True)
        states = getattr(answer, "hidden_states", None)
        if not states:
            raise ModelError(
                f"`{self._spec}` is a {type(self._model).__name__} without hidden states",
                expected=_EXPECTED,
                fix=_FIX,
            )
        # The first are the input embeddings.
        return [self._mean(state, places) for state in states[1:]]

    def _mean(self, states: Any, places: slice) -> Any:
        """In the model's own precision, so that it can be stored without loss.

        Some models add up their layers in float32, in whichever precision they multiply.
        """
        return states[:, places].float().mean(dim=1).to(self._dtype).float().cpu()


def _one_direction(first: Any, second: Any) -> bool:
    """Whether two vectors differ in length at most: RWKV halves its states between blocks.

    NaN has any direction: it is refused where a text has it.
    """
    first, second = first.double(), second.double()
    return not bool((first * second).sum() < _ONE_DIRECTION * first.norm() * second.norm())


def _listed_blocks(model: Any) -> Sequence[Any]:
    """The members of the outermost list that has as many of them as the model has layers.

    If there are several, each holds only a part of every block: the result is empty.
    """
    layers = getattr(model.config.get_text_config(), "num_hidden_layers", None)
    lists = [
        (name.count("."), module)
        for name, module in model.named_modules()
        if isinstance(module, load_torch().nn.ModuleList) and len(module) == layers
    ]
    depth = min((depth for depth, _ in lists), default=0)
    outermost = [module for level, module in lists if level == depth]
    return list(outermost[0]) if len(outermost) == 1 else []
