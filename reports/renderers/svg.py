"""Parts of which all charts are drawn, as static SVG to stand inline in a page.

Legends are left to the page: it names the series in text, and without legends the drawing does
not depend on how wide a machine's fonts make a model's name. Axes and words take the page's
text colour, so that one drawing serves the light and the dark scheme.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from markupsafe import Markup

COLOURS = ("#2f7fc1", "#d1661f", "#1f9e77", "#b5629b", "#a88600", "#7f7f7f")
"""Colours of the series, distinguishable on white, on black and by most colour-blind readers."""

OUTLINES = (
    "",
    "m-3-3h6v6h-6z",
    "m0-4l3.6 6.6h-7.2z",
    "m0-4.2l4.2 4.2l-4.2 4.2l-4.2-4.2z",
    "m0 4l3.6-6.6h-7.2z",
    "m-1.2-3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z",
)
"""The outlines around a mark's place, in the order of the legend's glyphs; circles have none.

Colour is never the only sign of a series.
"""

FAINT = "#8883"
"""The colour of lines that guide the eye."""

INK = "currentColor"
"""The page's text colour."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LETTER = 6.6
"""The mean width in pixels of a Latin letter of 12 pixels; East Asian ones take two."""

_LONGEST_NAME = 190
"""Pixels of the longest name beside a dot."""

_FRAME = Markup(
    '<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'font-family="sans-serif" font-size="12" fill="currentColor">{content}</svg>'
)
LINE = Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}"></line>')
TEXT = Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>')
BAND = Markup('<polygon points="{}" fill="{}" fill-opacity="0.15"></polygon>')
_CIRCLE = Markup('<circle cx="{}" cy="{}" r="{}" fill="{}">{}</circle>')
_PATH = Markup('<path d="M{} {}{}" fill="{}">{}</path>')
_TITLE = Markup("<title>{}</title>")


def document_text(text: str) -> str:
    r"""The text with every character that no document may hold replaced.

    >>> document_text("a\x00b\ud800")
    'a\ufffdb\ufffd'
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def framed(width: float, height: float, content: Iterable[Markup]) -> Markup:
    """A whole drawing of so many pixels."""
    return _FRAME.format(width=round(width), height=round(height), content=Markup().join(content))


def pixel(value: float) -> str:
    """A place in a drawing, to a tenth of a pixel."""
    return f"{value:.1f}"


def colour_of(series: int) -> str:
    """A series' colour; more series than colours begin again."""
    return COLOURS[series % len(COLOURS)]


def mark(
    series: int, x: float, y: float, *, fill: str = "", title: str = "", radius: float = 3
) -> Markup:
    """A series' shape at a place, with a title that a browser shows when pointed at."""
    outline = OUTLINES[series % len(OUTLINES)]
    inner = _TITLE.format(document_text(title)) if title else Markup()
    if outline:
        return _PATH.format(pixel(x), pixel(y), outline, fill or colour_of(series), inner)
    return _CIRCLE.format(pixel(x), pixel(y), radius, fill or colour_of(series), inner)


def cut_to_room(words: str, room: float) -> str:
    """Words in about so many pixels, cut with an ellipsis where they are longer.

    >>> cut_to_room("Hard-SCoPE", 70), cut_to_room("Hard-SCoPE", 40)
    ('Hard-SCoPE', 'Hard-…')
    """
    for place in range(len(words)):
        if letters_width(words[: place + 1]) > room:
            return f"{words[: max(place - 1, 0)]}…"
    return words


def letters_width(words: str) -> int:
    """About how many pixels words take.

    >>> letters_width("SCoPE"), letters_width("映画")
    (33, 26)
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    return int(_LETTER * (len(words) + wide))


class Scale(NamedTuple):
    """Where numbers from ``low`` to ``high`` lie on a stretch of pixels."""

    low: float
    high: float
    start: float
    length: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * self.length

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Pixel and words of each round number, about so many at most."""
        step, decimals = round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        numbers = [place * step for place in range(first, last + 1)]
        return [(self.at(one), f"{one:.{decimals}f}".replace("-", "−")) for one in numbers]


def round_step(least: float) -> tuple[float, int]:
    """The smallest of 1, 2, 5, 10 and their tenths, … that is at least this; its decimals.

    >>> round_step(0.03), round_step(3)
    ((0.05, 2), (5.0, 0))
    """
    power = 10.0 ** math.floor(math.log10(least))
    step = float(next(one * power for one in (1, 2, 5, 10) if one * power >= least * (1 - 1e-9)))
    return step, max(0, -math.floor(math.log10(step) + 1e-9))


def axis_below(
    across: Scale, bottom: float, title: str, *, most: int = 11, grid_from: float | None = None
) -> Iterator[Markup]:
    """A line with ticks, their numbers and a title below a drawing, and a grid if wanted."""
    for x, words in across.ticks(most):
        if grid_from is not None:
            yield LINE.format(pixel(x), grid_from, pixel(x), bottom, FAINT, 1)
        yield LINE.format(pixel(x), pixel(bottom), pixel(x), pixel(bottom + 5), INK, 1)
        yield TEXT.format(pixel(x), pixel(bottom + 18), "middle", words)
    right = across.start + across.length
    yield LINE.format(pixel(across.start), pixel(bottom), pixel(right), pixel(bottom), INK, 1)
    yield TEXT.format(pixel((across.start + right) / 2), pixel(bottom + 38), "middle", title)


def axis_beside(up: Scale, across: Scale, most: int) -> Iterator[Markup]:
    """Faint lines across a drawing, with their numbers at the left."""
    left, right = pixel(across.start), pixel(across.start + across.length)
    for y, words in up.ticks(most):
        yield LINE.format(left, pixel(y), right, pixel(y), FAINT, 1)
        yield TEXT.format(pixel(across.start - 6), pixel(y + 4), "end", words)


def names_beside(dots: Iterable[tuple[float, float, str]], right: float) -> Iterator[Markup]:
    """The names of dots, the first ones first, each where it hides no dot and no other name.

    Names without such a place up to ``right`` are left out.
    """
    dots = list(dots)
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in dots]
    for x, y, name in dots:
        words = cut_to_room(document_text(name), _LONGEST_NAME)
        width = _LETTER * sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in words)
        middle = min(max(x, width / 2), right - width / 2)
        for anchor, at, down, left in (
            ("start", x + 8, 4, x + 8),
            ("end", x - 8, 4, x - 8 - width),
            ("middle", middle, -9, middle - width / 2),
            ("middle", middle, 18, middle - width / 2),
        ):
            box = (left, y + down - 10, left + width, y + down + 2)
            if (
                words
                and left >= 0
                and box[2] <= right
                and not any(_cross(box, one) for one in taken)
            ):
                taken.append(box)
                yield TEXT.format(pixel(at), pixel(y + down), anchor, words)
                break


def _cross(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    apart = one[0] > other[2] or other[0] > one[2] or one[1] > other[3] or other[1] > one[3]
    return not apart
