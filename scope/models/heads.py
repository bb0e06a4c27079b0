"""``hf:NAME_OR_PATH[@REVISION]``: a checkpoint, in all the roles that its architecture has.

Each role needs a trained head of the transformers library.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.models.checkpoint import Checkpoint, fetch_checkpoint
from scope.models.options import ModelOptions, Readout
from scope.models.safety import (
    AUTOMATIC,
    MOST_BYTES_OF_OTHERS,
    adapter_config,
    labels_of_head,
    merge,
    within_bounds,
)
from scope.models.scheme import KnownLabels, Scheme, Weights, labels_by_words
from scope.models.torch_setup import choose_device, choose_threads, load_torch, quiet_transformers
from scope.paths import expanded
from scope.protocols import Encoder, LatentReader
from scope.untrusted import loading


class Head(NamedTuple):
    """A trained model on its device, its tokenizer, and the most tokens that it takes."""

    model: Any
    tokenizer: Any
    fingerprint: str
    limit: int


def load_parts(
    checkpoint: Checkpoint, name: str, options: ModelOptions, automatic: str
) -> tuple[Head, list[str]]:
    """A checkpoint as one of transformers' automatic classes, and the weights that it lacks.

    Raises
    ------
    ModelError
        When it cannot be read.
    """
    transformers, torch = quiet_transformers(), load_torch()
    device = choose_device(options.device)
    folder, adapter = checkpoint.folder, checkpoint.adapter
    with loading(name), within_bounds(name, folder):
        has_tokenizer = adapter is not None and (adapter / "tokenizer_config.json").is_file()
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            adapter if has_tokenizer else folder, trust_remote_code=options.trust_remote_code
        )
        model, report = getattr(transformers, automatic).from_pretrained(
            folder,
            dtype=getattr(torch, options.dtype),
            use_safetensors=None if options.allow_pickle else True,
            trust_remote_code=options.trust_remote_code,
            output_loading_info=True,
            return_dict=True,
            **(labels_of_head(adapter) if adapter else {}),
        )
        require_all_read(name, folder, model, report["unexpected_keys"])
        missing = sorted(report["missing_keys"])
        if adapter and (config := adapter_config(name, adapter)):
            missing = merge(name, adapter, config, model, missing)
        choose_threads(model, options.threads)
        limit = longest_input(model, tokenizer)
        head = Head(model.to(device).eval(), tokenizer, checkpoint.fingerprint, limit)
    return head, missing


def require_all_read(name: str, folder: Path, model: Any, unexpected: Collection[str]) -> None:
    """Refuse weights that the model leaves out, and tied weights that differ.

    Heads for other tasks may be left out, but no layer, and no tensor of a layer.

    Raises
    ------
    ModelError
        When the configuration describes another model than the weights.
    """
    read = {_unnumbered(key).rpartition(".")[0] for key in model.state_dict()}
    no_layer = not getattr(model.config, "num_hidden_layers", 1)
    left_out = [
        key for key in unexpected if no_layer or _unnumbered(key).rpartition(".")[0] in read
    ]
    # Layers that predict several tokens at once lie behind the others.
    if left_out and not getattr(model.config, "num_nextn_predict_layers", 0):
        problem = f"leaves out the weights {', '.join(sorted(left_out)[:4])}"
    elif tied := _differing(folder, model):
        problem = f"ties {' and '.join(tied)}, which differ in the files"
    else:
        return
    raise ModelError(
        f"the configuration of `{name}` {problem}",
        expected="a configuration that describes all weights of the layers that it names",
        fix="correct its number of layers, biases, quantization_config or tie_word_embeddings; or "
        "save the model again",
    )


def stored_names(folder: Path) -> set[str]:
    """The names of the tensors in a checkpoint's files."""
    from safetensors import safe_open

    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "numpy") as tensors:
            names.update(tensors.keys())
    return names


def _unnumbered(key: str) -> str:
    return re.sub(r"\.\d+(?=\.)", ".0", key)


def _differing(folder: Path, model: Any) -> list[str]:
    """The tied input and output embeddings, if a file holds them with different values."""
    from safetensors import safe_open

    torch, output = load_torch(), model.get_output_embeddings()
    if output is None or not getattr(model.config, "tie_word_embeddings", False):
        return []
    ends = [model.get_input_embeddings().weight, output.weight]
    named = model.named_parameters(remove_duplicate=False)
    names = [name for name, value in named if any(value is end for end in ends)]
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as tensors:
            both = [name for name in names if name in tensors.keys()]  # noqa: SIM118 - no dict
            held = [tensors.get_tensor(name) for name in both]
            if any(not torch.equal(held[0], other) for other in held[1:]):
                return both
    return []


def longest_input(model: Any, tokenizer: Any) -> int:
    """Most tokens of a text that the model reads.

    Raises
    ------
    ModelError
        When the tokenizer's own limit is not a number, or leaves no room for a token of a text
        beside the special ones.
    """
    most = _tokenizer_limit(tokenizer)
    positions = getattr(model.config, "max_position_embeddings", None)
    # Some models have no limit of their own, and XLNet says so with -1.
    if positions is None or positions < 1:
        return most
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        # RoBERTa and its kin number positions from behind the padding index: the first ones are
        # never used.
        if name.endswith("position_embeddings") and padding is not None:
            positions -= padding + 1
    return int(min(positions, most))


def _tokenizer_limit(tokenizer: Any) -> int:
    most = tokenizer.model_max_length
    count = getattr(tokenizer, "num_special_tokens_to_add", None)
    least = 1 if count is None else count() + 1
    if isinstance(most, int | float) and math.isfinite(most) and most >= least:
        return int(most)
    name = getattr(tokenizer, "name_or_path", "the model")
    raise ModelError(
        f"the tokenizer of `{name}` has the model_max_length {most!r}",
        expected=f"a number of tokens, at least {least}",
        fix="fix model_max_length in the checkpoint's tokenizer_config.json",
    )


class HeadKind(NamedTuple):
    """A head of the transformers library.

    ``automatic`` is its automatic class, and ``adapter`` the adapter's class, as MODULE:NAME.
    """

    automatic: str
    adapter: str

    def adapt(self, head: Head, spec: str, options: ModelOptions) -> Any:
        """The model in all its roles."""
        module, _, name = self.adapter.partition(":")
        return getattr(import_module(module), name)(head, spec, options)


CLASSIFIER = HeadKind(
    "AutoModelForSequenceClassification", "scope.models.huggingface:HuggingFaceClassifier"
)

_TABLES = (
    ("QUESTION_ANSWERING", "QuestionAnswering", "huggingface:ExtractiveModel"),
    ("SEQ_TO_SEQ_CAUSAL_LM", "Seq2SeqLM", "text_to_text:text_to_text_model"),
    ("CAUSAL_LM", "CausalLM", "causal:CausalModel"),
    ("MASKED_LM", "MaskedLM", "huggingface:MaskedModel"),
)
KINDS = {
    f"MODEL_FOR_{table}_MAPPING_NAMES": HeadKind(f"AutoModelFor{name}", f"scope.models.{adapter}")
    for table, name, adapter in _TABLES
}
"""The heads by transformers' tables of architectures.

The first table that names an architecture decides: BART, which is in two, is text-to-text.
"""


def load(rest: str, options: ModelOptions) -> Any:
    """Load a checkpoint in all the roles that its architecture has.

    A checkpoint that names no architecture, or an unknown one, is loaded as a classifier.

    Raises
    ------
    ModelError
        When it does not exist, is a pickle, cannot be read, or its head was never trained.
    SpecError
        When the user's prompt is not a valid template.
    """
    checkpoint = fetch_checkpoint(rest, options)
    with loading(rest):
        kind = kind_of(_listed(read_config(checkpoint.folder).get("architectures"))) or CLASSIFIER
        if checkpoint.adapter and (config := adapter_config(rest, checkpoint.adapter)):
            # The head that the adapter was trained with.
            automatic, kinds = AUTOMATIC[config["task_type"]], (*KINDS.values(), CLASSIFIER)
            kind = next(kind for kind in kinds if kind.automatic == automatic)
        head, missing = load_parts(checkpoint, rest, options, kind.automatic)
        if missing:
            raise ModelError(
                f"`{rest}` lacks trained weights for {', '.join(missing[:4])}",
                expected="a checkpoint trained as a transformers model for "
                f"{kind.automatic.removeprefix('AutoModelFor')}",
                fix="name one with that head; an untrained head answers at random",
            )
        return kind.adapt(head, f"hf:{rest}", options)


def kind_of(classes: Collection[str]) -> HeadKind | None:
    """The head of models of one of these classes; None where no table has any."""
    tables = quiet_transformers().models.auto.modeling_auto
    for table, kind in KINDS.items():
        if not set(getattr(tables, table).values()).isdisjoint(classes):
            return kind
    return None


class HuggingFace(Scheme):
    """Checkpoints of the transformers library."""

    computed = True

    def short_name(self, rest: str) -> str:
        """The name on the hub, or that of the folder."""
        return super().short_name(rest) if expanded(rest).exists() else rest

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels | None:
        """The labels in the checkpoint's config.json, or a language model's label words."""
        spec, config = f"{self.name}:{rest}", read_config(expanded(rest))
        architectures = _listed(config.get("architectures"))
        if architectures and all(name.endswith("ForCausalLM") for name in architectures):
            return labels_by_words(spec, options)
        names = config.get("id2label")
        is_classifier = architectures and architectures[0].endswith("ForSequenceClassification")
        if not isinstance(names, dict) or not is_classifier:
            return None
        keys = sorted(names, key=lambda key: (int(key) if key.isdecimal() else 0, key))
        return KnownLabels(spec, tuple(str(names[key]) for key in keys))

    def weights(self, rest: str, options: ModelOptions) -> Weights:
        """The size according to the headers of the weight files."""
        try:
            folder = fetch_checkpoint(rest, options).folder
        except ModelError as error:
            return Weights(reason=error.found)
        if not (files := sorted(folder.glob("*.safetensors"))):
            return Weights(reason="its weights are no safetensors")
        held = read_config(folder).get("quantization_config")
        method = f" from {held.get('quant_method')}" if isinstance(held, dict) else ""
        parameters = sum(map(_count, files))
        return Weights(
            parameters=parameters,
            stored=sum(file.stat().st_size for file in files),
            dtype=f"{options.dtype}{method}",
            memory=parameters * _BYTES[options.dtype],
        )

    def encoder(self, rest: str, options: ModelOptions) -> Encoder:
        """The sentence encoder."""
        from scope.models.encoder import load

        return load(rest, options)

    def latent_reader(
        self, rest: str, options: ModelOptions, readout: Readout | None
    ) -> LatentReader:
        """The model read layer by layer."""
        from scope.models.latents.reader import read_checkpoint

        return read_checkpoint(rest, options, readout)


_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def read_config(folder: Path) -> dict[str, object]:
    """The checkpoint's config.json; empty where it cannot be read: then the loader raises."""
    path = folder / "config.json"
    try:
        # Reading a pipe would block, and reading a device would not end.
        if not path.is_file() or path.stat().st_size > MOST_BYTES_OF_OTHERS:
            return {}
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _listed(value: object) -> list[str]:
    names = [value] if isinstance(value, str) else value
    return [str(name) for name in names] if isinstance(names, list) else []


def _count(path: Path) -> int:
    """The number of weights in a file."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as tensors:
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118 - no dict


SCHEME = HuggingFace("hf", load)
