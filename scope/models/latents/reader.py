"""``hf:`` and ``gguf:`` checkpoints in the role of latent reader.

`Framing` tokenizes texts in their prompt and selects the tokens that are read.

The files of a model, found before it is loaded, and the precision in which it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, ModelError, SpecError
from scope.models.checkpoint import Checkpoint, fetch_encoder, fingerprint_with
from scope.models.gguf import identify, load_gguf_parts
from scope.models.heads import Head, load_parts, read_config
from scope.models.inference import ONE_THREAD_RULES, RowRule, batches_of_equal_length
from scope.models.latents.blocks import Blocks, longest_unchanged, side_by_side
from scope.models.options import Device, DType, ModelOptions, Readout
from scope.models.prompts import Fitted
from scope.models.spelling import around_every_text
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers
from scope.paths import expanded
from scope.protocols import Precision
from scope.untrusted import during_inference


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


def read_checkpoint(
    rest: str, options: ModelOptions, readout: Readout | None = None
) -> CheckpointReader:
    """The layers of a checkpoint in a folder or on the hub.

    Raises
    ------
    ModelError
        When it does not exist, is a pickle, or its config.json cannot be read.
    """
    return CheckpointReader(checkpoint_source(rest, options), options, readout)


def read_gguf(rest: str, options: ModelOptions, readout: Readout | None = None) -> CheckpointReader:
    """The layers of the causal language model in a GGUF file.

    Raises
    ------
    ModelError
        When there is no such file, or it is not a GGUF file.
    """
    return CheckpointReader(gguf_source(rest, options), options, readout)


_CPU_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def natural_dtype(device: Device) -> DType:
    """The precision of ``auto``: bfloat16 where the processor multiplies it natively.

    Such a processor reads a model several times as fast in bfloat16 as in float32. Others emulate
    it more slowly than they compute float32; for them the result is float32. The processor's own
    report decides, not a timing: the result does not depend on the machine's load.

    Raises
    ------
    ModelError
        When the device is not available.

    Examples
    --------
    >>> natural_dtype("cpu") in ("bfloat16", "float32")
    True
    """
    kind = choose_device(device).type
    if kind == "cuda":
        # Emulation, which is slow, counts as support unless it is left out.
        native = load_torch().cuda.is_bf16_supported(including_emulation=False)
    else:
        native = kind == "cpu" and _cpu_multiplies_it()
    return "bfloat16" if native else "float32"


def _cpu_multiplies_it() -> bool:
    cpu = load_torch().cpu
    if hasattr(cpu, "get_capabilities"):
        offered = cpu.get_capabilities()
        return any(offered.get(name, False) for name in _CPU_INSTRUCTIONS)
    # Earlier releases of torch use other names.
    return bool(cpu._is_amx_tile_supported() or cpu._is_avx512_bf16_supported())


Family = Literal["causal", "masked", "encoder_decoder"]

_SEQ2SEQ = "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"
_MASKED = "MODEL_FOR_MASKED_LM_MAPPING_NAMES"
_CAUSAL = "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"
# No hidden state of a layer passes through it.
_UNUSED = "pooler."
# The same of an encoder-decoder; other models may call all their layers so, as OPT does.
_DECODER = "decoder."


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSource:
    """A model that can be loaded: as a body without head, of an encoder-decoder the encoder."""

    spec: str
    fingerprint: str
    family: Family
    load: Callable[[], Head]


def checkpoint_source(rest: str, options: ModelOptions) -> ModelSource:
    """A folder, or ``NAME[@REVISION]`` on the hub, whose files are downloaded if need be.

    A sentence encoder that is not available from the hub is taken from installed packages, if any.

    Raises
    ------
    ModelError
        When it does not exist, is a pickle, has no transformer, or its config.json cannot be read.
    ResourceError
        When the packages that hold it are damaged.
    """
    # The weights of such an encoder may be in a subfolder.
    _require_transformer(rest, expanded(rest))
    checkpoint = fetch_encoder(rest, options)
    _require_transformer(rest, checkpoint.folder)
    family = family_of(read_config(checkpoint.folder))
    return ModelSource(
        spec=f"hf:{rest}",
        fingerprint=checkpoint.fingerprint,
        family=family,
        load=partial(_load_body, checkpoint, rest, options, family),
    )


def gguf_source(rest: str, options: ModelOptions) -> ModelSource:
    """A GGUF file.

    Raises
    ------
    ModelError
        When there is no such file, or it is not a GGUF file.
    """
    return ModelSource(
        spec=f"gguf:{rest}",
        fingerprint=identify(rest, options),
        family="causal",
        load=partial(_load_gguf_body, rest, options),
    )


def family_of(config: Mapping[str, Any]) -> Family:
    """How a model reads a text, according to its checkpoint's configuration.

    An encoder reads a text in both directions, and is ``masked`` with any head. An architecture
    unknown to transformers counts as an encoder, unless it calls itself a causal model.

    Examples
    --------
    >>> [family_of({"model_type": name}) for name in ("llama", "bert", "t5")]
    ['causal', 'masked', 'encoder_decoder']
    """
    tables = quiet_transformers().models.auto.modeling_auto
    name = str(config.get("model_type"))
    if config.get("is_encoder_decoder") or name in getattr(tables, _SEQ2SEQ):
        return "encoder_decoder"
    # BERT and similar models are in the table of causal models, too.
    if name in getattr(tables, _MASKED) and not config.get("is_decoder"):
        return "masked"
    calls_itself = "CausalLM" in str(config.get("architectures"))
    return "causal" if name in getattr(tables, _CAUSAL) or calls_itself else "masked"


def _require_transformer(rest: str, folder: Path) -> None:
    """Refuse sentence encoders without layers, such as word tables."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in modules]
    # No sentence encoder, or one whose list is not needed: only its transformer is read.
    except (OSError, ValueError, TypeError, KeyError):
        return
    if kinds and "Transformer" not in kinds:
        raise ModelError(
            f"`{rest}` is a sentence encoder made of {', '.join(kinds)}",
            expected="a transformer, whose layers hold hidden states",
            fix="choose another model, such as hf:sentence-transformers/all-MiniLM-L6-v2",
        )


def _load_body(checkpoint: Checkpoint, rest: str, options: ModelOptions, family: Family) -> Head:
    head, missing = load_parts(checkpoint, rest, options, "AutoModel")
    unused = (_UNUSED, _DECODER) if family == "encoder_decoder" else (_UNUSED,)
    lacking = [name for name in missing if not name.startswith(unused)]
    if lacking:
        raise ModelError(
            f"`{rest}` lacks trained weights for {', '.join(lacking[:4])}",
            expected="a checkpoint with the weights of all its layers",
            fix="check that it is complete; untrained layers carry no information",
        )
    if family == "encoder_decoder":
        head = head._replace(model=head.model.get_encoder())
    return head


def _load_gguf_body(rest: str, options: ModelOptions) -> Head:
    head = load_gguf_parts(rest, options)
    return head._replace(model=head.model.base_model)
