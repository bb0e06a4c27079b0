"""Who takes part in a test of reuse: one suspect, its possible sources, and the controls."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal

from scope.errors import ModelError, SpecError
from scope.jobs.answering_models import AnsweringModel
from scope.jobs.audited import NamedModel
from scope.jobs.identity import short_names
from scope.jobs.reuse.request import ReuseRequest
from scope.models.expansion import expand_spec
from scope.models.loading import split_spec
from scope.models.one_in_memory import Garage
from scope.paths import expanded
from scope.protocols import Progress
from scope.records import ModelCard

Part = Literal["suspect", "reference", "control"]

FEWEST_CONTROLS = 2
"""With fewer there is nothing that the suspect could be more like the reference than."""

_ENOUGH_CONTROLS = (
    f"at least {FEWEST_CONTROLS} independent models to compare the suspect with, and 19 to decide "
    "at an error rate of 0.05"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReuseModel:
    """A model with its name and its part in the test.

    ``saved`` says that its answers are looked up, at no cost; ``own`` that it is an object of the
    user's, given as it is or by ``python:``.
    """

    name: str
    part: Part
    model: Any
    saved: bool
    own: bool

    def answering_model(self) -> AnsweringModel:
        """The model as the questions of a task are put to it."""
        return AnsweringModel(name=self.name, model=self.model, saved=self.saved, own=self.own)

    def named(self) -> NamedModel:
        """The model as texts are put to it."""
        return NamedModel(name=self.name, role="target", classifier=self.model, saved=self.saved)

    def card(self, truncated: int = 0) -> ModelCard:
        """What the manifest says of it."""
        return ModelCard(
            name=self.name,
            role=self.part,
            spec=self.model.spec,
            fingerprint=self.model.fingerprint,
            labels=tuple(getattr(self.model, "labels", ())),
            truncated=truncated,
            reproducible=getattr(self.model, "reproducible", ""),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReuseModels:
    """The models of a test of reuse, loaded and checked."""

    suspect: ReuseModel
    references: tuple[ReuseModel, ...]
    controls: tuple[ReuseModel, ...]

    @property
    def members(self) -> tuple[ReuseModel, ...]:
        """All of them: the references, the suspect, the controls."""
        return (*self.references, self.suspect, *self.controls)

    def with_models(self, change: Callable[[ReuseModel], Any]) -> ReuseModels:
        """The same members with other models in their places."""

        def changed(member: ReuseModel) -> ReuseModel:
            return replace(member, model=change(member))

        return ReuseModels(
            suspect=changed(self.suspect),
            references=tuple(map(changed, self.references)),
            controls=tuple(map(changed, self.controls)),
        )


def load_reuse_models(
    request: ReuseRequest, *, load: Callable[[str | object], Any], progress: Progress
) -> ReuseModels:
    """Load every model, and see that each stands in one place only.

    The references stay in memory, for they are searched; of the others one at a time.

    A spec that stands for many models, such as a whole table of answers, gives the controls all
    of them but the suspect and the references. Excluded controls are not loaded; a pattern may
    match the suspect or a reference too.

    Raises
    ------
    SpecError
        When a name or pattern of controls to leave out matches no model, or is the name of the
        suspect or a reference, there is no reference or there are fewer than two controls, a
        reference or the suspect is among the controls, or a model is named twice.
    ModelError
        When a model cannot be loaded, or two places hold the same model under different names.
    """
    suspect, references = request.suspect, request.references
    taken = [suspect, *references]
    chosen = [one for control in request.controls for one in _expanded(control, taken)]
    chosen = _without(chosen, request.exclude_controls, taken)
    _refuse_repeated(suspect, references, chosen)
    entries: list[tuple[Part, str | object]] = [
        *(("reference", one) for one in references),
        ("suspect", suspect),
        *(("control", one) for one in chosen),
    ]
    loaded: dict[int | str, Any] = {}
    garage = Garage()
    with progress.task("loading models", len(entries)) as advance:
        for part, one in entries:
            key = one if isinstance(one, str) else id(one)
            if key not in loaded:
                parks = part != "reference" and isinstance(one, str) and _is_heavy(one)
                loaded[key] = garage.park(partial(load, one)) if parks else load(one)
            advance()
    models = [loaded[one if isinstance(one, str) else id(one)] for _, one in entries]
    names = _names([part for part, _ in entries], [model.spec for model in models])
    members = [
        ReuseModel(
            name=name,
            part=part,
            model=model,
            saved=split_spec(model.spec)[0] == "predictions",
            own=not isinstance(given, str) or split_spec(given)[0] == "python",
        )
        for (part, given), name, model in zip(entries, names, models, strict=True)
    ]
    _refuse_same_models(members)
    return ReuseModels(
        suspect=members[len(references)],
        references=tuple(members[: len(references)]),
        controls=tuple(members[len(references) + 1 :]),
    )


def _is_heavy(spec: str) -> bool:
    """Whether a model takes so much memory that twenty of its kind may not fit."""
    return split_spec(spec)[0] in ("hf", "gguf")


def _expanded(control: str | object, taken: Sequence[str | object]) -> list[str | object]:
    if not isinstance(control, str):
        return [control]
    several = expand_spec(control)
    if several == (control,):
        return [control]
    held = {_place(one) for one in taken if isinstance(one, str)}
    return [one for one in several if _place(one) not in held]


def _without(
    controls: Sequence[str | object], excluded: Sequence[str], taken: Sequence[str | object]
) -> list[str | object]:
    """The controls that no pattern matches, be it by their short name or by their spec."""
    specs = [str(getattr(one, "spec", one)) for one in (*controls, *taken)]
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    out: set[str] = set()
    for pattern in excluded:
        matched = {spec for spec in distinct if _matches(pattern, spec, names[spec])}
        _require_a_match(pattern, matched, names, specs[: len(controls)])
        out |= matched
    left = [one for one, spec in zip(controls, specs, strict=False) if spec not in out]
    if len(left) < FEWEST_CONTROLS <= len(controls):
        given = " ".join(f"--exclude-control {shlex.quote(one)}" for one in excluded)
        raise SpecError(
            f"{given}, which leaves {len(left) or 'none'} of {len(controls)} controls",
            expected=_ENOUGH_CONTROLS,
            fix="leave out fewer of the controls, or add others: --control SPEC",
        )
    return left


def _require_a_match(
    pattern: str, matched: Set[str], names: Mapping[str, str], controls: Sequence[str]
) -> None:
    """Refuse what leaves nothing out.

    A pattern that matches the suspect or a reference alone is fine: one command then serves several
    suspects of a table.
    """
    fix = f"correct --exclude-control {shlex.quote(pattern)}, or leave it out"
    if not matched:
        shown = ", ".join(dict.fromkeys(names[spec] for spec in controls[:8]))
        raise SpecError(
            f"no control that `{pattern}` matches",
            expected="a control's whole name or whole spec, in which * stands for any characters, "
            "? for one, [ab] for a or b, such as 'llama-*' or 'predictions:FILE.tsv#llama-*'; the "
            f"names are {shown}{', …' if len(controls) > 8 else ''}",
            fix=fix,
        )
    if matched.isdisjoint(controls) and any(pattern in (one, names[one]) for one in matched):
        raise SpecError(
            f"`{pattern}` among the controls to leave out, which is the suspect or a reference",
            expected="the name of a control",
            fix=fix,
        )


def _matches(pattern: str, spec: str, name: str) -> bool:
    return any(fnmatchcase(one, pattern) or one == pattern for one in (name, spec))


def _place(spec: str) -> str:
    """A spec whose path is spelled in the one way that all spellings of it lead to."""
    scheme, rest = split_spec(spec)
    if scheme != "predictions":
        return spec
    path, mark, model = rest.partition("#")
    return f"{expanded(path).resolve()}{mark}{model}"


def _refuse_repeated(
    suspect: str | object, references: Sequence[str | object], controls: Sequence[str | object]
) -> None:
    shown = [str(getattr(one, "spec", one)) for one in (suspect, *references, *controls)]
    their_references = shown[1 : 1 + len(references)]
    their_controls = shown[1 + len(references) :]
    if not references:
        raise SpecError(
            "no reference",
            expected="at least one model that the suspect may be derived from",
            fix="add --reference SPEC",
        )
    for name, others in (("reference", their_references), ("suspect", shown[:1])):
        if both := [one for one in others if one in their_controls]:
            raise SpecError(
                f"the {name} `{both[0]}` among the controls",
                expected="controls that are known to be independent of suspect and reference",
                fix=f"leave --control {both[0]} out",
            )
    for name, group in (("reference", their_references), ("control", their_controls)):
        if twice := [one for one, count in Counter(group).items() if count > 1]:
            raise SpecError(
                f"the {name} `{twice[0]}` given twice",
                expected=f"each {name} once: one that stands twice counts as if it were two",
                fix=f"leave one --{name} {twice[0]} out",
            )
    if len(controls) < FEWEST_CONTROLS:
        raise SpecError(
            f"{len(controls)} control{'' if len(controls) == 1 else 's'}",
            expected=_ENOUGH_CONTROLS,
            fix="add --control SPEC, or a table of answers: --control predictions:FILE.tsv#*",
        )


def _names(parts: Sequence[Part], specs: Sequence[str]) -> list[str]:
    """A short name each; the suspect may be the reference itself, under another name."""
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    sources = {spec for part, spec in zip(parts, specs, strict=True) if part == "reference"}
    return [
        f"{names[spec]} (suspect)" if part == "suspect" and spec in sources else names[spec]
        for part, spec in zip(parts, specs, strict=True)
    ]


def _refuse_same_models(members: Sequence[ReuseModel]) -> None:
    """One model under two names would be counted as two, or be its own control."""
    seen: dict[str, ReuseModel] = {}
    for member in members:
        other = seen.setdefault(member.model.fingerprint, member)
        suspected = {member.part, other.part} == {"suspect", "reference"}
        if other is not member and not suspected:
            raise ModelError(
                f"the {other.part} `{other.model.spec}` and the {member.part} "
                f"`{member.model.spec}`, which are the same model: both have the fingerprint "
                f"{member.model.fingerprint}",
                expected="different models, the controls independent of suspect and reference",
                fix=f"leave --{member.part} {member.model.spec} out",
            )
