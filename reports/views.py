"""The renderer: a comparison to one HTML file that loads nothing and runs one known script.

Every text of a comparison is foreign: it reaches the page through escaped templates alone. The
page's policy names the script's hash, so that no other script could run if one slipped through.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from reports.charts import curve_svg, histogram_svg, interval_svg
from reports.map import map_svg
from reports.scatter import scatter_svg
from reports.strip import small_strip_svg, strip_svg
from reports.svg import document_text
from reports.view.compare import CompareView, compare_view
from reports.view.fleet import FleetView, fleet_view
from reports.view.reuse import ReuseView, reuse_view

if TYPE_CHECKING:
    from jinja2 import Environment


View = CompareView | ReuseView | FleetView
"""What a page can be made of, one kind a job."""

GLYPHS = ("●", "■", "▲", "◆", "▼", "✚")
"""How a legend shows the series' shapes, in the charts' order."""


@dataclass(frozen=True, kw_only=True)
class HtmlRenderer:
    """Makes a self-contained HTML report of a comparison.

    Parameters
    ----------
    max_items
        How many questions of tasks are shown with their answers at most; those on which the
        models disagree most come first, and in a test of reuse those that speak most strongly.
    max_models
        How many models of a fleet are drawn and listed at most; the most accurate come first.
    """

    max_items: int = 500
    max_models: int = 3_000

    def render(self, comparison: Any) -> str:
        """The whole page; the same comparison gives the same bytes."""
        view = self._view(comparison)
        script, style = _asset("report.js"), "".join(map(_asset, view.styles))
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = _environment().get_template("view.html.j2")
        text = page.render(view=view, script=script, style=style, digest=digest)
        return document_text(text) + "\n"

    def _view(self, comparison: Any) -> View:
        if comparison.manifest.job.startswith("fleet"):
            return fleet_view(comparison, comparison.findings, max_models=self.max_models)
        if comparison.manifest.job == "compare":
            return compare_view(comparison, max_items=self.max_items)
        return reuse_view(comparison, max_items=self.max_items)


def render(comparison: Any) -> str:
    """The page of a comparison, with the usual limits."""
    return HtmlRenderer().render(comparison)


def _asset(name: str) -> str:
    """One of our own files, inlined unchanged in the page."""
    return resources.files("reports").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Made once, for it compiles the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = "{:,}".format
    drawings = (
        interval_svg,
        curve_svg,
        histogram_svg,
        map_svg,
        scatter_svg,
        strip_svg,
        small_strip_svg,
    )
    environment.globals.update({drawing.__name__: drawing for drawing in drawings}, glyphs=GLYPHS)
    return environment
