"""A badge as SVG: two words side by side, for the head of a README."""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup

from reports.renderers.svg import cut_to_room, document_text, letters_width

_MOST_PIXELS, _ROOM, _HEIGHT = 620, 8, 20
_COLOURS = {"good": "#1a7f37", "bad": "#c0392b", "open": "#6a737d"}

_BADGE = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
    'aria-label="{title}"><title>{title}</title>'
    '<rect width="{width}" height="{height}" rx="3" fill="#444"></rect>'
    '<rect x="{left}" width="{right}" height="{height}" rx="3" fill="{colour}"></rect>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{words}</g></svg>\n'
)
_WORDS = Markup('<text x="{}" y="14" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>')


def badge(setting: str, answer: str, kind: Literal["good", "bad", "open"]) -> str:
    """The setting of a measurement and what it says; fonts are the reader's own.

    >>> badge("SCoPE · tweets, n = 500", "✓ may replace", "good").count("<text")
    2
    """
    places, at = [], 0
    for words in (setting, answer):
        shown = cut_to_room(document_text(" ".join(words.split())), _MOST_PIXELS)
        width = letters_width(shown)
        places.append((at + _ROOM, width, shown))
        at += width + 2 * _ROOM
    left = places[0][1] + 2 * _ROOM
    return str(
        _BADGE.format(
            width=at,
            height=_HEIGHT,
            left=left,
            right=at - left,
            colour=_COLOURS[kind],
            title=document_text(f"{setting}: {answer}"),
            words=Markup().join(_WORDS.format(*place) for place in places),
        )
    )
