"""The columns of a table: model, question, text, category and correctness.

Columns are found by their usual names, of which the first that is there counts, or named as
``ROLE=NAME``. So the files of EmbedLLM, with ``prompt_id, model_id, category_id, label, prompt,
model_name, category``, are read as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from scope.data.columns import first_of
from scope.errors import DataError, SpecError
from scope.printing import did_you_mean, listed

NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "model": ("model", "model_name", "model_id"),
        "item": ("item", "id", "item_id", "question_id", "prompt_id"),
        "text": ("text", "question", "prompt"),
        "category": ("category", "benchmark", "subject", "dataset", "category_id"),
        "correct": ("correct", "is_correct", "right", "label", "score"),
        "context": ("context", "passage"),
        "options": ("options", "choices"),
    }
)
"""The names that columns of each role are known by, whatever their case."""

ALIASES: Mapping[str, str] = MappingProxyType({"question": "text"})
"""Other names of roles."""

NONE = "none"
"""Stands for a column that is there and not to be read."""


class MatrixColumns(NamedTuple):
    """The column of each role; None where a table has none, or is not to be asked for it."""

    model: str | None
    item: str | None
    text: str | None
    category: str | None
    correct: str | None
    context: str | None
    options: str | None


def choose_matrix_columns(
    columns: Sequence[str], given: Mapping[str, str], name: str
) -> MatrixColumns:
    """The columns that were named for their role, and for other roles those of usual names.

    Parameters
    ----------
    columns
        All columns of the table called ``name``.
    given
        Columns by role; ``none`` where none is to be read.

    Raises
    ------
    SpecError
        When there is no such role.
    DataError
        When there is no such column, or none that tells a question from others.

    Examples
    --------
    >>> choose_matrix_columns(["Model", "prompt", "score", "y"], {"correct": "y"}, "a.csv")[:5]
    ('Model', None, 'prompt', None, 'y')
    """
    given = _by_role(given)
    for role, column in given.items():
        if column not in (*columns, NONE):
            raise DataError(
                f"no column `{column}` in {name}",
                expected=f"one of its columns: {listed(columns)}",
                fix=f"name another column: --column {role}=NAME",
            )
    free = [column for column in columns if column not in given.values()]
    found = {role: given.get(role) or first_of(names, free) for role, names in NAMES.items()}
    chosen = MatrixColumns(
        **{
            role: None if column == NONE and NONE not in columns else column
            for role, column in found.items()
        }
    )
    if chosen.item is None and chosen.text is None:
        raise missing_column("item", columns, name, "or the question's text")
    return chosen


def missing_column(role: str, columns: Sequence[str], name: str, rest: str = "") -> DataError:
    """What to raise where a table has no column of a role that is needed."""
    usual = ", ".join(NAMES[role])
    return DataError(
        f"no column for {role} in {name}; its columns are {listed(columns)}",
        expected=f"one of the names {usual}{', ' if rest else ''}{rest}",
        fix=f"name the column: --column {role}=NAME",
    )


def _by_role(given: Mapping[str, str]) -> dict[str, str]:
    """Columns by the role's own name, where another one may have been given."""
    found: dict[str, str] = {}
    for name, column in given.items():
        role = ALIASES.get(name, name)
        if role not in NAMES:
            raise SpecError(
                f"no column has the role `{name}`",
                expected=f"one of the roles {', '.join((*NAMES, *ALIASES))}",
                fix=did_you_mean(name, (*NAMES, *ALIASES), "use one of them"),
            )
        if role in found:
            raise SpecError(
                f"two columns for {role}: `{found[role]}` and `{column}`",
                expected="one column a role",
                fix="leave one of them out",
            )
        found[role] = column
    return found
