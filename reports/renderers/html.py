"""The renderer: a page to one HTML file that loads nothing and runs one known script.

Every text of a result is foreign: it reaches the page through escaped templates alone. The page's
policy names the script's hash, so that no other script could run if one slipped through.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reports.blocks import Block, Card, Page
from reports.charts import (
    Chart,
    IntervalChart,
    LayerChart,
    MapChart,
    ScatterChart,
    StripChart,
)
from reports.prose import written
from reports.renderers.charts import interval_svg
from reports.renderers.compression import compressed
from reports.renderers.layer_curves import layer_svg
from reports.renderers.map import map_svg
from reports.renderers.scatter import scatter_svg
from reports.renderers.strip import small_strip_svg, strip_svg
from reports.renderers.svg import document_text

if TYPE_CHECKING:
    from jinja2 import Environment

AT_ONCE = 20
"""Cards shown before a reader asks for more; those beyond stand compressed in the page."""

TAGS = {
    "strong": "strong",
    "alarm": "strong",
    "good": "span",
    "emphasis": "em",
    "code": "code",
    "note": "span",
    "inserted": "ins",
    "deleted": "del",
    "marked": "mark",
    "share": "span",
}
"""The element of each style of a sentence's parts."""


DRAWINGS: Mapping[type[Chart], Callable[[Any], Markup]] = {
    IntervalChart: interval_svg,
    LayerChart: layer_svg,
    MapChart: map_svg,
    ScatterChart: scatter_svg,
    StripChart: strip_svg,
}
"""What draws each kind of chart."""


def render(page: Page) -> str:
    """The whole page; the same page gives the same bytes."""
    script, style = _asset("report.js"), _asset("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    text = template.render(page=page, script=script, style=style, digest=digest)
    return document_text(text) + "\n"


def render_blocks(blocks: tuple[Block, ...]) -> str:
    """Some blocks without a page around them."""
    module = _environment().get_template("blocks.html.j2").module
    return document_text(str(module.blocks(blocks)))  # type: ignore[attr-defined]


def render_notebook(blocks: tuple[Block, ...]) -> str:
    """Some blocks as a cell of a notebook shows them, with the few rules of style they need."""
    style = f"<style>{_asset('notebook.css')}</style>"
    return f'<div class="scope-result">{style}{render_blocks(blocks)}</div>'


def drawing(chart: Chart) -> Markup:
    """The chart as SVG."""
    return DRAWINGS[type(chart)](chart)


def packed(cards: Sequence[Card], first: int) -> str:
    """The cards as the script reads them; ``first`` is the place of the first one."""
    write = _environment().get_template("blocks.html.j2").module.card  # type: ignore[attr-defined]
    return compressed(
        (card.anchor, {"order": str(place), **card.keys}, document_text(str(write(card))))
        for place, card in enumerate(cards, first)
    )


def _asset(name: str) -> str:
    """One of our own files, inlined unchanged in the page."""
    templates = resources.files("reports.renderers") / "templates"
    return (templates / name).read_text(encoding="utf-8")


def _kind(value: object) -> str:
    return type(value).__name__.lower()


@cache
def _environment() -> Environment:
    """Made once, for it compiles the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("reports.renderers"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(thousands="{:,}".format, kind=_kind)
    environment.globals.update(
        tags=TAGS,
        written=written,
        drawing=drawing,
        small_strip_svg=small_strip_svg,
        packed=packed,
        at_once=AT_ONCE,
    )
    return environment
