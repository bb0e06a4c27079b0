"""Everything that a capability or task says of itself, for ``scope list --long`` and the docs."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any

from scope.printing import shown

WIDTH = 80


READ = "accepted by two blind language models"
"""What the shares of accepted texts are of."""


@dataclass(frozen=True, kw_only=True)
class SettingText:
    """A setting, its default as it is written in a command, and what it means."""

    name: str
    default: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Description:
    """A capability or task in words.

    ``about`` is the text below the first line of its module's docstring, with what an invariance
    found by it does not say. ``example`` is a text before and after. ``queries`` are those of a
    text that it can change, with three trials. ``accepted`` is the share of its
    changed texts that readers accept.
    """

    name: str
    question: str
    about: str
    groups: tuple[str, ...]
    example: tuple[str, str] | None
    needs: str
    queries: int | None
    accepted: str
    settings: tuple[SettingText, ...]

    def lines(self) -> Iterator[str]:
        """What a terminal shows."""
        groups = f" ({', '.join(self.groups)})" if self.groups else ""
        yield f"{self.name}{groups}"
        yield from _wrapped(self.question)
        for paragraph in self.about.replace("``", "").split("\n\n"):
            yield from _wrapped(paragraph)
        if self.example is not None:
            yield from _wrapped(f"before: {self.example[0]}")
            yield from _wrapped(f"after:  {self.example[1]}")
        if self.needs:
            yield from _wrapped(f"needs: {self.needs}")
        if self.queries is not None:
            yield from _wrapped(f"cost: about {self.queries} queries for a text that it can change")
        if self.accepted:
            yield from _wrapped(f"{READ}: {self.accepted}")
        for setting in self.settings:
            text = f"{setting.name}={setting.default}  {setting.meaning.replace('``', '')}"
            yield from _wrapped(text, hanging="    ")


def describe(name: str, piece: Any) -> Description:
    """What a capability or task says of itself."""
    module = sys.modules.get(getattr(piece, "__module__", ""))
    text = inspect.cleandoc((module and module.__doc__) or "")
    meanings = _parameters(piece)
    return Description(
        name=name,
        question=getattr(piece, "question", ""),
        about=text.partition("\n\n")[2].strip(),
        groups=tuple(getattr(piece, "groups", ())),
        example=getattr(piece, "example", None),
        needs=getattr(piece, "needs", ""),
        queries=_measured("queries").get(name),
        accepted=_measured("accepted").get(name, ""),
        settings=tuple(
            SettingText(
                name=field.name,
                default=written_default(field),
                meaning=meanings.get(field.name, ""),
            )
            for field in setting_fields(piece)
        ),
    )


def setting_fields(piece: object) -> list[Field[Any]]:
    """The fields of a capability or task that ``--setting`` takes, those of its bases last."""
    if not is_dataclass(piece):
        return []
    kind = piece if isinstance(piece, type) else type(piece)
    inherited = {
        one.name for base in kind.__mro__[1:] if is_dataclass(base) for one in fields(base)
    }
    return sorted(
        (field for field in fields(kind) if field.init), key=lambda field: field.name in inherited
    )


def written_default(setting: Field[Any]) -> str:
    """The default as a command would write it; empty where there is none."""
    if setting.default is MISSING:
        return ""
    default = setting.default
    return default if isinstance(default, str) else shown(default)


def _measured(what: str) -> Mapping[str, Any]:
    from scope.registry import find

    measured: Mapping[str, Any] = find("parts", what).target
    return measured


def _parameters(piece: Any) -> Mapping[str, str]:
    """The descriptions under "Parameters" in a class's docstring, by the parameter's name."""
    _, _, section = inspect.cleandoc(piece.__doc__ or "").partition("Parameters\n----------\n")
    described: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, text = entry.partition("\n")
        for name in names.split(","):
            described[name.strip()] = " ".join(text.split())
    return described


def _wrapped(text: str, hanging: str = "") -> list[str]:
    return textwrap.wrap(
        text.replace("\n", " "),
        WIDTH,
        initial_indent="  ",
        subsequent_indent=f"  {hanging}",
        break_on_hyphens=False,
    )
