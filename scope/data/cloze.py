"""Sentences of running text with one word taken out."""

from __future__ import annotations

from collections.abc import Iterator

from scope.data.blanks import blank
from scope.data.columns import choose_columns, first_of
from scope.data.fields import Fields
from scope.data.items import Draft
from scope.data.prose import paragraphs
from scope.data.sentences import is_clean, sentences
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.records import Item, Question

CATEGORY_NAMES = ("book", "category", "title")
"""The columns that say which part of the data a text belongs to; the first there is counts."""


def read_cloze(spec: str, *, min_words: int, max_words: int, seed: int) -> Iterator[Draft]:
    """Every sentence, in order, as an item if one can be made of it.

    None can of a sentence that is no clean one, has too few or too many words, or no word that
    could be taken out.
    """
    for fields in _rows(open_source(spec)):
        category = fields.name("category")
        for paragraph in paragraphs(fields.text("text")):
            for sentence in sentences(paragraph):
                fits = min_words <= len(sentence.split()) <= max_words and is_clean(sentence)
                yield Draft(None, _item(sentence, category, seed) if fits else None)


def _rows(source: Source) -> Iterator[Fields]:
    text = choose_columns(source, text=None, label=None).text
    category = first_of(CATEGORY_NAMES, [name for name in source.columns if name != text])
    columns = {"text": text} if category is None else {"text": text, "category": category}
    for row in source.read(list(columns.values())):
        yield Fields(source, row, columns, dict(zip(columns, row.values, strict=True)))


def _item(sentence: str, category: str | None, seed: int) -> Item | None:
    made = blank(sentence, seed)
    if made is None:
        return None
    text, word = made
    return Item(question=Question(id="", text=text), gold=(word,), category=category)
