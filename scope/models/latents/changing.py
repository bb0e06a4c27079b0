"""Models that change while they read: what one text needs is then kept for the next one."""

from __future__ import annotations

from typing import Any

_LIBRARY = "transformers"
# Positions that follow from the length of the text at hand, and stay until the next one.
_CHANGING_POSITIONS = ("dynamic", "longrope")
# ESM keeps the positions of the last length, BigBird the kind of its attention.
_CHANGING_PARTS = ("_seq_len_cached", "set_attention_type")


def changes_while_reading(model: Any) -> bool:
    """Whether texts that are read at once may come to spoil each other's numbers.

    A model that is not of the transformers library may change in ways that nobody looked for.
    """
    if type(model).__module__.partition(".")[0] != _LIBRARY:
        return True
    return any(
        any(kind in _positions(module) for kind in _CHANGING_POSITIONS)
        or any(hasattr(module, name) for name in _CHANGING_PARTS)
        for module in model.modules()
    )


def longest_unchanged(model: Any) -> int | None:
    """The most tokens of a text that leave no trace in the model; None for any number.

    Dynamic rotary positions are stretched by a text that is longer than those the model was
    trained on, and those of later texts with them.
    """
    lengths = [
        getattr(module, "original_max_seq_len", None)
        for module in model.modules()
        if "dynamic" in _positions(module)
    ]
    return min((int(length) for length in lengths if length is not None), default=None)


def _positions(module: Any) -> str:
    return str(getattr(module, "rope_type", ""))
