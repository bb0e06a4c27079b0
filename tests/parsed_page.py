"""A page as a tree, for tests that ask what a browser would see."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest


@dataclass
class Node:
    """An element of a page: its tag, attributes, text (its children's included), children."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    children: list[Node] = field(default_factory=list)

    def all(self, tag: str) -> list[Node]:
        inner = [found for child in self.children for found in child.all(tag)]
        return [self, *inner] if self.tag == tag else inner

    def walk(self) -> list[Node]:
        return [self, *(node for child in self.children for node in child.walk())]

    def section(self, name: str) -> Node:
        (match,) = (node for node in self.all("section") if node.attributes["id"] == name)
        return match

    def cells(self) -> list[list[str]]:
        """The rows of the tables below, as texts."""
        return [
            [" ".join(cell.text.split()) for cell in row.children if cell.tag in {"td", "th"}]
            for row in self.all("tr")
        ]

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


class _Parser(HTMLParser):
    VOID = frozenset({"meta", "input", "br", "img", "link", "base"})

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("document", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in self.VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].tag != tag:
            pytest.fail(f"</{tag}> closes <{self.open[-1].tag}>")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for node in self.open:
            node.text += data


def parse(html: str) -> Node:
    parser = _Parser()
    parser.feed(html)
    parser.close()
    (document,) = parser.open
    return document
