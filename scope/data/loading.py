"""Texts from anywhere: opened, cleaned of empty and repeated ones, and sampled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from scope.data.columns import choose_columns
from scope.data.reading import Reader
from scope.data.sampling import draw, require_sample
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
    reader = Reader(source, choose_columns(source, text=text_column, label=label_column))
    drawn = draw(reader.candidates(), n, seed)
    if not drawn:
        raise _nothing_left(source, reader)
    examples = tuple(candidate.example(own_id=reader.ids_serve) for candidate in drawn)
    card = DataCard(
        spec=spec,
        fingerprint=example_fingerprint(examples),
        rows=reader.rows,
        used=len(examples),
        duplicates=reader.duplicates,
        empty=reader.empty,
        labelled=sum(example.label is not None for example in examples),
    )
    return LoadedData(examples=examples, card=card)


def example_fingerprint(examples: Iterable[Example]) -> str:
    """Sixteen hexadecimal digits that change with any id, text, label or their order.

    Examples
    --------
    >>> example_fingerprint([Example(id="0", text="good")])
    'e182fc29afafcf96'
    """
    digest = hashlib.sha256()
    for example in examples:
        digest.update(json.dumps([example.id, example.text, example.label]).encode() + b"\n")
    return digest.hexdigest()[:16]


def _nothing_left(source: Source, reader: Reader) -> DataError:
    return DataError(
        f"no text in {source.name}: {reader.rows} rows, {reader.empty} of them empty",
        expected=f"at least one row with a text in column `{reader.columns.text}`",
        fix="check the data, or choose another text column",
    )
