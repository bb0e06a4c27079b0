"""Tables with a cost or a community for each model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scope.data.fields import Fields, read_fields
from scope.data.specs import open_file
from scope.errors import DataError, SpecError
from scope.paths import expanded
from scope.printing import did_you_mean, listed

SHOWN = 10
"""The number of names shown in a message."""


def read_costs(path: str | Path) -> dict[str, float]:
    """The cost of each model, from a table with the columns ``model`` and ``cost``.

    Raises
    ------
    DataError
        If a column is missing, a cost is not a number, or a model occurs twice.
    """
    costs: dict[str, float] = {}
    for fields, model in _models(path, "cost"):
        try:
            costs[model] = float(fields.name("cost") or "")
        except ValueError as error:
            raise fields.wrong(
                f"`{fields.values['cost']}` as the cost of `{model}`", "a number"
            ) from error
    return costs


def read_communities(path: str | Path) -> dict[str, str]:
    """The communities of models, from a table with the columns ``model`` and ``community``.

    Raises
    ------
    DataError
        If a column is missing or a model occurs twice.
    """
    named = ((model, fields.name("community")) for fields, model in _models(path, "community"))
    return {model: community for model, community in named if community}


def _models(path: str | Path, meaning: str) -> Iterable[tuple[Fields, str]]:
    """Every row with the name of its model; models are unique."""
    source = open_file(expanded(path))
    seen: set[str] = set()
    names = {"model": ("model",), meaning: (meaning,)}
    for fields in read_fields(source, names, required=("model", meaning)):
        model = fields.name("model")
        if model is None or model in seen:
            raise fields.wrong(
                f"the model `{model}` again" if model else "no model", "each model once"
            )
        seen.add(model)
        yield fields, model


def digest_by_model(values: Mapping[str, object]) -> str | None:
    """Sixteen hexadecimal digits of a hash of the values of models; None if there are none."""
    if not values:
        return None
    pairs = json.dumps(sorted(values.items()))
    return hashlib.sha256(pairs.encode()).hexdigest()[:16]


def require_known(
    names: Iterable[str], known: Sequence[str], option: str, kind: str = "model"
) -> None:
    """Check that every name is one of the known models or benchmarks.

    Raises
    ------
    SpecError
        If one is not; the message suggests similar names.

    Examples
    --------
    >>> require_known(["yi-34"], ["yi-34b", "qwen-7b"], "--cost")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    no model `yi-34` of --cost
    expected: one of the 2 models: `yi-34b`, `qwen-7b`
    fix:      did you mean `yi-34b`?
    """
    for name in names:
        if name not in known:
            raise SpecError(
                f"no {kind} `{name}` of {option}",
                expected=f"one of the {len(known)} {kind}s: {listed(known, SHOWN)}",
                fix=did_you_mean(name, known, "check the spelling", most=3),
            )


def checked_costs(costs: Mapping[str, float], models: Sequence[str]) -> list[float] | None:
    """The costs in the order of the models; None if there are none.

    Raises
    ------
    SpecError
        If a model is unknown, or a cost is negative or not a number.
    DataError
        If some models have a cost and others have none.
    """
    if not costs:
        return None
    for name, cost in costs.items():
        if not (math.isfinite(cost) and cost >= 0):
            raise SpecError(
                f"a cost of {cost} for `{name}`",
                expected="a finite number, 0 or more",
                fix=f"write for example --cost {name}=0.5",
            )
    without = [model for model in models if model not in costs]
    if without:
        raise DataError(
            f"no cost for {len(without)} of {len(models)} models: {listed(without, SHOWN)}",
            expected="a cost for every candidate model",
            fix="add --cost MODEL=COST or a row in the file of --costs, or restrict the "
            "candidates with --model",
        )
    return [costs[model] for model in models]
