"""One pass over a source: rows become texts with a label and an id, or are counted as left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scope.data.columns import Columns
from scope.data.ids import Ids, short_hash
from scope.data.sources import Source
from scope.data.values import as_id, as_label, as_text
from scope.records import Example


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be drawn, its row counted from 0, and its own id if it has one."""

    row: int
    id: str | None
    text: str
    label: str | None

    def example(self, *, own_id: bool) -> Example:
        """The record, named by its own id or by its row."""
        name = self.id if own_id and self.id is not None else str(self.row)
        return Example(id=name, text=self.text, label=self.label)


class Reader:
    """Passes once over a source and counts what it leaves out."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self._source = source
        self.columns = columns
        self.rows = 0
        self.empty = 0
        self.duplicates = 0
        self._ids = Ids()

    @property
    def ids_serve(self) -> bool:
        """Whether every row so far has an id of its own."""
        return self._ids.serve

    def candidates(self) -> Iterator[Candidate]:
        """Every text that is neither empty nor a repetition, in order.

        Hashes are kept rather than texts, so that a source larger than memory can be sampled.
        """
        texts_seen: set[bytes] = set()
        for candidate in self._all():
            self.rows += 1
            self._ids.judge(candidate.id)
            stripped = candidate.text.strip()
            if not stripped:
                self.empty += 1
            elif (key := short_hash(stripped)) in texts_seen:
                self.duplicates += 1
            else:
                texts_seen.add(key)
                yield candidate

    def _all(self) -> Iterator[Candidate]:
        source, (text, label, own_id) = self._source, self.columns
        names = source.class_names.get(label, ()) if label else ()
        asked = [column for column in self.columns if column is not None]
        for number, row in enumerate(source.read(asked)):
            values = dict(zip(asked, row.values, strict=True))
            yield Candidate(
                row=number,
                id=as_id(values[own_id], source, row, own_id) if own_id else None,
                text=as_text(values[text], source, row, text),
                label=as_label(values[label], source, row, label, names) if label else None,
            )
