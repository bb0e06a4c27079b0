"""Texts from anywhere: opened, cleaned of empty and repeated ones, and sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scope.data.fields import SLICE, choose_columns, read_rows
from scope.data.sampling import (
    Candidate,
    Drawn,
    Keyed,
    Selection,
    content_id,
    content_key,
    draw,
    fingerprint_of,
    require_sample,
    short_hash,
)
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.errors import DataError
from scope.records import DataCard, Example


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedData:
    """The examples that will be used, in the order of their source, and what they are part of."""

    examples: tuple[Example, ...]
    card: DataCard


def load_data(
    spec: str,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    slices: Sequence[str] = (),
    n: int | None = None,
    seed: int = 0,
) -> LoadedData:
    """Read the texts that a spec names and keep ``n`` of them.

    Empty texts are left out, and of texts that are equal but for space around them one stays,
    with its label; one that has a label, if any has. A smaller sample of the same seed is part of
    a larger one. An example's id is that of the source's ``id`` column where all rows have their
    own, and otherwise follows from its text. So neither ids nor the sample, nor which of equal
    texts stays, depend on the order of the rows.

    Parameters
    ----------
    spec
        ``hf:NAME:SPLIT``, ``hf:NAME:CONFIG:SPLIT``, ``demo:tweets``, ``demo:tweets-train``,
        ``text:PATH`` (the paragraphs of a .txt file, or of all in a folder), or the path of a
        file: .csv, .tsv, .jsonl (each also with .gz), .parquet or .txt.
    text_column, label_column
        Found by their usual names where they are not given; the label column ``none`` leaves the
        gold labels out.
    slices
        Further columns, which an example keeps in ``slices`` as ``column: value``.
    n
        How many texts to draw, without replacement; all of them if None or more than there are.
    seed
        Decides which.

    Raises
    ------
    SpecError
        When the spec means nothing.
    DataError
        When the texts cannot be read, or none is left.
    ResourceError
        When the demo's texts are not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "films.csv")
    ...     _ = path.write_text("text,label\\ngood,1\\nbad,0\\n good ,0\\n,1\\n")
    ...     data = load_data(str(path))
    >>> [(example.id, example.text, example.label) for example in data.examples]
    [('8cb260423daf712f', 'good', '1'), ('5a711247b2b24378', 'bad', '0')]
    >>> data.card.rows, data.card.duplicates, data.card.empty, data.card.used
    (4, 1, 1, 2)
    """
    require_sample(n, seed)
    source = open_source(spec)
    columns = choose_columns(source, text=text_column, label=label_column, slices=slices)
    chosen = Selection(_texts(source, columns), _key, n, seed)
    if not chosen.drawn:
        raise DataError(
            f"no text in {source.name}: {chosen.rows} rows, {chosen.empty} of them empty",
            expected=f"at least one row with a text in column `{columns['text']}`",
            fix="check the data, or choose another text column",
        )
    examples = tuple(map(_example, chosen.drawn))
    fingerprint = fingerprint_of((one.id, one.text, one.label, *one.slices) for one in examples)
    labelled = sum(example.label is not None for example in examples)
    return LoadedData(examples=examples, card=chosen.card(spec, fingerprint, labelled))


def subsample(examples: Sequence[Example], n: int | None, seed: int) -> tuple[Example, ...]:
    """Those of ``examples`` that `load_data` would keep of ``n`` with the same seed."""
    keyed = (Keyed(short_hash(one.text.strip()), one) for one in examples)
    return tuple(draw(keyed, n, seed))


_Text = tuple[str, str | None, tuple[str, ...]]
"""A text, its label, and its slices."""


def _texts(source: Source, columns: Mapping[str, str]) -> Iterator[Candidate[_Text]]:
    roles = [role for role in columns if role.startswith(SLICE)]
    for fields in read_rows(source, columns):
        own_id, text, label = fields.id, fields.text("text"), fields.name("label")
        values = ((columns[role], fields.name(role)) for role in roles)
        slices = tuple(f"{column}: {value}" for column, value in values if value is not None)
        yield Candidate(own_id, (text, label, slices) if text.strip() else None)


def _key(own_id: str | None, item: _Text) -> tuple[bytes, tuple[bool, bytes]]:
    """Texts are equal but for space around them; of equals one with a label stays, or by chance."""
    text, label, slices = item
    return short_hash(text.strip()), (label is None, content_key(text, label, own_id, *slices))


def _example(drawn: Drawn[_Text]) -> Example:
    text, label, slices = drawn.item
    own_id = drawn.id or content_id(drawn.key)
    return Example(id=own_id, text=text, label=label, slices=slices)
