"""Regions in words: the worst on a first screen, all in a table, and what would have been found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import Block, Column, Fold, Paragraph, Table, note, paragraph
from reports.prose import Span, Text, joined, prose, together
from reports.wording import Cell, points, rounded_percent
from scope.errors import counted
from scope.records import REGION_MARGIN, Manifest, Region

_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "answers": ("other answers", "{share} other answers than {reference} on {texts} {name}"),
        "accuracy": (
            "right less often",
            "{share} less accurate than {reference} on {texts} {name}",
        ),
        "gain": ("right more often", "{share} more accurate than {reference} on {texts} {name}"),
        "confidence": (
            "probabilities apart",
            "probabilities {share} apart from {reference}’s on {texts} {name}",
        ),
        "changes": (
            "answer changed by one of both",
            "reacts otherwise than {reference} to {share} of random changes of {texts} {name}",
        ),
    }
)
"""What differs, by the measure: the head of a table's cell, and a sentence."""

_ABOUT = (
    "One half of the {unit} proposed these regions, and the numbers are those of the other half. "
    "“Beyond” is how much more a target differs than the yardstick, or than on other {unit}, "
    "whichever is less; it is above {margin} in each, and all intervals of a target hold together "
    "in 95 of 100 runs."
)

_FILLED = (
    " Regions by words, length or columns with fewer than {fill} texts in that half have further "
    "ones from the rest of the data."
)


def _share(region: Region, value: float) -> str:
    """A difference of accuracy in points, everything else in per cent."""
    if region.measure in ("accuracy", "gain"):
        return f"{points(value).lstrip('+')}\N{NO-BREAK SPACE}points"
    return rounded_percent(value)


def region_sentence(region: Region, manifest: Manifest, address: str = "") -> Paragraph:
    """Where a target differs: its share in the region, the yardstick's, and that on other texts."""
    name: Text = (Span(region.name, "strong", foreign=True, link=address),)
    beside = [prose("elsewhere {share}", share=_share(region, region.outside))]
    if region.yardstick is not None and manifest.baseline is not None:
        named = prose("{name}", name=manifest.baseline.name)
        beside.insert(0, (*named, Span(f" {_share(region, region.yardstick)}")))
    return Paragraph(
        together(
            prose("**{target}**:", target=region.target),
            prose(
                _WORDS[region.measure][1],
                share=_share(region, region.inside),
                texts="questions" if region.task else "texts",
                reference=manifest.models[0].name,
                name=name,
            )
            + prose(" ({beside}).", beside=joined(beside, between="; ")),
        )
    )


def regions_fold(
    regions: Sequence[Region], manifest: Manifest, addresses: Sequence[str] = ()
) -> Iterator[Block]:
    """The table of all confirmed regions; nothing without any. Each may have an address."""
    yardstick = [manifest.baseline.name] if manifest.baseline else []
    links = addresses or [""] * len(regions)
    rows = [
        (
            prose("{name}", name=region.target),
            (Span(region.name, foreign=True, link=link),),
            _WORDS[region.measure][0],
            _share(region, region.inside),
            *(_share(region, region.yardstick or 0.0) for _ in yardstick),
            _share(region, region.outside),
            Cell.of(region.excess),
        )
        for region, link in zip(regions, links, strict=True)
        if region.confirmed
    ]
    if rows:
        of = "Questions" if regions[0].task else "Texts"
        heads = (of, "What differs", "There", *yardstick, "Elsewhere")
        columns = (Column("Model", "name"), *map(Column, heads), Column("Beyond", "estimate"))
        table = Table.with_columns(columns, rows)
        title = prose("{n} where models differ", n=counted(len(rows), "region"))
        margin, fill = rounded_percent(margin_of(manifest)), manifest.settings.get("fill")
        about = _ABOUT + _FILLED.format(fill=fill) if fill else _ABOUT
        yield Fold(title, (table, note(about, margin=margin, unit=of.lower())))


def margin_of(manifest: Manifest) -> float:
    """By how much a region differs beyond the yardstick and other texts, as it was asked for."""
    return float(str(manifest.settings.get("region_margin", REGION_MARGIN)))


_FOUND = ((2000, 9, 5), (1000, 8, 2), (500, 4, 0))
"""Of ten planted faults on 5 %, and on 2 %, of so many texts those that were found; see
docs/decisions/0046-regions.md."""


def no_region(targets: Sequence[str], texts: int) -> Paragraph:
    """That no region was confirmed, and how often faults were found in as many texts."""
    words = "**{targets}**: in no region of texts clearly more than elsewhere ({often})."
    often = prose("with fewer than 500 texts few faults are found")
    for least, five, two in _FOUND:
        if texts >= least:
            often = prose(
                "in {least} texts, {five} of 10 planted faults on 5 % of them were found, {two} of "
                "10 on 2 %",
                **{"least": least, "five": five, "two": two},
            )
            break
    return paragraph(words, targets=joined(targets, last=" and "), often=often)


def more_texts(regions: Sequence[Region]) -> Iterator[Paragraph]:
    """Suspected regions of which too few texts are there, and how many would decide."""
    for region in regions:
        if region.needed is not None and region.measure != "changes":
            more = prose(
                "{n} such texts in place of {some}",
                n=f"{2 * region.needed:,}",
                some=len(region.texts),
            )
            yield paragraph(
                "**{target}** may differ on texts {name}: {more} would decide.",
                target=region.target,
                name=region.name,
                more=prose("``--fill {n}``", n=region.needed) if region.further else more,
            )
