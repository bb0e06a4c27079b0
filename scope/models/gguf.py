"""``hf:FILE.gguf``: files of llama.cpp, their weights unpacked for the transformers library.

`scope.models.llama_cpp` runs them as they are.

The tokenizer is the one inside the file, with the settings of the file. The transformers library
(4.57) reads it with three errors that change the model's input: Gemma's SentencePiece vocabulary,
whose scores are the ranks of merges, becomes a unigram model that splits most words wrongly; a
first token is added to every text even if the file forbids it; and the end-of-text token is used as
the first one. Here the file decides. On English, Japanese and mixed texts the tokens are those of
llama.cpp.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import numpy as np

from scope.errors import ModelError, first_line
from scope.models.checkpoint import Head, longest_input
from scope.models.inference import token_ids
from scope.models.language_models import CausalModel
from scope.models.latents import CheckpointReader, ModelSource
from scope.models.options import ModelOptions, Readout
from scope.models.safety import counting
from scope.models.scheme import KnownLabels, Scheme, Weights, labels_by_words
from scope.models.torch_setup import choose_device, choose_threads, load_torch, quiet_transformers
from scope.paths import expanded, sha256_of
from scope.protocols import converting

_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
_SENTENCE_PIECE = "llama"


def load_tokenizer(path: Path, fields: Mapping[str, Any]) -> Any:
    """The tokenizer of a GGUF file.

    Parameters
    ----------
    path
        The file.
    fields
        The fields of its header, by name.
    """
    automatic = quiet_transformers().AutoTokenizer
    tokenizer = automatic.from_pretrained(path.parent, gguf_file=path.name)
    inner = tokenizer.backend_tokenizer
    is_unigram = type(inner.model).__name__ == "Unigram"
    if is_unigram and fields["tokenizer.ggml.model"] == _SENTENCE_PIECE:
        _set_merges(inner, fields)
    _set_special(tokenizer, fields)
    return tokenizer


def _set_merges(inner: Any, fields: Mapping[str, Any]) -> None:
    """Turn it into a BPE model, with the tokens that the file marks as whole ones."""
    import tokenizers

    names: Sequence[str] = fields["tokenizer.ggml.tokens"]
    kinds: Sequence[int] = fields["tokenizer.ggml.token_type"]
    unknown = fields.get("tokenizer.ggml.unknown_token_id")
    inner.model = tokenizers.models.BPE(
        vocab={name: number for number, name in enumerate(names)},
        merges=_merges(names, fields["tokenizer.ggml.scores"], kinds),
        unk_token=None if unknown is None else names[unknown],
        fuse_unk=True,
        byte_fallback=True,
    )
    for kind, add in ((_CONTROL, inner.add_special_tokens), (_USER_DEFINED, inner.add_tokens)):
        whole = (name for name, its in zip(names, kinds, strict=True) if its == kind)
        add([tokenizers.AddedToken(name, normalized=False) for name in whole])


def _merges(
    names: Sequence[str], scores: Sequence[float], kinds: Sequence[int]
) -> list[tuple[str, str]]:
    """Every pair of tokens that forms another token, best score first.

    Examples
    --------
    >>> _merges(["a", "b", "ab", "aba"], [0.0, 0.0, -2.0, -1.0], [1, 1, 1, 1])
    [('ab', 'a'), ('a', 'b')]
    """
    numbers = {name: number for number, name in enumerate(names)}
    merges = [
        (-score, numbers[name[:cut]], numbers[name[cut:]])
        for name, score, kind in zip(names, scores, kinds, strict=True)
        if kind == _NORMAL
        for cut in range(1, len(name))
        if name[:cut] in numbers and name[cut:] in numbers
    ]
    return [(names[left], names[right]) for _, left, right in sorted(merges)]


def _set_special(tokenizer: Any, fields: Mapping[str, Any]) -> None:
    """Set the first and the last token, and add the first one where the file requires it."""
    import tokenizers

    names = fields["tokenizer.ggml.tokens"]
    for name in ("bos", "eos"):
        number = fields.get(f"tokenizer.ggml.{name}_token_id")
        if number is not None:
            setattr(tokenizer, f"{name}_token", names[number])
    writes_first = fields.get("tokenizer.ggml.add_bos_token")
    if writes_first is None:
        return
    first = fields.get("tokenizer.ggml.bos_token_id")
    # The template's own syntax: the token by its name and number, then the text.
    before = [(names[first], first)] if writes_first and first is not None else []
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=[*(name for name, _ in before), "$A"], special_tokens=before
    )


_MAGIC = b"GGUF"
_ENDINGS = (KeyboardInterrupt, SystemExit)
_MOST_LETTERS = 2**24
_ONE_AT_A_TIME = Lock()
_MOST_READS = 3_000_000
"""Most numbers and texts in a header; the largest vocabularies have 1.3 million entries in all."""


def load(rest: str, options: ModelOptions) -> CausalModel:
    """Load a GGUF file as a causal language model, its weights unpacked to ``options.dtype``.

    Raises
    ------
    ModelError
        When the file is missing, damaged or not GGUF, or its architecture cannot be read.
    SpecError
        When a prompt in the options is invalid.
    """
    return CausalModel(load_gguf_parts(rest, options), f"hf:{rest}", options)


def identify(rest: str, options: ModelOptions) -> str:
    """The fingerprint of the model in a file, without loading it.

    Raises
    ------
    ModelError
        When there is no such file, or it is not a GGUF file.
    """
    path = expanded(rest)
    require_gguf(path)
    digest = hashlib.sha256(options.dtype.encode() + bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()[:16]


def load_gguf_parts(rest: str, options: ModelOptions) -> Head:
    """The language model of a GGUF file with its tokenizer.

    Raises
    ------
    ModelError
        When the file is missing, damaged or not GGUF, or its architecture cannot be read.
    """
    path = expanded(rest)
    fingerprint = identify(rest, options)
    transformers, torch = quiet_transformers(), load_torch()
    device = choose_device(options.device)
    # Damaged files raise any error of the libraries that read them; a panic is no Exception.
    with (
        converting(lambda error: _unreadable(path, first_line(error)), passing=_ENDINGS),
        # The readers have no option for their progress bars and notices.
        warnings.catch_warnings(action="ignore"),
        redirect_stderr(io.StringIO()),
        _alone(path) as file,
        counting(path.stat().st_size),
        _ONE_AT_A_TIME,
        _read_once(path) as fields,
    ):
        tokenizer = load_tokenizer(file, fields)
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent,
            gguf_file=file.name,
            trust_remote_code=False,
            dtype=getattr(torch, options.dtype),
            output_loading_info=True,
        )
    if report["missing_keys"]:
        raise _unreadable(path, f"it lacks {', '.join(sorted(report['missing_keys'])[:4])}")
    _add_end_of_turn(model, fields)
    choose_threads(model, options.threads)
    return Head(model.to(device).eval(), tokenizer, fingerprint, longest_input(model, tokenizer))


@contextmanager
def _read_once(path: Path) -> Iterator[dict[str, Any]]:
    """The fields of the header, with bounds: the library makes whatever a header claims.

    Inside, the library gets this reader for each of the three that it makes. With a vocabulary of
    262,144 tokens each takes longer than unpacking the weights of Gemma 3 270M.

    Raises
    ------
    ValueError
        When the file ends too soon, claims more than any model has, or is only a part of a model.
    """
    import gguf

    library: Any = gguf
    usual = gguf.GGUFReader

    class Bounded(gguf.GGUFReader):
        reads = 0

        def _get(self, offset: int, dtype: Any, count: int = 1, *more: Any, **named: Any) -> Any:
            self.reads += 1
            end = offset + int(count) * np.dtype(dtype).itemsize
            if end > len(self.data) or self.reads > _MOST_READS:
                raise ValueError(f"its header claims more than {len(self.data)} bytes hold")
            return super()._get(offset, dtype, count, *more, **named)

        def _get_str(self, offset: int) -> Any:
            if self._get(offset, np.uint64)[0] > _MOST_LETTERS:
                raise ValueError("its header holds a text of more than 16 MiB")
            return super()._get_str(offset)

    reader = Bounded(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    kind, parts = fields.get("general.type", "model"), fields.get("split.count", 1)
    blocks = fields.get(f"{fields['general.architecture']}.block_count")
    names = (re.search(r"\bblk\.(\d+)\.", tensor.name) for tensor in reader.tensors)
    held = max((int(name[1]) + 1 for name in names if name), default=0)
    if parts != 1:
        raise ValueError(f"part {fields.get('split.no', 0) + 1} of {parts}, not one whole file")
    if kind != "model":
        raise ValueError(f"it holds the {kind!r:.40} of a model, not the model")
    if blocks not in (None, held):
        raise ValueError(f"its header says {blocks!r:.40} blocks, its tensors {held}")

    def opened(file: Any, *more: Any) -> Any:
        return reader if Path(file).samefile(path) else usual(file, *more)

    library.GGUFReader = opened
    try:
        yield fields
    finally:
        library.GGUFReader = usual


def require_gguf(path: Path) -> None:
    """Refuse a file that is not GGUF.

    Raises
    ------
    ModelError
        When there is no such file, or it does not begin as one.
    """
    if not path.is_file():
        raise ModelError(
            f"`{path}` is no regular file" if path.exists() else f"no file `{path}`",
            expected="the path of a .gguf file",
            fix="check the path; a model on the hub is downloaded first, for example with "
            "`hf download REPOSITORY FILE`",
        )
    with path.open("rb") as file:
        begins = file.read(len(_MAGIC))
    if begins != _MAGIC:
        raise ModelError(
            f"`{path}` begins with {begins!r}",
            expected=f"a GGUF file, which begins with {_MAGIC!r}",
            fix="name the .gguf file itself; for a checkpoint's folder write hf:FOLDER",
        )


@contextmanager
def _alone(path: Path) -> Iterator[Path]:
    """A folder that holds only the file.

    The library would also read other files in its folder: the names of classes in configurations,
    and even code.
    """
    with TemporaryDirectory(prefix="scope-") as folder:
        link = Path(folder) / path.name
        try:
            link.symlink_to(path.resolve())
        # Not every user may make links on every system.
        except OSError:
            os.link(path, link)
        yield link


def _add_end_of_turn(model: Any, fields: Mapping[str, Any]) -> None:
    """Replies of a chat end with a special token, which the library does not read."""
    number = fields.get("tokenizer.ggml.eot_token_id")
    settings = model.generation_config
    known = token_ids(settings, "eos")
    if number is not None and number not in known:
        settings.eos_token_id = [*known, int(number)]


def _unreadable(path: Path, reason: str) -> ModelError:
    fixes = ["download it again", f"let llama.cpp run it, which reads more: gguf:{path}"]
    return ModelError(
        f"`{path}` cannot be loaded ({reason})",
        expected="a whole GGUF file of an architecture that transformers can read, such as llama, "
        "qwen2, qwen3, gemma2 or gemma3",
        # A damaged file is the likelier cause of all other errors.
        fix="; if that fails too, ".join(fixes[::-1] if "not supported" in reason else fixes),
    )


class Unpacked(Scheme):
    """Files of llama.cpp, their weights unpacked."""

    computed = True

    def require_there(self, rest: str) -> None:
        """Refuse a file that is not GGUF."""
        require_gguf(expanded(rest))

    def short_name(self, rest: str) -> str:
        """The name of the file."""
        return Path(rest).stem or rest

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels:
        """The label words."""
        return labels_by_words(f"{self.name}:{rest}", options)

    def weights(self, rest: str, options: ModelOptions) -> Weights:
        """The size of the file."""
        size = expanded(rest).stat().st_size
        return Weights(stored=size, reason="its weights are unpacked into memory")

    def latent_reader(
        self, rest: str, options: ModelOptions, readout: Readout | None
    ) -> CheckpointReader:
        """The model read layer by layer."""
        source = ModelSource(
            spec=f"{self.name}:{rest}",
            fingerprint=identify(rest, options),
            family="causal",
            load=partial(_load_body, rest, options),
        )
        return CheckpointReader(source, options, readout)


def _load_body(rest: str, options: ModelOptions) -> Head:
    head = load_gguf_parts(rest, options)
    return head._replace(model=head.model.base_model)


SCHEME = Unpacked("hf", load)
