"""The section with the models, prompts, data, and capabilities or tasks."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import (
    Block,
    Column,
    Heading,
    Paragraph,
    Preformatted,
    Row,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from reports.prose import Span, Text, joined, prose, written
from reports.wording import setting
from scope.records import CapabilityCard, DataCard, Manifest

SHORT_FINGERPRINT = 12


def asked(manifest: Manifest, *, capabilities: str = "Capabilities") -> Section:
    """What was asked of whom; ``capabilities`` heads the last part."""
    return Section(
        anchor="asked",
        title="What was asked",
        blocks=(
            Heading(prose("Models")),
            models_table(manifest),
            *_prompts(manifest),
            Heading(prose("Data")),
            data_table(manifest.data),
            *([Heading(prose(capabilities))] if manifest.capabilities else []),
            *(block for card in manifest.capabilities for block in about_capability(card)),
        ),
    )


def models_table(manifest: Manifest) -> Table:
    """Every model, the reference first."""
    labelled = any(card.labels for card in manifest.models)
    columns = [Column("Model", "name"), Column("Role"), Column("Spec"), Column("Fingerprint")]
    if labelled:
        columns.append(Column("Labels"))
    return Table(
        columns=(*columns, Column("Truncated texts", "number")),
        rows=tuple(
            Row(
                cells=(
                    card.name,
                    card.role,
                    code(card.spec),
                    code(card.fingerprint[:SHORT_FINGERPRINT]),
                    *([joined(card.labels)] if labelled else []),
                    card.truncated,
                )
            )
            for card in sorted(manifest.models, key=lambda card: card.role != "reference")
        ),
    )


def data_table(data: tuple[DataCard, ...]) -> Table:
    """The rows of each data set, and those that were left out."""
    numbers = ("Rows", "Used", "Labelled", "Duplicates left out", "Empty left out")
    return Table(
        columns=(Column("Data", "name"), *(Column(name, "number") for name in numbers)),
        rows=tuple(
            Row(
                cells=(
                    data_name(card),
                    card.rows,
                    card.used,
                    card.labelled,
                    card.duplicates,
                    card.empty,
                )
            )
            for card in data
        ),
    )


def data_name(card: DataCard) -> Text:
    """The spec of a data set, and the task that it belongs to."""
    if card.capability is None:
        return code(card.spec)
    return prose("{spec} ({task})", spec=code(card.spec), task=card.capability)


def code(text: str) -> Text:
    """Foreign text as code."""
    return (Span(text, "code", foreign=True),)


def _prompts(manifest: Manifest) -> Iterator[Block]:
    """The prompts of all models, each once, in the order of the models."""
    found: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for card in manifest.models:
        for name, template in card.prompts.items():
            words = tuple(card.words.items())
            found.setdefault((name, template, words), []).append(card.name)
    if found:
        yield heading("Prompts")
        yield _about_prompts(begun=any("{reply}" in template for _, template, _ in found))
    for (name, template, words), models in found.items():
        yield paragraph("**{name}**, used for {models}:", name=name, models=joined(models))
        yield Preformatted(template)
        if words:
            yield note("Words for the labels: {words}", words=equations(words))
    if manifest.settings.get("role") == "next_token":
        yield heading("Prompts")
        yield paragraph(
            "None: the models read the bare texts, and a model’s label is the most likely next "
            "token."
        )


def _about_prompts(*, begun: bool) -> Paragraph:
    about = (
        "Fields in braces are replaced by parts of each question. Where a tokenizer has a chat "
        "template, the prompt is the user’s message in it."
    )
    if not begun:
        return note(about)
    return note(
        f"{about} The text after ``{{reply}}`` is the beginning of the reply; endpoints receive "
        "only the text before it.",
        reply="{reply}",
    )


def about_capability(card: CapabilityCard) -> Iterator[Block]:
    """The question that a capability or task asks, and its settings."""
    yield paragraph(
        "**{name}** ({origin}): {question}",
        name=card.name,
        origin=card.origin,
        question=card.question,
    )
    if card.settings:
        values = [(name, setting(card.settings[name])) for name in sorted(card.settings)]
        yield Paragraph(equations(values), note=True)


def equations(pairs: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Text:
    """Names with their values: ``a = 1, b = 2``."""
    return joined(
        (*written(name), Span("\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), *written(value))
        for name, value in pairs
    )
