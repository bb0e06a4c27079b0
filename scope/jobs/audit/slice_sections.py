"""Where a target differs, in sentences: slices of the texts, and one capability against another."""

from __future__ import annotations

from collections.abc import Iterator

from reports.builders.estimates import CLEAN, short_name
from reports.prose import Text, prose
from reports.wording import p_value, short
from scope.estimation.slices import MINUS
from scope.records import AuditResult, Difference, SliceTest, Undefined

_LEVEL = 0.05


def where_targets_differ(result: AuditResult) -> Iterator[Text]:
    """The slices that differ, and the capabilities on which a target follows the reference less.

    Baseline and floor have no sentence; with a baseline a difference is what lies beyond its own.
    """
    judged = {card.name for card in result.manifest.targets if card.role == "target"}
    tests = [one for one in result.slice_tests if one.worst.target in judged]
    clear = [one for one in tests if one.p_adjusted < _LEVEL]
    yield from map(_slices, clear)
    if tests and not clear:
        yield prose("No slice of the texts is shown to differ from the others.")
    other = (result.manifest.baseline or result.manifest.reference).name
    pairs = [
        one
        for one in result.differences
        if MINUS in str(one.capability) and one.first in judged and one.second == other
    ]
    sentences = [text for one in pairs for text in _capabilities(one, result)]
    yield from sentences
    if pairs and not sentences:
        yield prose("No target is shown to differ between two capabilities.")


def _slices(one: SliceTest) -> Text:
    """The worst slice of a grouping whose slices differ."""
    metric = short_name(one.worst.metric).removeprefix("IID ").capitalize()
    return prose(
        f"{metric} of **{{target}}** on {{part}} differs by {{grouping}}: it is lowest on "
        "**{worst}**, {estimate} ({n} texts; corrected p {p}).",
        target=one.worst.target,
        part=one.worst.capability or CLEAN,
        grouping=one.grouping,
        worst=str(one.worst.subset),
        estimate=short(one.worst.estimate),
        n=one.worst.estimate.n,
        p=p_value(one.p_adjusted),
    )


def _capabilities(one: Difference, result: AuditResult) -> Iterator[Text]:
    """On which of two capabilities a target clearly follows the reference less."""
    if isinstance(one.estimate, Undefined) or one.estimate.side == "unclear":
        return
    less, more = str(one.capability).split(MINUS)[:: -1 if one.estimate.value > 0 else 1]
    lead: Text = ()
    less_on = "follows the reference less on"
    if result.manifest.baseline:
        lead = prose("Compared with the baseline {name}, ", name=one.second)
        less_on = "loses more on"
    said = prose(
        f"**{{target}}** {less_on} **{{less}}** than on **{{more}}**: "
        "concordance on {difference} {estimate} ({n} texts), not corrected over targets.",
        target=one.first,
        less=less,
        more=more,
        difference=str(one.capability),
        estimate=short(one.estimate),
        n=one.estimate.n,
    )
    yield (*lead, *said)
