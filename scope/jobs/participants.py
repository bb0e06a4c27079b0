"""The models of a comparison between equals, loaded once each, in the roles that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scope.errors import SpecError
from scope.jobs.identity import short_names
from scope.models import ModelOptions
from scope.models.expansion import expand_spec
from scope.models.loading import in_role, load_model, split_spec
from scope.protocols import Role
from scope.records import ModelCard


@dataclass(frozen=True, kw_only=True, slots=True)
class Participant:
    """A model with the name that tables and reports give it.

    ``saved`` says that its answers are looked up, at no cost, and need not be kept again.
    """

    name: str
    model: Any
    saved: bool = False

    def card(self, truncated: int = 0) -> ModelCard:
        """What the manifest says of it."""
        return ModelCard(
            name=self.name,
            role="model",
            spec=self.model.spec,
            fingerprint=self.model.fingerprint,
            truncated=truncated,
        )


def load_participants(
    models: Sequence[str | object], roles: Sequence[Role], options: ModelOptions
) -> tuple[Participant, ...]:
    """Load every model, and see that it has all the roles that the tasks ask for.

    Raises
    ------
    SpecError
        When there are fewer than two models, or one is named twice.
    ModelError
        When a model cannot be loaded, or lacks a role.
    """
    expanded = [one for model in models for one in _expanded(model)]
    if len(expanded) < 2:
        raise SpecError(
            f"{len(expanded)} model{'' if len(expanded) == 1 else 's'}",
            expected="at least two models to compare",
            mend="add --model SPEC",
        )
    loaded = [_loaded(model, roles, options) for model in expanded]
    names = short_names([model.spec for model in loaded])
    return tuple(
        Participant(name=name, model=model, saved=split_spec(model.spec)[0] == "predictions")
        for name, model in zip(names, loaded, strict=True)
    )


def _expanded(model: str | object) -> Sequence[str | object]:
    return expand_spec(model) if isinstance(model, str) else [model]


def _loaded(model: str | object, roles: Sequence[Role], options: ModelOptions) -> Any:
    first, *others = dict.fromkeys(roles)
    if isinstance(model, str):
        loaded = load_model(model, first, options)
    else:
        spec = getattr(model, "spec", type(model).__name__)
        loaded = in_role(model, spec, first, options)
    for role in others:
        in_role(loaded, loaded.spec, role, options)
    return loaded
