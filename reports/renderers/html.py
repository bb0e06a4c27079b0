"""The renderer: a page to one HTML file that loads nothing and runs one known script.

Every text of a result is foreign: it reaches the page through escaped templates alone. The page's
policy names the script's hash, so that no other script can run even if escaping fails.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from typing import TYPE_CHECKING, Any

from reports.blocks import Block, Card, Page
from reports.prose import written
from reports.renderers.svg import document_text

if TYPE_CHECKING:
    from jinja2 import Environment
import math
from collections.abc import Iterator

from markupsafe import Markup

from reports.charts import Chart, Dot, Series, SmallStrip
from reports.renderers.svg import (
    FAINT,
    INK,
    TICKS,
    Scale,
    element,
    framed,
    line,
    mark,
    names_beside,
    path,
    round_step,
    words,
)

AT_ONCE = 20
"""Cards shown before a reader asks for more; the others are compressed in the page."""


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
    """Some blocks for a notebook cell, with the style rules they need."""
    style = f"<style>{_asset('notebook.css')}</style>"
    return f'<div class="scope-result">{style}{render_blocks(blocks)}</div>'


def _asset(name: str) -> str:
    """A file of this package, inlined unchanged in the page."""
    templates = resources.files("reports.renderers") / "templates"
    return (templates / name).read_text(encoding="utf-8")


def _kind(value: object) -> str:
    return type(value).__name__.lower()


@cache
def _environment() -> Environment:
    """Cached, as it compiles the templates."""
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
        written=written,
        drawing=drawing,
        small_strip_svg=small_strip_svg,
        packed=packed,
        at_once=AT_ONCE,
    )
    return environment


HOLE = "\0"
"""Placeholder of a text in a form; it occurs in no document."""

_TEXTS = re.compile(r'(?:(?<= value=")|(?<= href="#))[^"]+|(?<=>)(?!\n+<)[^<>]+(?=<)')
"""The texts of escaped markup; a line break between two elements belongs to the form."""


def packed(cards: Sequence[Card], first: int) -> str:
    """The cards as the script reads them; ``first`` is the place of the first one."""
    write = _environment().get_template("blocks.html.j2").module.card  # type: ignore[attr-defined]
    return compressed(
        (card.anchor, {"order": str(place), **card.keys}, document_text(str(write(card))))
        for place, card in enumerate(cards, first)
    )


def compressed(pieces: Iterable[tuple[str, Mapping[str, str], str]]) -> str:
    """Pieces of escaped markup, each with its name and keys, as compressed JSON.

    The JSON has each form of markup once: ``forms`` are elements as ``[tag, attributes, child,
    ...]``; ``pieces`` hold the place of a form, the name, the keys, and the texts in the order of
    the form's holes. The page's script puts the texts in as text, so that no foreign text is ever
    read as markup.
    """
    forms: dict[str, int] = {}
    written = []
    for name, keys, markup in pieces:
        form = forms.setdefault(_TEXTS.sub(HOLE, markup), len(forms))
        written.append((form, name, keys, list(map(unescape, _TEXTS.findall(markup)))))
    content = {"forms": [_Form(form).root for form in forms], "pieces": written}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


class _Form(HTMLParser):
    """A form as a tree.

    >>> _Form('<p class="note">a <b>\\0</b></p>').root
    ['article', {}, ['p', {'class': 'note'}, 'a ', ['b', {}, '\\x00']]]
    """

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.root: list[Any] = ["article", {}]
        self._open = [self.root]
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element: list[Any] = [tag, {name: value or "" for name, value in attrs}]
        self._open[-1].append(element)
        self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].append(data)


MANY = 300
"""From this number on, dots are smaller and have no names."""


def drawing(chart: Chart) -> Markup:
    """The chart as SVG: axes and guides, every series, the largest below, and names of dots."""
    left, top, right, below = (56, 12, 20, 44) if chart.x_title else (14, 14, 14, 14)
    width, height = chart.size
    x_ends, y_ends = chart.ends or _ends(chart)
    across = Scale(*x_ends, left, width)
    up = Scale(*y_ends, top + height, -height)  # pixels count downwards
    dots = chart.dots
    many = len(dots) > MANY
    names = [(across.at(dot.x), up.at(dot.y), dot.name) for dot in dots if dot.name and not many]
    wide = left + width + right
    return framed(
        wide,
        top + height + below,
        *(_axes(chart, across, up) if chart.x_title else ()),
        *(
            _series(series, chart.joined, across, up, radius=2.5 if many else 4)
            for series in sorted(chart.series, key=lambda series: -len(series.dots))
        ),
        element("g", *names_beside(names, wide)),
        style=None if chart.x_title else "map",
    )


def _ends(chart: Chart) -> Sequence[tuple[float, float]]:
    """The ends of the axes."""
    places = [(dot.x, y) for dot in chart.dots for y in (dot.interval or (dot.y,))]
    places += [place for guide in chart.guides for place in (guide.start, guide.end)]
    xs, ys = zip(*places, strict=True)
    if chart.diagonal:
        xs = ys = xs + ys
    if chart.x_title:
        return _round_ends(xs), _round_ends(ys)
    # On a map a pixel is as long in both directions.
    sides = tuple(zip((xs, ys), chart.size, strict=True))
    half = max((max(side) - min(side)) / pixels for side, pixels in sides) / 2 or 1.0
    middles = ((max(side) + min(side)) / 2 for side in (xs, ys))
    return [
        (middle - half * pixels, middle + half * pixels)
        for middle, pixels in zip(middles, chart.size, strict=True)
    ]


def _round_ends(numbers: Sequence[float]) -> tuple[float, float]:
    """Round numbers below and above all values."""
    step, _ = round_step(max((max(numbers) - min(numbers)) / (TICKS - 2), 0.01))
    first = math.floor(min(numbers) / step + 1e-9)
    return first * step, max(math.ceil(max(numbers) / step - 1e-9), first + 1) * step


def _axes(chart: Chart, across: Scale, up: Scale) -> Iterator[Markup]:
    """Both axes with their titles, and the lines to compare dots with."""
    left, right, bottom = across.start, across.end, up.start
    for y, number in up.ticks(TICKS, whole=_whole(dot.y for dot in chart.dots)):
        yield line(left, y, right, y, FAINT)
        yield words(left - 6, y + 4, number, "end")
    for x, number in across.ticks(TICKS, whole=_whole(dot.x for dot in chart.dots)):
        yield line(x, bottom, x, bottom + 5)
        yield words(x, bottom + 18, number)
    yield line(left, bottom, right, bottom)
    yield words((left + right) / 2, bottom + 38, chart.x_title)
    place = f"translate(14 {(bottom + up.end) / 2:g}) rotate(-90)"
    yield element("text", chart.y_title, transform=place, text_anchor="middle")
    if chart.diagonal:
        yield line(left, bottom, right, up.end, dashes="5 4")
    for (x, y), (to_x, to_y), _ in chart.guides:
        yield line(across.at(x), up.at(y), across.at(to_x), up.at(to_y), dashes="5 4")


def _whole(numbers: Iterable[float]) -> bool:
    """Whether all numbers are whole: then the axis has only whole numbers."""
    return all(number == round(number) for number in numbers)


def _series(series: Series, joined: float, across: Scale, up: Scale, *, radius: float) -> Markup:
    """The dots of a series in one element with their colour, which keeps the file small."""
    content: list[Markup] = []
    for run in _runs(series.dots, joined):
        places = [(across.at(dot.x), up.at(dot.y)) for dot in run]
        lows, highs = (
            [(across.at(dot.x), up.at(dot.interval[end])) for dot in run if dot.interval]
            for end in (0, 1)
        )
        if len(run) > 1:
            band = path((*lows, *reversed(highs)))
            content += (
                element("polygon", points=band, fill_opacity="0.15"),
                element(
                    "polyline", points=path(places), fill="none", stroke=INK, stroke_width=1.75
                ),
            )
        else:
            content += (line(*low, *high, width=1.5) for low, high in zip(lows, highs, strict=True))
        content += (
            mark(series.shape, x, y, dot.title, radius)
            for dot, (x, y) in zip(run, places, strict=True)
        )
    return element(
        "g",
        *content,
        class_=series.key.style,
        fill="currentColor",
        fill_opacity="0.75",
        # The clear stroke makes a small dot easier to point at.
        stroke="#0000",
        stroke_width=4,
        pointer_events="all",
    )


def _runs(dots: Iterable[Dot], joined: float) -> list[list[Dot]]:
    """The dots in groups of neighbours with at most this horizontal distance."""
    runs: list[list[Dot]] = []
    for dot in dots:
        if runs and 0 < dot.x - runs[-1][-1].x <= joined:
            runs[-1].append(dot)
        else:
            runs.append([dot])
    return runs


def small_strip_svg(chart: SmallStrip) -> Markup:
    """One row: levels, and the estimate with its interval.

    Places are in per cent, so that the drawing is as wide as its cell.
    """
    height, interval = 22, chart.estimate
    middle = height / 2
    scale = Scale(*chart.ends, 6, 88)

    def at(value: float) -> str:
        return f"{scale.at(value):.2f}%"

    levels = (
        line(at(level), 0, at(level), height, width=1.5, dashes="2 3" if dotted else None)
        for level, dotted in chart.levels
    )
    estimate = (
        line(at(interval.low), middle, at(interval.high), middle, width=3),
        mark(0, at(interval.value), middle, chart.label, 5),
    )
    return element(
        "svg",
        line(0, middle, "100%", middle, "#8886"),
        *levels,
        element("g", *estimate, class_="s1", fill="currentColor"),
        width="100%",
        height=height,
    )
