"""The page of a result: its job's sections, and those that plugins add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from scope.errors import ScopeError, SpecError
from scope.foreign import ForeignCode
from scope.jobs import job_named
from scope.records import Result
from scope.registry import Entry, entries, find
from scope.sections.blocks import Page, Section, paragraph
from scope.sections.markdown import to_markdown
from scope.sections.terminal import to_text


def page_of(result: Result) -> Page:
    """The report of a result.

    A plugin adds a section to it under the entry point ``scope.sections``: a function that takes
    the result and returns a `scope.sections.blocks.Section`, or None where it has nothing to say
    of such a result. It stands before the last section. One that fails says so in its place.

    Raises
    ------
    SpecError
        When the plugin that has the job is not installed.
    """
    page = _own_page(result)
    added = tuple(_added(result))
    return replace(page, sections=(*page.sections[:-1], *added, *page.sections[-1:]))


def html_of(result: Result) -> str:
    """The report as one HTML document."""
    return str(find("parts", "html").target(page_of(result)))


def notebook_html(result: Result) -> str:
    """The first tables of the report, for a notebook."""
    return str(find("parts", "html_blocks").target(page_of(result).brief))


def markdown_of(result: Result) -> str:
    """The report as Markdown."""
    return to_markdown(page_of(result))


def terminal_text(result: Result) -> str:
    """The tables of the terminal as plain text."""
    return to_text(page_of(result).brief)


def _own_page(result: Result) -> Page:
    module, _, name = job_named(result.manifest.job).page.partition(":")
    page: Page = getattr(import_module(module), name)(result)
    return page


def _added(result: Result) -> Iterator[Section]:
    for place, entry in enumerate(entries("sections"), start=1):
        section = _section(entry, result)
        if section is not None:
            yield replace(section, anchor=f"added-{place}")


def _section(entry: Entry, result: Result) -> Section | None:
    try:
        if entry.error is not None:
            raise SpecError(entry.error, expected="", fix="")
        section = ForeignCode(f"{entry.name} of {entry.origin}").call("call", entry.target, result)
        if section is None or isinstance(section, Section):
            return section
        reason = f"it returned a {type(section).__name__}, not a Section"
    except ScopeError as error:
        reason = error.found
    about = paragraph(
        "The section ``{name}`` of {origin} could not be made: {reason}.",
        name=entry.name,
        origin=entry.origin,
        reason=reason,
    )
    return Section(anchor="added", title=entry.name, blocks=(about,))
