"""Checkpoints of the zoo on disk, in as little room as loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scope.demo_models.bases import Base, save_base
from scope.models.torch_setup import load_torch


def save_compactly(base: Base, folder: Path) -> None:
    """Write a checkpoint, whole or not at all, in as little room as loses nothing.

    A tensor is stored in two bytes a number where those hold it exactly, as they do frozen
    embeddings; loaded in float32, the model is the one that was saved, bit for bit.

    Raises
    ------
    RunError
        When the disk is full or the folder may not be written.
    """
    stored = {name: _compact(tensor) for name, tensor in base.model.state_dict().items()}
    save_base(base, folder, stored=stored)


def _compact(tensor: Any) -> Any:
    torch = load_torch()
    if tensor.dtype != torch.float32:
        return tensor
    short = tensor.to(torch.bfloat16)
    return short if torch.equal(short.to(torch.float32), tensor) else tensor
