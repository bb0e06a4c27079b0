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
from functools import cache, lru_cache
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reports.blocks import Block, Card, Page
from reports.prose import Span, Written, plain, written
from reports.renderers.drawings import document_text, drawing, small_strip_svg

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
    templates = resources.files("reports.renderers") / "templates"
    return (templates / name).read_text(encoding="utf-8")


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
