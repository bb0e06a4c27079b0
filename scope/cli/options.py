"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scope.errors import SpecError
from scope.paths import expanded

if TYPE_CHECKING:
    from scope.records import Setting


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
        help="A template in place of a prompt of SCoPE's, such as answer=qa.txt; repeat.",
    ),
]


class Roles(StrEnum):
    """What models are asked as, by texts."""

    CLASSIFIER = "classifier"
    NEXT_TOKEN = "next_token"  # noqa: S105 - no secret


LabelMap = Annotated[
    list[str], typer.Option(metavar="OLD=NEW", help="Names for labels; may be repeated.")
]
LabelWords = Annotated[
    list[str],
    typer.Option(metavar="LABEL=WORD", help="The word a language model says for a label; repeat."),
]
NextTokens = Annotated[
    int, typer.Option(min=1, help="Likeliest next tokens that are read, in that role.")
]
TextColumn = Annotated[str | None, typer.Option(help="Found by itself if common.")]
LabelColumn = Annotated[
    str | None, typer.Option(help="Found by itself if common; none leaves labels out.")
]
Settings = Annotated[
    list[str],
    typer.Option(metavar="NAME=VALUE", help="Of a task, such as min_words=10; repeat."),
]
Device = Annotated[Devices, typer.Option(help="Where models run.")]
DType = Annotated[DTypes, typer.Option(help="Precision.")]
TokenBudget = Annotated[int, typer.Option(min=1, help="Most tokens in a batch of different texts.")]
Requests = Annotated[int, typer.Option(min=1, help="Endpoints: requests at once.")]
Timeout = Annotated[float, typer.Option(help="Endpoints: seconds to wait.")]
Retries = Annotated[int, typer.Option(min=0, help="Endpoints: tries after a failure.")]
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Load checkpoints that can run code.")
]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with a checkpoint.")
]
RunName = Annotated[
    str | None,
    typer.Option(help="Name or path of the run; by default a name that the question gives."),
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
    return {name: expanded(file) for name, file in named.items()}


def settings(entries: Sequence[str]) -> dict[str, Setting]:
    """Settings with the values that their spelling suggests.

    Examples
    --------
    >>> settings(["min_words=10", "unanswerable=no"])
    {'min_words': 10, 'unanswerable': False}
    """
    return {
        name: _value(text)
        for name, text in pairs(entries, what="setting", example="--setting min_words=10").items()
    }


def _value(text: str) -> Setting:
    if text.casefold() in ("yes", "true", "no", "false"):
        return text.casefold() in ("yes", "true")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
