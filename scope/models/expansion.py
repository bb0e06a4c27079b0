"""One spec for several models."""

from __future__ import annotations

from pathlib import Path

from scope.errors import DataError
from scope.models.answer_table import ALL, parse_table_name, require_model, table_models
from scope.models.loading import split_spec
from scope.paths import expanded

SAVED = (".jsonl", ".jsonl.gz", ".parquet")
"""How the names of files of saved answers end."""


def expand_spec(spec: str) -> tuple[str, ...]:
    """The specs of all models that a spec means.

    ``predictions:FILE.tsv#*`` means every model of the table, in its order,
    ``predictions:FOLDER`` for every file of saved answers in it, by name; any other spec for
    itself.

    Raises
    ------
    SpecError
        When the spec means nothing.
    DataError
        When the table cannot be read, or no model of it is named, or the folder holds no answers.

    Examples
    --------
    >>> expand_spec("hf:google-bert/bert-base-uncased")
    ('hf:google-bert/bert-base-uncased',)
    """
    scheme, rest = split_spec(spec)
    if scheme == "predictions" and (folder := expanded(rest)).is_dir():
        return _files_of(folder)
    table = parse_table_name(rest) if scheme == "predictions" else None
    if table is None:
        return (spec,)
    require_model(table)
    if table.model != ALL:
        return (spec,)
    return tuple(f"predictions:{table.path}#{model}" for model in table_models(table))


def _files_of(folder: Path) -> tuple[str, ...]:
    """The files of saved answers in a folder, one model each."""
    files = sorted(one for one in folder.iterdir() if one.name.endswith(SAVED))
    if not files:
        raise DataError(
            f"no saved answers in the folder {folder}",
            expected=f"one file per model, with one of the endings {', '.join(SAVED)}",
            fix="check the path",
        )
    return tuple(f"predictions:{one}" for one in files)
