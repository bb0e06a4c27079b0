"""Checkpoints on disk: a model is there whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scope.demo_models.bases import Base
from scope.errors import RunError
from scope.models.torch_setup import quiet_transformers


def load_base(folder: Path) -> Base:
    """The classifier that was saved in a folder."""
    transformers = quiet_transformers()
    return Base(
        transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True
        ),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def save_base(base: Base, folder: Path, *, stored: Mapping[str, Any] | None = None) -> None:
    """Write a checkpoint beside its place, and give it its name when it is complete.

    What an earlier, killed attempt left is removed first; one process at a time may write.

    Parameters
    ----------
    stored
        The tensors to write by name, where they are not to be as the model holds them.

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
        base.model.save_pretrained(partial, state_dict=stored)
        base.tokenizer.save_pretrained(partial)
        partial.rename(folder)


@contextmanager
def explained_write_errors(folder: Path) -> Iterator[None]:
    """Turn what the file system refuses inside into an error that says how to fix it."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder} cannot be written ({error})",
            expected="a folder of ours with about 200 MB of free space",
            fix="free some space, or set SCOPE_CACHE to a folder elsewhere",
        ) from error
