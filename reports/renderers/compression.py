"""Many pieces of markup as little text: each form once, and of each piece only its texts.

The page's script builds elements of a form and puts the texts in as text, so that no foreign text
is ever read as markup.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from html import unescape
from html.parser import HTMLParser
from typing import Any

HOLE = "\0"
"""Where a text stands in a form; no document holds it."""

_TEXTS = re.compile(r'(?:(?<= value=")|(?<= href="#))[^"]+|(?<=>)(?!\n+<)[^<>]+(?=<)')
"""The texts of escaped markup; a break between two elements belongs to the form."""


def compressed(pieces: Iterable[tuple[str, Mapping[str, str], str]]) -> str:
    """Pieces of our own escaped markup, each with its name and keys, as compressed JSON.

    ``forms`` are elements as ``[tag, attributes, child, ...]``; ``pieces`` hold the place of a
    form, the name, the keys, and the texts in the order of the form's holes.
    """
    forms: dict[str, int] = {}
    written = [
        (forms.setdefault(_TEXTS.sub(HOLE, markup), len(forms)), name, keys, _texts(markup))
        for name, keys, markup in pieces
    ]
    found = {"forms": [_Form(form).root for form in forms], "pieces": written}
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _texts(markup: str) -> list[str]:
    return [unescape(text) for text in _TEXTS.findall(markup)]


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
