"""A section of a third party: the longest text of an audit."""

from __future__ import annotations

from reports.blocks import Passage, Section, paragraph
from reports.prose import written
from scope.records import AuditResult, Result


def longest(result: Result) -> Section | None:
    """The longest original text; of other jobs nothing."""
    if not isinstance(result, AuditResult) or not result.examples:
        return None
    text = max((one.example.text for one in result.examples), key=len)
    return Section(
        anchor="longest",
        title="Longest text",
        blocks=(paragraph("It has {n} characters:", n=len(text)), Passage(written(text))),
    )
