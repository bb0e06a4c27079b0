"""Who is compared with whom in an audit, before any model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scope.errors import SpecError
from scope.jobs.identity import short_names
from scope.models.loading import split_spec

Model = str | object


def whole_spec(model: Any) -> str:
    """The whole spec of a model, with its scheme."""
    return ":".join(split_spec(model if isinstance(model, str) else str(model.spec)))


def with_members(targets: Sequence[Model], members: Iterable[Model]) -> tuple[Model, ...]:
    """The targets, then the members of groups that are none of them, each once."""
    given = set(map(whole_spec, targets))
    added = {whole_spec(one): one for one in members if whole_spec(one) not in given}
    return (*targets, *added.values())


class MatrixParts(NamedTuple):
    """The models of a matrix, each once, by their specs; some are both reference and target."""

    models: Mapping[str, Model]
    references: tuple[str, ...]
    targets: tuple[str, ...]


def matrix_parts(
    references: Sequence[Model], targets: Sequence[Model], *, both_directions: bool
) -> MatrixParts:
    """Who is compared with whom in a matrix: every target with every reference but itself.

    Raises
    ------
    SpecError
        When a reference is given twice, or has no target.
    """
    models = {whole_spec(one): one for one in (*references, *targets)}
    searched = tuple(map(whole_spec, references))
    short_names(searched)  # refuses a reference that is given twice
    if both_directions:
        return MatrixParts(models, tuple(models), tuple(models))
    parts = MatrixParts(models, searched, tuple(map(whole_spec, targets)))
    for one in parts.references:
        if set(parts.targets) == {one}:
            raise SpecError(
                f"the reference `{one}` as its only target",
                expected="another model to compare with each reference",
                fix="add --target SPEC, or --both-directions",
            )
    return parts
