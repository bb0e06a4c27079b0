"""The latents of a text: one vector for each layer of a frozen transformer.

`Framing` tokenizes texts in their prompt and selects the tokens that are read. `Blocks` runs the
model once, and records the residual stream after each of its layers. Batches run in parallel, each
on its own thread, except for models that change while they read: these keep state of one text for
the next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, ModelError, SpecError, first_line
from scope.models.checkpoint import Head, fingerprint_with
from scope.models.inference import (
    ONE_THREAD_RULES,
    Computed,
    Inference,
    RowRule,
    batches_of_equal_length,
)
from scope.models.options import DType, ModelOptions, Readout
from scope.models.prompts import Fitted, around_every_text
from scope.models.torch_setup import (
    CHANGING_POSITIONS,
    chosen_threads,
    load_torch,
    position_kinds,
    torch_threads,
)
from scope.protocols import Precision, converting, during_inference

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


class Framing:
    """A tokenizer, with the prompt around every text.

    The prompt's two parts and the text are tokenized separately: a text that is too long loses its
    end, and the prompt nothing. The names of special tokens in a text are spelled out in ordinary
    ones wherever the tokenizer can do that. Space around a text is ignored.

    Raises
    ------
    SpecError
        When the prompt leaves no room for a text.
    """

    def __init__(
        self, tokenizer: Any, readout: Readout, *, limit: int, causal: bool, spec: str
    ) -> None:
        self._tokenizer, self._spec = tokenizer, spec
        opening, self._closing = around_every_text(tokenizer)
        before, after = (self._bare([part])[0] if part else [] for part in readout.around)
        self._before, self._behind = [*opening, *before], [*after, *self._closing]
        self._takes_mean, self._causal = readout.kind == "mean", causal
        self._room = limit - len(self._before) - len(self._behind)
        if self._room < 1:
            raise SpecError(
                f"a prompt of {len(self._before) + len(self._behind)} tokens",
                expected=f"room for a text among the {limit} tokens that `{spec}` reads",
                fix="give a shorter prompt",
            )

    def frame(self, texts: Sequence[str]) -> list[Fitted]:
        """The tokens of each text, in order.

        Raises
        ------
        DataError
            When a text has no token.
        """
        bare = self._bare([text.strip() for text in texts]) if texts else []
        empty = [text for text, tokens in zip(texts, bare, strict=True) if not tokens]
        if empty:
            raise DataError(
                f"{len(empty)} of {len(texts)} texts have no token for `{self._spec}`, "
                f"such as {empty[0][:80]!r}",
                expected="texts with at least one word that the model can read",
                fix="leave these texts out",
            )
        return [
            Fitted([*self._before, *tokens[: self._room], *self._behind], len(tokens) > self._room)
            for tokens in bare
        ]

    def read(self, length: int) -> slice:
        """The positions that are read in rows of that many tokens."""
        if not self._takes_mean:
            last = length - len(self._closing) - 1
            return slice(last, last + 1)
        # A single token is all that there is, massive or not.
        return slice(int(self._causal and length > 1), length)

    def _bare(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        return [list(tokens) for tokens in encoded["input_ids"]]


VERSION = 3
"""Raised whenever the latents of the same model would change."""


TOKENS_A_BATCH = 256
"""Tokens of a batch of fixed shape: larger batches waste more padding where texts are few."""


TOKENS_AT_ONCE = 4096
"""The same on devices other than the CPU, where padding costs less than many calls."""


Family = Literal["causal", "masked", "encoder_decoder"]
"""How a model reads a text; see `scope.models.huggingface.family_of`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSource:
    """A model that can be loaded: as a body without head, of an encoder-decoder the encoder."""

    spec: str
    fingerprint: str
    family: Family
    load: Callable[[], Head]


class _Loaded(NamedTuple):
    blocks: Blocks
    framing: Framing
    tokens_a_batch: int


class CheckpointReader:
    """A model's layers, read in batches of equal length; it is loaded when it is first needed.

    A text's latents are the same to the bit in any batch, order and portion. On a CPU they do not
    depend on the number of threads either: each thread runs its own batches. Another processor, or
    another release of torch, may round differently.

    In float32 on a CPU batches are as large as ``token_budget`` allows, and padded as
    `scope.models.inference` finds necessary. In bfloat16 and float16, and on other devices, the
    libraries choose the order of summation by the shape of the batch: there the shape depends only
    on the length of the text. A batch of texts of L tokens has ``TOKENS_A_BATCH // L`` rows (on
    other devices ``TOKENS_AT_ONCE // L``), at least one; if there are too few texts, one of them is
    repeated. There ``token_budget`` has no effect.

    Attributes
    ----------
    readout
        Where in a text its latents are taken.
    prompt
        The prompt around a text, possibly the default one; None where there is none.
    dtype
        The precision of the model's weights and activations.
    """

    def __init__(self, source: ModelSource, options: ModelOptions, readout: Readout | None) -> None:
        self._source, self._options = source, options
        self.spec = source.spec
        causal = source.family == "causal"
        self._readout = readout or Readout(kind="prompt" if causal else "mean")
        self.readout, self.prompt = self._readout.kind, self._readout.prompt
        self.dtype = options.dtype
        # Numbers of float16 have more bits than fit beside bfloat16's range.
        self.precision: Precision = "bfloat16" if options.dtype == "bfloat16" else "float32"
        self.fingerprint = fingerprint_with(
            source.fingerprint, "latents", VERSION, self._readout.kind, *self._readout.around
        )

    @property
    def layers(self) -> int:
        """Vectors per text: one per block, without the input embeddings; loads the model."""
        return self._loaded.blocks.layers

    @property
    def width(self) -> int:
        """Length of a vector; loads the model."""
        return self._loaded.blocks.width

    @property
    def reproducible(self) -> str:
        """How reproducible latents are across batches; loads the model."""
        return self._loaded.blocks.reproducible

    @during_inference
    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, layers, width); a text's latents never depend on the other texts.

        Raises
        ------
        DataError
            When a text has no token.
        ModelError
            When the model's numbers are not finite.
        """
        latents = np.empty((len(texts), self.layers, self.width), dtype=np.float32)
        rows = [framed.tokens for framed in self._loaded.framing.frame(texts)]
        batches = list(batches_of_equal_length(list(map(len, rows)), self._loaded.tokens_a_batch))

        def read(batch: Sequence[int]) -> None:
            latents[batch] = self._read([rows[index] for index in batch])

        # Measured before several threads read at once.
        _ = self.reproducible
        side_by_side(read, batches, most=self._loaded.blocks.most_at_once)
        return latents

    @during_inference
    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, so that its end is left out."""
        return [framed.truncated for framed in self._loaded.framing.frame(texts)]

    def _read(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """A batch of rows of equal length."""
        states = self._loaded.blocks.read(rows, self._loaded.framing.read(len(rows[0]))).numpy()
        if not np.isfinite(states).all():
            raise ModelError(
                f"the layers of `{self.spec}` hold NaN or infinity in {self.dtype}",
                expected="finite numbers",
                fix="try --dtype float32 or bfloat16: numbers of some models are too large for "
                "float16; or check the checkpoint, whose weights may be damaged",
            )
        return cast(NDArray[np.float32], states)

    @cached_property
    def _loaded(self) -> _Loaded:
        head = self._source.load()
        unchanged = longest_unchanged(head.model)
        framing = Framing(
            head.tokenizer,
            self._readout,
            limit=head.limit if unchanged is None else min(head.limit, unchanged),
            causal=self._source.family == "causal",
            spec=self.spec,
        )
        on_cpu = next(head.model.parameters()).device.type == "cpu"
        rules, tokens = ONE_THREAD_RULES, self._options.token_budget
        if not on_cpu or self.dtype != "float32":
            tokens = TOKENS_A_BATCH if on_cpu else TOKENS_AT_ONCE
            rules = (RowRule(tokens=tokens, one_thread=on_cpu),)
        return _Loaded(Blocks(head.model, self.spec, self.dtype, rules), framing, tokens)
