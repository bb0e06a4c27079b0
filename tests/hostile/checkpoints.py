"""Tiny checkpoints for cases, each written once a process, and what damages copies of them."""

import functools
import shutil
import tempfile
from pathlib import Path

from hostile.encoders import change_json
from hub.tiny import write_tiny_model
from tiny_language import write_tiny_gguf, write_tiny_llama


@functools.cache
def whole(kind):
    """A checkpoint of a kind; never changed."""
    folder = Path(tempfile.mkdtemp(prefix="scope-test-checkpoint-")) / "model"
    if kind == "classifier":
        write_tiny_model(folder)
    elif kind in ("llama", "chat"):
        write_tiny_llama(folder, chat=kind == "chat")
    else:
        folder.mkdir()
        write_tiny_gguf(folder / "model.gguf", whole("llama"))
    return folder


def copy_of(kind, folder):
    shutil.copytree(whole(kind), folder)
    return folder


def text(name, content):
    """Replace a file's content."""

    def change(folder):
        whole = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(whole)

    return change


def setting(name, **changes):
    return lambda folder: change_json(folder / name, **changes)


def in_place(name, make):
    """Something else in the place of a file; ``make`` is given its path."""

    def change(folder):
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return change


def cut(name, size):
    """Only the beginning of a file; a negative size leaves its end out."""

    def change(folder):
        (folder / name).write_bytes((folder / name).read_bytes()[:size])

    return change


def tensors(change):
    """Other numbers in a file of weights."""

    def damage(folder):
        from safetensors.torch import load_file, save_file

        held = load_file(folder / "model.safetensors")
        change(held)
        save_file(held, folder / "model.safetensors", metadata={"format": "pt"})

    return damage
