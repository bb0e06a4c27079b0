"""Checkpoints of the zoo on disk, in as little room as loses nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from scope.models.torch_setup import load_torch
from scope.zoo.bases import Base
from scope.zoo.keeping import explained_write_errors


def save_compactly(base: Base, folder: Path) -> None:
    """Write a checkpoint beside its place, and give it its name when it is complete.

    A tensor is stored in two bytes a number where those hold it exactly, as they do frozen
    embeddings; loaded in float32, the model is the one that was saved, bit for bit.

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
    stored = {name: _compact(tensor) for name, tensor in base.model.state_dict().items()}
    with explained_write_errors(folder):
        base.model.save_pretrained(partial, state_dict=stored)
        base.tokenizer.save_pretrained(partial)
        partial.rename(folder)


def _compact(tensor: Any) -> Any:
    torch = load_torch()
    if tensor.dtype != torch.float32:
        return tensor
    short = tensor.to(torch.bfloat16)
    return short if torch.equal(short.to(torch.float32), tensor) else tensor
