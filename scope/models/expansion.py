"""One spec that stands for several models."""

from __future__ import annotations

from scope.models.answer_table import ALL, parse_table_name, require_model, table_models
from scope.models.loading import split_spec


def expand_spec(spec: str) -> tuple[str, ...]:
    """The specs of all models that a spec stands for.

    ``predictions:FILE.tsv#*`` stands for every model of the table, in its order; any other spec
    for itself.

    Raises
    ------
    SpecError
        When the spec means nothing.
    DataError
        When the table cannot be read, or no model of it is named.

    Examples
    --------
    >>> expand_spec("hf:google-bert/bert-base-uncased")
    ('hf:google-bert/bert-base-uncased',)
    """
    scheme, rest = split_spec(spec)
    table = parse_table_name(rest) if scheme == "predictions" else None
    if table is None:
        return (spec,)
    require_model(table)
    if table.model != ALL:
        return (spec,)
    return tuple(f"predictions:{table.path}#{model}" for model in table_models(table))
