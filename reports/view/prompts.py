"""The prompts of the models."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import Result


@dataclass(frozen=True, kw_only=True)
class PromptLine:
    """One template, the models that are asked with it, and the words of the labels."""

    name: str
    template: str
    models: tuple[str, ...]
    words: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Every prompt once.

    ``begun`` says that a prompt begins the reply, ``bare`` that models read the texts alone.
    """

    lines: tuple[PromptLine, ...]
    begun: bool
    bare: bool


def prompts(comparison: Result) -> Prompts:
    """The prompts of all models, in the order of the models."""
    asked: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for card in comparison.manifest.models:
        for name, template in card.prompts.items():
            words = tuple(card.words.items())
            asked.setdefault((name, template, words), []).append(card.name)
    return Prompts(
        lines=tuple(
            PromptLine(name=name, template=template, models=tuple(models), words=words)
            for (name, template, words), models in asked.items()
        ),
        begun=any("{reply}" in template for _, template, _ in asked),
        bare=comparison.manifest.settings.get("role") == "next_token",
    )
