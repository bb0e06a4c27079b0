"""A page as one HTML file that loads nothing and runs one known script; its charts as inline SVG.

Every text of a result is foreign: it reaches the page through escaped templates alone. The page's
policy names the script's hash, so that no other script can run even if escaping fails.

The numbers of a chart are also in a table beside it. The page has the legends as text, so that the
drawing does not depend on the width of a model's name in a machine's fonts. Axes and words have the
page's text colour, so that one drawing serves the light and the dark scheme.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from reports.blocks import Block, Card, Chart, Dot, Page, Series, SmallStrip
from reports.prose import Span, Written, plain, written

if TYPE_CHECKING:
    from jinja2 import Environment


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
    templates = resources.files("reports") / "templates"
    return (templates / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Cached, as it compiles the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        thousands="{:,}".format, kind=lambda value: type(value).__name__.lower()
    )
    environment.globals.update(
        inline=inline,
        unbroken=unbroken,
        plain=plain,
        letters=lambda value: len(plain(written(value))),
        drawing=drawing,
        small_strip_svg=small_strip_svg,
        packed=packed,
        at_once=AT_ONCE,
    )
    return environment


def inline(text: Written | None) -> Markup:
    r"""A sentence, or a value, as markup; an interval is never broken into two lines.

    Foreign text is in <bdi>, so that right-to-left text cannot reorder its neighbours.

    >>> print(inline((Span("<m>", "strong", foreign=True), Span(": 0.5 [0.25, 0.75]"))))
    <strong><bdi>&lt;m&gt;</bdi></strong>: 0.5\xa0[0.25,\xa00.75]
    """
    return Markup().join(map(_span, written(text)))


@lru_cache(maxsize=10_000)
def _span(span: Span) -> Markup:
    """A part of a sentence; cached, as thousands of cards repeat labels and numbers."""
    text = span.text
    if not span.foreign or _NUMBERS.fullmatch(text):
        text = _INTERVAL.sub(lambda match: match[0].replace(" ", "\u00a0"), text)
    words = (Markup("<bdi>{}</bdi>") if span.foreign else Markup("{}")).format(unbroken(text))
    if span.style == "share":
        most = Markup(' max="100"') if "%" in text else ""
        bar = Markup('<meter value="{}"{} aria-hidden="true"></meter>')
        words += bar.format(text.partition("\u00a0")[0], most)
    if span.link:
        target = span.link if "/" in span.link else f"#{span.link}"
        words = Markup('<a href="{}">{}</a>').format(target, words)
    if (tag := _TAGS.get(span.style)) is None:
        return words
    named = tag == "span" or span.style == "alarm"
    kind = Markup(' class="{}"').format(span.style) if named else ""
    return Markup("<{0}{1}>{2}</{0}>").format(tag, kind, words)


def unbroken(text: str) -> Markup:
    """A text whose options are not broken after their dashes.

    >>> print(unbroken("<--n-most 9"))
    &lt;<span class="option">--n-most</span> 9
    """
    option = Markup('<span class="option">{}</span>')
    parts = enumerate(_OPTION.split(text))
    return Markup().join(option.format(part) if place % 2 else part for place, part in parts)


_OPTION = re.compile(r"(--[a-z][a-z-]*)")
_TAGS: Mapping[str, str]
_TAGS = {
    **{"strong": "strong", "alarm": "strong", "emphasis": "em", "code": "code"},
    **dict.fromkeys(("good", "open", "pale", "note", "share"), "span"),
    **{"inserted": "ins", "deleted": "del", "marked": "mark"},
}
_INTERVAL = re.compile(r" ?\[[−+\d., ]+\]")
_NUMBERS = re.compile(rf"[−+\d.]+(\u00a0%)?{_INTERVAL.pattern}")

HOLE = "\0"
"""Placeholder of a text in a form; it occurs in no document."""

_TEXTS = re.compile(r'((?:(?<= value=")|(?<= href="#))[^"]+|(?<=>)(?!\n+<)[^<>]+(?=<))')
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
        parts = _TEXTS.split(markup)
        form = forms.setdefault(HOLE.join(parts[::2]), len(forms))
        written.append((form, name, keys, list(map(unescape, parts[1::2]))))
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
    left = 14 if chart.y_title is None else left
    width, height = chart.size
    x_ends, y_ends = chart.ends or _ends(chart)
    across = Scale(*x_ends, left, width)
    up = Scale(*y_ends, top + height, -height)  # pixels count downwards
    dots = chart.dots
    many = len(dots) > MANY
    names = [(across.at(dot.x), up.at(dot.y), "" if many else dot.name) for dot in dots]
    # A name hides no line between two places, which is as if it had dots.
    for start, end, _ in chart.guides:
        steps = [step / 40 for step in range(41)]
        xs, ys = ([a + (b - a) * step for step in steps] for a, b in zip(start, end, strict=True))
        names += [(across.at(x), up.at(y), "") for x, y in zip(xs, ys, strict=True)]
    wide = left + width + right
    high = top + height + below
    return element(
        "svg",
        *(_axes(chart, across, up) if chart.x_title else ()),
        *(
            _series(series, chart.joined, across, up, radius=2.5 if many else 4)
            for series in sorted(chart.series, key=lambda series: -len(series.dots))
        ),
        element("g", *names_beside(names, wide)),
        viewBox=f"0 0 {wide} {high}",
        width=wide,
        height=high,
        font_family="sans-serif",
        font_size=12,
        fill=INK,
        class_=None if chart.x_title else "map",
    )


def _ends(chart: Chart) -> Sequence[tuple[float, float]]:
    """The ends of the axes."""
    places = [(dot.x, y) for dot in chart.dots for y in (dot.interval or (dot.y,))]
    places += [place for guide in chart.guides for place in (guide.start, guide.end)]
    xs, ys = zip(*places, strict=True)
    if chart.x_title:
        return _round_ends(xs), (
            min(ys) - 1,
            max(ys) + 1,
        ) if chart.y_title is None else _round_ends(ys)
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
    rows = {dot.y for dot in chart.dots} if chart.y_title is None else ()
    for y in rows:
        yield line(left, up.at(y), right, up.at(y), FAINT)
    whole = _whole(dot.y for dot in chart.dots)
    for y, number in up.ticks(TICKS, whole=whole) if chart.y_title is not None else ():
        yield line(left, y, right, y, FAINT)
        yield words(left - 6, y + 4, number, "end")
    for x, number in across.ticks(TICKS, whole=_whole(dot.x for dot in chart.dots)):
        yield line(x, bottom, x, bottom + 5)
        yield words(x, bottom + 18, number)
    yield line(left, bottom, right, bottom)
    yield words((left + right) / 2, bottom + 38, chart.x_title)
    place = f"translate(14 {(bottom + up.end) / 2:g}) rotate(-90)"
    if chart.y_title:
        yield element("text", chart.y_title, transform=place, text_anchor="middle")
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
        fill_opacity="0.75" if len(series.dots) > 1 else None,
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
    """One row: the estimate with its interval, on zones if it is judged.

    Places are in per cent, so that the drawing is as wide as its cell.
    """
    height, interval, (low, high) = 16, chart.estimate, chart.ends
    middle, scale = height / 2, Scale(low, high, 3, 94)

    def at(value: float) -> str:
        return f"{scale.at(min(max(value, low), high)):.2f}%"

    estimate = [line(at(interval.low), middle, at(interval.high), middle, width=3)]
    if low <= interval.value <= high:
        estimate.append(mark(0, at(interval.value), middle, chart.label, 4))
    # What lies beyond the scale ends in an arrow at the edge.
    estimate += [words("0%", middle + 4, "◂", "start")] * (interval.low < low)
    estimate += [words("100%", middle + 4, "▸", "end")] * (interval.high > high)
    return element(
        "svg",
        *(_zones(chart, at, height) or [line(0, middle, "100%", middle, "#8886")]),
        element("g", *estimate, class_=chart.verdict or "s1", fill="currentColor"),
        width="100%",
        height=height,
    )


def _zones(chart: SmallStrip, at: Callable[[float], str], height: float) -> list[Markup]:
    """Red, and green between the limits, which are lines; nothing where nothing is judged."""
    if chart.least is None:
        return []
    limits = [limit for limit in (chart.least, chart.most) if limit is not None]
    start, end = at(chart.least), "100%" if chart.most is None else at(chart.most)
    wide = f"{float(end[:-1]) - float(start[:-1]):.2f}%"
    return [
        element("rect", class_="no", width="100%", height=height),
        element("rect", class_="yes", x=start, width=wide, height=height),
        *(line(at(limit), 0, at(limit), height, "#888") for limit in limits),
    ]


OUTLINES = (
    "",
    "m-3-3h6v6h-6z",
    "m0-4l3.6 6.6h-7.2z",
    "m0-4.2l4.2 4.2l-4.2 4.2l-4.2-4.2z",
    "m0 4l3.6-6.6h-7.2z",
    "m-1.2-3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z",
)
"""The outlines around a mark's place, in the order of the legend's glyphs; circles have none.

Colours are classes of the style sheet. Colour is never the only sign of a series.
"""

TICKS = 7
"""Approximate count of numbers at an axis."""

FAINT = "#8883"
"""The colour of lines that guide the eye."""

INK = "currentColor"
"""The page's text colour."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LETTER = 6.6
"""The mean width in pixels of a Latin letter of 12 pixels; East Asian ones take two."""

_ATTRIBUTE, _ELEMENT = Markup(' {}="{}"'), Markup("<{0}{1}>{2}</{0}>")


def document_text(text: str) -> str:
    r"""The text with every character replaced that is invalid in a document.

    >>> document_text("a\x00b\ud800")
    'a\ufffdb\ufffd'
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def element(tag: str, *content: str, **attributes: str | float | None) -> Markup:
    """An element; numbers are pixels, to a tenth, and texts are escaped.

    >>> print(element("text", "a < b", x=1.25, text_anchor="end", fill=None))
    <text x="1.2" text-anchor="end">a &lt; b</text>
    """
    written = (
        _ATTRIBUTE.format(name.rstrip("_").replace("_", "-"), pixel(value))
        for name, value in attributes.items()
        if value is not None
    )
    inner = (text if isinstance(text, Markup) else document_text(text) for text in content)
    return _ELEMENT.format(tag, Markup().join(written), Markup().join(inner))


def pixel(value: str | float) -> str:
    """A place in a drawing, to a tenth of a pixel."""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def line(
    x1: str | float,
    y1: float,
    x2: str | float,
    y2: float,
    colour: str = INK,
    width: str | float = 1,
    dashes: str | None = None,
) -> Markup:
    """A line between two places."""
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    stroke = {"stroke": colour, "stroke_width": str(width), "stroke_dasharray": dashes}
    return element("line", **ends, **stroke)


def words(x: str | float, y: float, text: str, anchor: str = "middle") -> Markup:
    """Words whose ``anchor`` (start, middle or end) is at a place."""
    return element("text", text, x=x, y=y, text_anchor=anchor)


def path(points: Iterable[tuple[float, float]]) -> str:
    """Places in a row."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def mark(shape: int, x: str | float, y: float, title: str, radius: float = 3) -> Markup:
    """A shape at a place, with a tooltip."""
    outline, inner = OUTLINES[shape % len(OUTLINES)], element("title", title)
    if outline:
        return element("path", inner, d=f"M{pixel(x)} {pixel(y)}{outline}")
    return element("circle", inner, cx=x, cy=y, r=str(radius))


def letters_width(text: str) -> int:
    """The approximate width of words in pixels.

    >>> letters_width("SCoPE"), letters_width("映画")
    (33, 26)
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return int(_LETTER * (len(text) + wide))


class Scale(NamedTuple):
    """A scale that maps numbers from ``low`` to ``high`` to pixels."""

    low: float
    high: float
    start: float
    length: float

    @property
    def end(self) -> float:
        """The pixel of its last number."""
        return self.start + self.length

    def at(self, value: float) -> float:
        """The pixel of a value; the middle where all numbers are equal."""
        span = self.high - self.low
        return self.start + ((value - self.low) / span if span else 0.5) * self.length

    def ticks(self, most: int, *, whole: bool = False) -> list[tuple[float, str]]:
        """Pixel and words of each round, or ``whole``, number, about ``most`` at most."""
        step, decimals = round_step(max((self.high - self.low) / most, whole))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        numbers = [place * step for place in range(first, last + 1)]
        return [(self.at(number), f"{number:.{decimals}f}".replace("-", "−")) for number in numbers]


def round_step(least: float) -> tuple[float, int]:
    """The smallest of 1, 2, 5, 10 and their tenths, … that is at least ``least``; its decimals.

    >>> round_step(0.03), round_step(3)
    ((0.05, 2), (5.0, 0))
    """
    power = 10.0 ** math.floor(math.log10(least))
    step = float(next(unit * power for unit in (1, 2, 5, 10) if unit * power >= least * (1 - 1e-9)))
    return step, max(0, -math.floor(math.log10(step) + 1e-9))


def names_beside(dots: Iterable[tuple[float, float, str]], right: float) -> Iterator[Markup]:
    """The names of dots in order, each at a place where it hides no dot and no other name.

    Names without such a place up to ``right`` are left out.
    """
    dots = list(dots)
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in dots]
    for x, y, name in dots:
        shown = document_text(name)
        width = letters_width(shown)
        middle = min(max(x, width / 2), right - width / 2)
        for anchor, at, down, left in (
            ("start", x + 8, 4, x + 8),
            ("end", x - 8, 4, x - 8 - width),
            ("middle", middle, -9, middle - width / 2),
            ("middle", middle, 18, middle - width / 2),
        ):
            box = (left, y + down - 10, left + width, y + down + 2)
            apart = (
                box[0] > other[2] or other[0] > box[2] or box[1] > other[3] or other[1] > box[3]
                for other in taken
            )
            if shown and left >= 0 and box[2] <= right and all(apart):
                taken.append(box)
                yield words(at, y + down, shown, anchor)
                break
