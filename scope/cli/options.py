"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scope.errors import SpecError


class Devices(StrEnum):
    """Where models run."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class DTypes(StrEnum):
    """Precision of weights and activations."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


Prompts = Annotated[
    list[str],
    typer.Option(
        metavar="NAME=FILE",
        help="A template in place of the prompt of that name, such as answer=qa.txt; repeat.",
    ),
]


def pairs(entries: Sequence[str], *, what: str, example: str) -> dict[str, str]:
    """Values by name, from ``NAME=VALUE``.

    Raises
    ------
    SpecError
        When an entry has no name or no value, or a name stands twice.

    Examples
    --------
    >>> pairs(["a=1", "b=x=y"], what="setting", example="--setting a=1")
    {'a': '1', 'b': 'x=y'}
    """
    found: dict[str, str] = {}
    for entry in entries:
        name, _, value = (part.strip() for part in entry.partition("="))
        if not (name and value) or name in found:
            raise SpecError(
                f"the {what} `{entry}`",
                expected="NAME=VALUE, each name once",
                mend=f"write for example {example}",
            )
        found[name] = value
    return found


def prompt_files(entries: Sequence[str]) -> dict[str, Path]:
    """The files of prompts by the prompts' names.

    Raises
    ------
    SpecError
        When an entry is not ``NAME=FILE``.
    """
    named = pairs(entries, what="prompt", example="--prompt answer=my_prompt.txt")
    return {name: Path(file) for name, file in named.items()}
