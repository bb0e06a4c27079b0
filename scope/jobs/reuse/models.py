"""The models of a test of reuse: one suspect, the references, controls and derivatives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Literal

from scope.errors import SpecError
from scope.jobs.answering_models import refuse_same_models
from scope.jobs.configuration import short_names
from scope.jobs.reuse.request import ReuseRequest
from scope.models.scheme import Model, OneInMemory, checked_spec, expand_spec, scheme_of, split_spec
from scope.paths import expanded
from scope.records import MEMORY, OBJECT

Part = Literal["suspect", "reference", "control", "derivative"]

FEWEST_CONTROLS = 2
"""With fewer there is no null distribution."""

_ENOUGH_CONTROLS = (
    f"at least {FEWEST_CONTROLS} independent models to compare the suspect with, and 5 to decide "
    "at an error rate of 0.05"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReuseModels:
    """The models of a test of reuse, loaded and checked; ``excluded`` are the names left out.

    Further controls are chosen from ``candidates``.
    """

    suspect: Model
    references: tuple[Model, ...]
    controls: tuple[Model, ...]
    derivatives: tuple[Model, ...] = ()
    candidates: tuple[Model, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Model, ...]:
        """The references, the suspect, controls, derivatives and candidates, in this order."""
        others = (*self.controls, *self.derivatives, *self.candidates)
        return (*self.references, self.suspect, *others)

    def with_models(self, change: Callable[[Model], Any]) -> ReuseModels:
        """A copy in which each ``model`` is replaced by the result of ``change``."""

        def changed(models: Sequence[Model]) -> tuple[Model, ...]:
            return tuple(replace(model, adapter=change(model)) for model in models)

        several = ("references", "controls", "derivatives", "candidates")
        parts: dict[str, Any] = {part: changed(getattr(self, part)) for part in several}
        return replace(self, suspect=changed([self.suspect])[0], **parts)


def load_reuse_models(request: ReuseRequest, load: Callable[[str | object], Any]) -> ReuseModels:
    """Load every model, and check that each has only one part.

    The references stay in memory because they are searched; other models are loaded one at a time.

    A spec that names many models, such as a whole table of answers, adds all of them except those
    with another part; a candidate that is named as a control is a control. Excluded
    controls are not loaded; a pattern may also match the suspect or a reference.

    Raises
    ------
    SpecError
        When a name or pattern of excluded controls matches no model, or is the name of the suspect
        or a reference, when there is no reference or there are fewer than two controls, when a
        reference or the suspect is among the controls, or when a model is named twice.
    ModelError
        When a model cannot be loaded, or the same model has two parts under different names.
    """
    suspect, references = request.suspect, request.references
    taken = [suspect, *references]
    derivatives = [spec for each in request.derivatives for spec in _expanded(each, taken)]
    taken += derivatives
    chosen = [spec for control in request.controls for spec in _expanded(control, taken)]
    named = [*taken, *chosen]
    stored = [spec for several in request.controls_from for spec in _expanded(several, named)]
    chosen, excluded = _without([*chosen, *stored], request.exclude_controls, taken)
    n_stored = sum(spec in stored for spec in chosen)
    specs = (*references, suspect, *derivatives, *chosen)
    parts: dict[Part, int] = {
        "reference": len(references),
        "suspect": 1,
        "derivative": len(derivatives),
        "control": len(chosen),
    }
    roles = [part for part, count in parts.items() for _ in range(count)]
    _refuse_repeated(roles, specs)
    for spec in specs:
        if isinstance(spec, str):
            checked_spec(spec)
    loaded: dict[int | str, Any] = {}
    one_in_memory = OneInMemory()
    with request.progress.task("loading models", len(specs)) as advance:
        for role, spec in zip(roles, specs, strict=True):
            key = spec if isinstance(spec, str) else id(spec)
            if key not in loaded:
                # Twenty models of these kinds may not fit in memory.
                heavy = isinstance(spec, str) and scheme_of(spec).computed
                unloads = heavy and role != "reference"
                loaded[key] = one_in_memory.add(partial(load, spec)) if unloads else load(spec)
            advance()
    adapters = [loaded[spec if isinstance(spec, str) else id(spec)] for spec in specs]
    names = _names(roles, [adapter.spec for adapter in adapters])
    models = [
        Model(name=name, role=role, adapter=adapter)
        for name, role, adapter in zip(names, roles, adapters, strict=True)
    ]
    for part in ("suspect", "reference"):
        refuse_same_models([model.adapter for model in models if model.role != part])
    second, n_named = len(references) + 1, len(specs) - n_stored
    first = second + len(derivatives)
    return ReuseModels(
        suspect=models[len(references)],
        references=tuple(models[: len(references)]),
        controls=tuple(models[first:n_named]),
        derivatives=tuple(models[second:first]),
        candidates=tuple(models[n_named:]),
        excluded=excluded,
    )


def _expanded(control: str | object, taken: Sequence[str | object]) -> list[str | object]:
    if not isinstance(control, str):
        return [control]
    several = expand_spec(control)
    if several == (control,):
        return [control]
    held = [_place(spec) for spec in taken if isinstance(spec, str)]
    return [spec for spec in several if not any(_same(_place(spec), place) for place in held)]


def _without(
    controls: Sequence[str | object], excluded: Sequence[str], taken: Sequence[str | object]
) -> tuple[list[str | object], tuple[str, ...]]:
    """The controls that match no pattern, by short name or spec, and the names of the others."""
    specs = [str(getattr(control, "spec", control)) for control in (*controls, *taken)]
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    out: set[str] = set()
    for pattern in excluded:
        matched = {
            spec
            for spec in distinct
            if any(fnmatchcase(name, pattern) or name == pattern for name in (names[spec], spec))
        }
        _require_a_match(pattern, matched, names, specs[: len(controls)])
        out |= matched
    left = [control for control, spec in zip(controls, specs, strict=False) if spec not in out]
    if len(left) < FEWEST_CONTROLS <= len(controls):
        options = " ".join(f"--exclude-control {shlex.quote(pattern)}" for pattern in excluded)
        raise SpecError(
            f"{options} leaves {len(left) or 'none'} of {len(controls)} controls",
            expected=_ENOUGH_CONTROLS,
            fix="exclude fewer controls, or add others with --control SPEC or --controls-from PATH",
        )
    return left, tuple(names[spec] for spec in specs[: len(controls)] if spec in out)


def _require_a_match(
    pattern: str, matched: Set[str], names: Mapping[str, str], controls: Sequence[str]
) -> None:
    """Raise an error if a pattern excludes nothing.

    A pattern that matches only the suspect or a reference is allowed, so that one command serves
    several suspects of a table.
    """
    fix = f"correct --exclude-control {shlex.quote(pattern)}, or leave it out"
    if not matched:
        shown = ", ".join(dict.fromkeys(names[spec] for spec in controls[:8]))
        raise SpecError(
            f"no control matches `{pattern}`",
            expected="the whole name or spec of a control, or a pattern: * matches any characters, "
            "? one, [ab] a or b, as in 'llama-*' or 'predictions:FILE.tsv#llama-*'; the names are "
            f"{shown}{', …' if len(controls) > 8 else ''}",
            fix=fix,
        )
    if matched.isdisjoint(controls) and any(pattern in (spec, names[spec]) for spec in matched):
        raise SpecError(
            f"--exclude-control `{pattern}` is the suspect or a reference",
            expected="the name of a control",
            fix=fix,
        )


def _place(spec: str) -> tuple[Path, str]:
    """The path of saved answers, resolved, and the model."""
    scheme, rest = scheme_of(spec), split_spec(spec)[1]
    if not scheme.saved:
        return Path(spec), ""
    path = rest.partition("#")[0].partition("?")[0]
    return expanded(path).resolve(), scheme.short_name(rest)


def _same(place: tuple[Path, str], other: tuple[Path, str]) -> bool:
    """Whether both are one model: its log may be named by a folder above it."""
    return place[1] == other[1] and (
        place[0].is_relative_to(other[0]) or other[0].is_relative_to(place[0])
    )


def _refuse_repeated(roles: Sequence[Part], specs: Sequence[str | object]) -> None:
    """Raise an error if a model has two parts, except a suspect that is a reference."""
    if "reference" not in roles:
        raise SpecError(
            "no reference",
            expected="at least one model that the suspect may be related to",
            fix="add --reference SPEC",
        )
    seen: dict[str, Part] = {}
    for role, model in zip(roles, specs, strict=True):
        spec = str(getattr(model, "spec", model))
        other = seen.get(spec)
        seen.setdefault(spec, role)
        is_object = spec.startswith((MEMORY, OBJECT))
        if other and (is_object or {other, role} != {"reference", "suspect"}):
            raise SpecError(
                f"the {role} `{spec}` is given twice"
                if role == other
                else f"the {other} `{spec}` is also a {role}",
                expected="each model once, and controls that are independent of the suspect and "
                "the references",
                fix=f"leave --{role} {spec} out",
            )
    controls = roles.count("control")
    if controls < FEWEST_CONTROLS:
        raise SpecError(
            f"{controls} control{'' if controls == 1 else 's'}",
            expected=_ENOUGH_CONTROLS,
            fix="add --control SPEC, a table of answers with --control predictions:FILE.tsv#*, or "
            "stored models to choose from with --controls-from PATH",
        )


def _names(parts: Sequence[Part], specs: Sequence[str]) -> list[str]:
    """A short name for each; a suspect that is also a reference is marked as the suspect."""
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    sources = {spec for part, spec in zip(parts, specs, strict=True) if part == "reference"}
    return [
        f"{names[spec]} (suspect)" if part == "suspect" and spec in sources else names[spec]
        for part, spec in zip(parts, specs, strict=True)
    ]
