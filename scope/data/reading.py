"""One pass over a source: rows become texts with a label and an id, or are counted as left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scope.data.columns import Columns
from scope.data.ids import Ids, content_id, content_key, short_hash
from scope.data.sampling import Keyed
from scope.data.sources import Source
from scope.data.values import as_id, as_label, as_text
from scope.records import Example


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be drawn, and its row's own id if it has one."""

    id: str | None
    text: str
    label: str | None

    def example(self, *, own_id: bool) -> Example:
        """The record, named by its own id or by its text."""
        name = self.id if own_id and self.id is not None else content_id(self.key)
        return Example(id=name, text=self.text, label=self.label)

    @property
    def key(self) -> bytes:
        """What texts that are equal but for space around them share."""
        return short_hash(self.text.strip())

    @property
    def rank(self) -> tuple[bool, bytes]:
        """Which of equal texts stays, whatever their order: one with a label, or else by chance."""
        return self.label is None, content_key(self.text, self.label, self.id)


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

    def candidates(self) -> Iterator[Keyed[Candidate]]:
        """Every text that is not empty, in order; those that are equal have one key.

        Hashes are kept rather than texts, so that a source larger than memory can be sampled.
        """
        texts_seen: set[bytes] = set()
        for candidate in self._all():
            self.rows += 1
            self._ids.judge(candidate.id)
            if not candidate.text.strip():
                self.empty += 1
                continue
            self.duplicates += candidate.key in texts_seen
            texts_seen.add(candidate.key)
            yield Keyed(candidate.key, candidate, candidate.rank)

    def _all(self) -> Iterator[Candidate]:
        source, (text, label, own_id) = self._source, self.columns
        names = source.class_names.get(label, ()) if label else ()
        asked = [column for column in self.columns if column is not None]
        for row in source.read(asked):
            values = dict(zip(asked, row.values, strict=True))
            yield Candidate(
                id=as_id(values[own_id], source, row, own_id) if own_id else None,
                text=as_text(values[text], source, row, text),
                label=as_label(values[label], source, row, label, names) if label else None,
            )
