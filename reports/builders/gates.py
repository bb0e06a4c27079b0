"""What the gates of a command said, for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from reports.blocks import Bullets, Callout, Paragraph
from reports.prose import prose, written


def gates_box(gates: Any, failed: Sequence[str]) -> Callout | None:
    """Whether all gates passed, their options, and a line for each that failed; None for none."""
    options = [
        f"--{field.name.replace('_', '-')} {option}"
        for field in fields(gates)
        for value in [getattr(gates, field.name)]
        if value != field.default
        for option in ([value] if isinstance(value, str) else value)
    ]
    if not options:
        return None
    head = (
        "**✗ A gate failed**: ``{options}``" if failed else "**✓ All gates passed**: ``{options}``"
    )
    return Callout(
        "bad" if failed else "good",
        (
            Paragraph(prose(head, options=" ".join(options))),
            *([Bullets(tuple(map(written, failed)))] if failed else []),
        ),
    )
