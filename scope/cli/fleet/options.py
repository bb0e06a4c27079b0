"""Options that several commands on fleets have."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from scope.cli.options import Devices, DTypes, pairs
from scope.errors import SpecError

if TYPE_CHECKING:
    from scope.models import ModelOptions


class Embedders(StrEnum):
    """What learns who answers what."""

    AUTO = "auto"
    FACTORS = "factors"
    IRT = "irt"
    MF = "mf"
    KNN = "knn"
    MEAN = "mean"


ANSWERS = (
    "Who answered what rightly: a long .csv, .jsonl or .parquet with a row an answer, a folder of "
    "saved answers, or a finished run of `scope compare`; repeat to join several."
)

Data = Annotated[list[str], typer.Option(metavar="ANSWERS", help=ANSWERS)]
DataOrNone = Annotated[
    list[str],
    typer.Option(metavar="ANSWERS", help=f"In place of --fleet. {ANSWERS}"),
]
FleetName = Annotated[
    str | None,
    typer.Option("--fleet", metavar="RUN", help="A run of `scope fleet embed`, by name or path."),
]
Questions = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="New questions, with or without answers of the models."),
]
Add = Annotated[
    str | None,
    typer.Option(
        metavar="ANSWERS",
        help="Answers of further models to questions the fleet was made of, by id or text: they "
        "join it without retraining.",
    ),
]
TestShare = Annotated[
    float | None,
    typer.Option(help="With --data: the share of questions that are held out; 0.2."),
]
Embedder = Annotated[
    Embedders | None,
    typer.Option(
        help="auto chooses among mean, knn, factors and irt by cross-validation over questions; "
        "mf, matrix factorization as published, takes minutes and is used only when named."
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Sentence encoder of the questions; all-mpnet-base-v2, or that of the fleet.",
    ),
]
ColumnNames = Annotated[
    list[str],
    typer.Option(
        metavar="ROLE=NAME",
        help="Which column holds what, such as model=system; common names are found. Roles: model, "
        "item (the question's id), question (its text), category, correct, context, options. "
        "Repeat.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Decides every split and every drawing of lots.")]


def column_names(entries: Sequence[str]) -> dict[str, str]:
    """Columns by what they hold.

    Examples
    --------
    >>> column_names(["model=system", "correct=right"])
    {'model': 'system', 'correct': 'right'}
    """
    return pairs(entries, what="column", example="--column model=system")


def costs(entries: Sequence[str]) -> dict[str, float]:
    """Costs by model; a name may hold `=`, a number does not.

    Raises
    ------
    SpecError
        When an entry has no name, no number, or a name stands twice.

    Examples
    --------
    >>> costs(["yi-34b=0.8", "a=b=1"])
    {'yi-34b': 0.8, 'a=b': 1.0}
    """
    found: dict[str, float] = {}
    for entry in entries:
        name, _, number = (part.strip() for part in entry.rpartition("="))
        try:
            cost = float(number)
        except ValueError:
            name = ""
        if not name or name in found:
            raise SpecError(
                f"the cost `{entry}`",
                expected="MODEL=COST with a number, each model once",
                mend="write for example --cost yi-34b=0.8",
            )
        found[name] = cost
    return found


def model_options(
    device: Devices,
    dtype: DTypes,
    token_budget: int,
    *,
    allow_pickle: bool,
    trust_remote_code: bool,
) -> ModelOptions:
    """How the encoder is loaded and run."""
    from scope.models import ModelOptions

    return ModelOptions(
        device=device.value,
        dtype=dtype.value,
        token_budget=token_budget,
        allow_pickle=allow_pickle,
        trust_remote_code=trust_remote_code,
    )
