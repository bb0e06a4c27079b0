"""Which sections a page has."""

from __future__ import annotations

from typing import NamedTuple


class Section(NamedTuple):
    """A section: its anchor in the page, its words in the list of sections, its template."""

    anchor: str
    title: str
    template: str
