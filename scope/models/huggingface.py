"""``hf:NAME_OR_PATH[@REVISION]``: a checkpoint, in all the roles that its architecture has.

Each role needs a trained head of the transformers library; encoders are those of the library
sentence-transformers, and the layers of any transformer can be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.models import gguf
from scope.models.checkpoint import (
    Checkpoint,
    Head,
    fetch_checkpoint,
    fetch_encoder,
    load_parts,
    read_config,
    stored_sizes,
)
from scope.models.encoder import load as load_encoder
from scope.models.heads import OF_ONE_LOGIT, ExtractiveModel, HuggingFaceClassifier, MaskedModel
from scope.models.language_models import CausalModel, text_to_text_model
from scope.models.latents import CheckpointReader, Family, ModelSource
from scope.models.options import ModelOptions, Readout
from scope.models.safety import AUTOMATIC, adapter_config
from scope.models.scheme import KnownLabels, Scheme, Weights, labels_by_words
from scope.models.torch_setup import quiet_transformers
from scope.paths import expanded
from scope.protocols import Encoder, loading


class HeadKind(NamedTuple):
    """A head of the transformers library: its automatic class, and what makes a model of it."""

    automatic: str
    adapt: Callable[[Head, str, ModelOptions], Any]


CLASSIFIER = HeadKind("AutoModelForSequenceClassification", HuggingFaceClassifier)

KINDS = {
    "QUESTION_ANSWERING": HeadKind("AutoModelForQuestionAnswering", ExtractiveModel),
    "SEQ_TO_SEQ_CAUSAL_LM": HeadKind("AutoModelForSeq2SeqLM", text_to_text_model),
    "CAUSAL_LM": HeadKind("AutoModelForCausalLM", CausalModel),
    "MASKED_LM": HeadKind("AutoModelForMaskedLM", MaskedModel),
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
    for table, kind in KINDS.items():
        if not set(_names_in(table).values()).isdisjoint(classes):
            return kind
    return None


def _names_in(table: str) -> Mapping[str, Any]:
    """The classes in one of transformers' tables, by type of model."""
    tables = quiet_transformers().models.auto.modeling_auto
    return getattr(tables, f"MODEL_FOR_{table}_MAPPING_NAMES")  # type: ignore[no-any-return]


class HuggingFace(Scheme):
    """Checkpoints of the transformers library."""

    computed = True

    def of(self, rest: str) -> Scheme:
        """Of a GGUF file its own, which unpacks the weights."""
        return gguf.SCHEME if rest.endswith(".gguf") else self

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
        labels = tuple(str(names[key]) for key in keys)
        of_one = len(labels) == 1 and config.get("problem_type") != "regression"
        return KnownLabels(spec, OF_ONE_LOGIT if of_one else labels)

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
        parameters = sum(stored_sizes(folder).values())
        return Weights(
            parameters=parameters,
            stored=sum(file.stat().st_size for file in files),
            dtype=f"{options.dtype}{method}",
            memory=parameters * _BYTES[options.dtype],
        )

    def encoder(self, rest: str, options: ModelOptions) -> Encoder:
        """The sentence encoder."""
        return load_encoder(rest, options)

    def latent_reader(
        self, rest: str, options: ModelOptions, readout: Readout | None
    ) -> CheckpointReader:
        """The model read layer by layer."""
        return CheckpointReader(checkpoint_source(rest, options), options, readout)


_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def _listed(value: object) -> list[str]:
    names = [value] if isinstance(value, str) else value
    return [str(name) for name in names] if isinstance(names, list) else []


_UNUSED: Mapping[Family, tuple[str, ...]] = MappingProxyType(
    # No hidden state of a layer passes through a pooler. Of an encoder-decoder the encoder is read;
    # other models may call all their layers a decoder, as OPT does.
    {"causal": ("pooler.",), "masked": ("pooler.",), "encoder_decoder": ("pooler.", "decoder.")}
)
"""Weights that may be missing where the layers are read, by how their names begin."""


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


def family_of(config: Mapping[str, Any]) -> Family:
    """How a model reads a text, according to its checkpoint's configuration.

    An encoder reads a text in both directions, and is ``masked`` with any head. An architecture
    unknown to transformers counts as an encoder, unless it calls itself a causal model.

    Examples
    --------
    >>> [family_of({"model_type": name}) for name in ("llama", "bert", "t5")]
    ['causal', 'masked', 'encoder_decoder']
    """
    name = str(config.get("model_type"))
    if config.get("is_encoder_decoder") or name in _names_in("SEQ_TO_SEQ_CAUSAL_LM"):
        return "encoder_decoder"
    # BERT and similar models are in the table of causal models, too.
    if name in _names_in("MASKED_LM") and not config.get("is_decoder"):
        return "masked"
    calls_itself = "CausalLM" in str(config.get("architectures"))
    return "causal" if name in _names_in("CAUSAL_LM") or calls_itself else "masked"


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
    if lacking := [name for name in missing if not name.startswith(_UNUSED[family])]:
        raise ModelError(
            f"`{rest}` lacks trained weights for {', '.join(lacking[:4])}",
            expected="a checkpoint with the weights of all its layers",
            fix="check that it is complete; untrained layers carry no information",
        )
    return head._replace(model=head.model.get_encoder()) if family == "encoder_decoder" else head


SCHEME = HuggingFace("hf", load)
