"""Texts from anywhere, and samples of rows, drawn in one pass.

Random samples that depend on no order of the rows: by a hash of each row's content.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from scope.data.fields import CLUSTER, NONE, PART, SHARED, SLICE, Fields, choose_columns, read_rows
from scope.data.sources import NAMED, LeftOutRows, UnusableRowError
from scope.data.specs import open_source
from scope.errors import DataError, counted, listed
from scope.records import DataCard, Example, are_clustered, in_cluster
from scope.records.estimates import brief
from scope.records.text_parts import SEPARATOR

Value = TypeVar("Value")


MOST_LETTERS = 40
"""The name of a longer cluster is its beginning and a hash."""

MOST_DIFFERENT = 0.95
"""With fewer different values a row, a column may have values that make rows alike."""


class Candidate(NamedTuple, Generic[Value]):
    """A row's content: its own id, if any, and its item, if any.

    ``unusable`` says why a row with content makes no item.
    ``notes`` are those of its source, which reading may add to. ``cluster`` is what it has in
    common with others, such as its document; ``shared`` a column that may be one, and a hash of its
    value.
    """

    id: str | None
    item: Value | None
    unusable: UnusableRowError | None = None
    notes: Mapping[str, None] | None = None
    cluster: str | None = None
    shared: tuple[str, bytes] | None = None


def usable(
    rows: Iterable[Fields], make: Callable[[Fields], Candidate[Value] | None]
) -> Iterator[Candidate[Value]]:
    """What ``make`` makes of each row; a row that it cannot use is left out, for its reason."""
    notes: Mapping[str, None] | None = None
    for fields in rows:
        try:
            candidate = make(fields)
            if candidate is not None and CLUSTER in fields.columns:
                candidate = candidate._replace(cluster=fields.name(CLUSTER))
            elif candidate is not None and fields.cells.get(SHARED):
                value = short_hash(str(fields.cells[SHARED]))
                candidate = candidate._replace(shared=(fields.columns[SHARED], value))
        except UnusableRowError as error:
            candidate = Candidate(None, None, error)
        if candidate is not None:
            first, notes = notes is None, fields.source.notes
            yield candidate._replace(notes=notes) if first else candidate


class Drawn(NamedTuple, Generic[Value]):
    """A drawn item: its row, its own id, its key, and what its candidate has."""

    row: int
    id: str | None
    key: bytes
    item: Value
    cluster: str | None = None
    shared: tuple[str, bytes] | None = None


Key = Callable[[str | None, Value], tuple[bytes, tuple[bool, bytes]]]


class Selection(Generic[Value]):
    """The sample of one pass over rows, and counts of the omitted rows.

    Own ids are used if every row has a different one. Hashes are kept rather than texts, so
    that a source larger than memory can be sampled.

    Parameters
    ----------
    candidates
        One per row; a row without an item is counted as empty.
    key
        The key and the rank of a row with an item, from its own id and the item; see
        `Keyed`. Rows of one key are counted as duplicates but for the first.
    n, seed
        As of `draw`.

    Raises
    ------
    DataError
        When the sample makes no sense.
    """

    def __init__(
        self, candidates: Iterable[Candidate[Value]], key: Key[Value], n: int | None, seed: int
    ) -> None:
        require_sample(n, seed)
        self.items = self.empty = self.duplicates = 0
        self._left_out = LeftOutRows()
        self._ids: set[bytes] = set()
        self._sources: list[Mapping[str, None]] = []
        self.drawn = draw(self._keyed(candidates, key), n, seed)
        self.rows = self.items + self.empty + self._left_out.total()
        self.unique = len(self._ids) == self.items + self.empty
        self.notes = {note: None for notes in self._sources for note in notes}

    def _keyed(
        self, candidates: Iterable[Candidate[Value]], key: Key[Value]
    ) -> Iterator[Keyed[Drawn[Value]]]:
        seen: set[bytes] = set()
        for row, (own_id, item, unusable, notes, cluster, shared) in enumerate(candidates):
            if notes is not None:
                self._sources.append(notes)
            if unusable:
                self._left_out.add(unusable)
                continue
            # After the first row without an id, ids are not used.
            if own_id is not None and len(self._ids) == self.items + self.empty:
                self._ids.add(short_hash(own_id))
            if item is None:
                self.empty += 1
                continue
            self.items += 1
            place, rank = key(own_id, item)
            if cluster is not None:
                # What two clusters have in common counts in each.
                place = short_hash(in_cluster(cluster, place.hex()))
            self.duplicates += place in seen
            seen.add(place)
            drawn = Drawn(row, own_id, place, item, cluster, shared)
            yield Keyed(place, drawn, rank, cluster or "")

    def name(self, row: Drawn[Value], own_id: str | None = None) -> str:
        """The row's own id where each row has its own, else one that follows from its content.

        ``own_id`` takes its place; before either stands the row's cluster.
        """
        cluster = row.cluster
        if cluster is not None and len(cluster) > MOST_LETTERS:  # such as a passage
            cluster = f"{cluster[:30]}… {content_id(short_hash(cluster))}"
        by_row = row.id if self.unique and row.id else content_id(row.key)
        return in_cluster(cluster, own_id or by_row)

    def nothing(self, problem: str, empty: str, expected: str, rows: str = "rows") -> DataError:
        """The error where no row is left, with the commonest reasons."""
        commonest = self._left_out.commonest()[:NAMED]
        reasons = (f"; {left.count}: {left.reason} ({left.examples[0]})" for left in commonest)
        return DataError(
            f"{problem}: {self.rows} {rows}, {self.empty} of them {empty}{''.join(reasons)}",
            expected=expected,
            fix="check the data, or choose other data",
        )

    def _units(self) -> Iterator[str]:
        """What the rows have in common, as a note."""
        clusters = {row.cluster for row in self.drawn if row.cluster is not None}
        if clusters:
            yield f"the rows lie in {counted(len(clusters), 'cluster')}, each a unit of its own"
        shared = [row.shared for row in self.drawn if row.shared is not None]
        if 1 < len(set(shared)) <= MOST_DIFFERENT * len(shared):
            column = shared[0][0]
            yield (
                f"{len(shared):,} rows share {len(set(shared)):,} values of `{column}` and count "
                f"as independent; where those of a value are alike, add --cluster {column} to an "
                "audit or a comparison"
            )

    def card(self, spec: str, fingerprint: str, labelled: int, task: str | None = None) -> DataCard:
        """The data that were drawn, which ``spec`` names, and what was left out of them."""
        return DataCard(
            spec=spec,
            fingerprint=fingerprint,
            rows=self.rows,
            used=len(self.drawn),
            duplicates=self.duplicates,
            empty=self.empty,
            labelled=labelled,
            capability=task,
            left_out=self._left_out.commonest(),
            notes=(*self.notes, *self._units()),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedData:
    """The examples that will be used, in the order of their source, and what they are part of."""

    examples: tuple[Example, ...]
    card: DataCard


def load_data(
    spec: str,
    *,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    n: int | None = None,
    seed: int = 0,
) -> LoadedData:
    """Read the texts that a spec names and keep ``n`` of them.

    Several text columns, or a column of lists, hold the parts of texts; see
    `scope.records.text_parts`. Texts with an empty part and rows that cannot be read are left out,
    and of texts that are equal but for space around them one stays, with its label; one that has a
    label, if any has, and without it where the labels differ. A smaller sample of the same seed is
    part of a larger one. An example's id is that of the source's ``id`` column where all rows have
    their own, and otherwise follows from its text. So neither ids nor the sample, nor which of
    equal texts stays, depend on the order of the rows.

    Parameters
    ----------
    spec
        ``hf:NAME:SPLIT``, ``hf:NAME:CONFIG:SPLIT``, ``demo:tweets``, ``demo:tweets-train``,
        ``text:PATH`` (the paragraphs of a .txt file, or of all in a folder), or the path of a
        file: .csv, .tsv, .jsonl, .json (each also with .gz), .parquet or .txt.
    text_column, label_column
        Found by their usual names where they are not given; the label column ``none`` leaves the
        gold labels out.
    slices
        Further columns, which an example keeps in ``slices`` as ``column: value``.
    cluster
        A column, such as a document, whose values begin the ids: see `scope.records.unit_of`.
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
    [('8cb260423daf712f', 'good', None), ('5a711247b2b24378', 'bad', '0')]
    >>> data.card.rows, data.card.duplicates, data.card.empty, data.card.used
    (4, 1, 1, 2)
    """
    source = open_source(spec)
    named = (text_column,) if isinstance(text_column, str) else tuple(text_column or ())
    columns = choose_columns(source, text=named, label=label_column, slices=slices, cluster=cluster)
    of_slices = {role: column for role, column in columns.items() if role.startswith(SLICE)}
    of_parts = [role for role in columns if role.startswith(PART)] or ["text"]
    labels: dict[bytes, str] = {}
    names: list[str] = []

    def make(fields: Fields) -> Candidate[_Text]:
        text, label = fields.joined(of_parts), fields.name("label")
        parts = text.split(SEPARATOR)
        if not all(map(str.strip, parts)):
            return Candidate(fields.id, None)
        names.extend(() if names else _names_of_parts(parts, named))
        _require_parts(fields, parts, names)
        key = short_hash(text.strip())
        if label is not None and labels.setdefault(key, label) != label:
            labels[key] = ""
        values = [(column, fields.name(role)) for role, column in of_slices.items()]
        slices = tuple([f"{column}: {value}" for column, value in values if value is not None])
        return Candidate(fields.id, (key, text, label, slices))

    chosen = Selection(usable(read_rows(source, columns), make), _key, n, seed)
    if not chosen.drawn:
        expected = f"at least one row with a text in column `{columns['text']}`"
        raise chosen.nothing(f"no text in {source.name}", "empty", expected)
    examples = tuple(
        Example(id=chosen.name(row), text=text, label=labels.get(key) or None, slices=slices)
        for row in chosen.drawn
        for key, text, _, slices in [row.item]
    )
    fingerprint = fingerprint_of((e.id, e.text, e.label, *e.slices) for e in examples)
    labelled = sum(example.label is not None for example in examples)
    others = [name for name in source.columns if name not in columns.values()]
    if others and not labels and label_column != NONE:
        note = f"no gold labels are read; if {listed(others, 5)} holds them, add"
        chosen.notes[f"{note} --label-column NAME"] = None
    if clashes := sum(not label for label in labels.values()):
        texts = [brief(row.item[1]) for row in chosen.drawn if labels.get(row.item[0]) == ""][
            :NAMED
        ]
        chosen.notes[f"{counted(clashes, 'text')} with two labels, so unlabelled: {texts}"] = None
    card = chosen.card(spec, fingerprint, labelled)
    return LoadedData(examples=examples, card=replace(card, parts=tuple(names[1:] and names)))


def _names_of_parts(parts: Sequence[str], columns: Sequence[str]) -> Sequence[str]:
    """The columns of the parts, or, where they are a list, their numbers."""
    numbers = [f"text {number}" for number in range(1, len(parts) + 1)]
    return columns if len(columns) == len(numbers) else numbers


def _require_parts(fields: Fields, parts: Sequence[str], names: Sequence[str]) -> None:
    if len(parts) != len(names):
        number = counted(len(parts), "text")
        problem = f"{number} in column `{fields.columns['text']}`"
        raise fields.wrong(problem, str(len(names)), f"{number} in place of {len(names)}")


def subsample(examples: Sequence[Example], n: int | None, seed: int) -> tuple[Example, ...]:
    """The ``examples`` that `load_data` would keep of ``n`` with the same seed.

    Of clusters it takes some texts of many rather than all of few, which tell more.
    """
    keyed = (
        Keyed(short_hash(each.id if are_clustered([each.id]) else each.text.strip()), each)
        for each in examples
    )
    return tuple(draw(keyed, n, seed))


_Text = tuple[bytes, str, str | None, tuple[str, ...]]
"""A text after its key, its label, and its slices."""


def _key(own_id: str | None, item: _Text) -> tuple[bytes, tuple[bool, bytes]]:
    """Texts are equal but for space around them; of equals one with a label stays, or by chance."""
    key, text, label, slices = item
    return key, (label is None, content_key(text, label, own_id, *slices))


class Keyed(NamedTuple, Generic[Value]):
    """A candidate of the draw. Of those with the same key, the one of least rank is kept.

    Those of one cluster are drawn one after the other.
    """

    key: bytes
    value: Value
    rank: tuple[bool, bytes] = (False, b"")
    cluster: str = ""


def by_name(names: Iterable[str]) -> Iterable[Keyed[str]]:
    """Texts that may be drawn, each by itself."""
    return (Keyed(short_hash(name), name) for name in names)


def draw(candidates: Iterable[Keyed[Value]], n: int | None, seed: int) -> list[Value]:
    """The ``n`` candidates with the smallest random numbers, in their own order; all if None.

    The number follows from the seed and the key alone: rows in another order give the same sample.
    A smaller sample of the same seed is part of a larger one. Clusters are drawn whole, but for the
    last, of which as many are drawn as are lacking.

    Examples
    --------
    >>> draw(by_name("abcdef"), 3, seed=0), draw(by_name("fedcba"), 2, seed=0)
    (['a', 'd', 'e'], ['e', 'd'])
    """
    drawn: dict[int, tuple[int, Keyed[Value]]] = {}
    greatest_first: list[int] = []
    for place, candidate in enumerate(candidates):
        # Sixteen bytes: no two keys share a number.
        keys = candidate.cluster.encode(), candidate.key
        hashed = [hashlib.blake2b(f"{seed} ".encode() + key, digest_size=16) for key in keys]
        number = int.from_bytes(b"".join(each.digest() for each in hashed), "big")
        if number in drawn:
            # A displaced candidate never returns: the remaining numbers are smaller.
            if candidate.rank < drawn[number][1].rank:
                drawn[number] = (place, candidate)
        elif n is None or len(drawn) < n:
            if n is not None:
                heapq.heappush(greatest_first, -number)
            drawn[number] = (place, candidate)
        elif number < -greatest_first[0]:
            del drawn[-heapq.heapreplace(greatest_first, -number)]
            drawn[number] = (place, candidate)
    return [candidate.value for _, candidate in sorted(drawn.values(), key=itemgetter(0))]


def require_sample(n: int | None, seed: int) -> None:
    """Refuse a sample of nothing, and a seed that no generator takes.

    Raises
    ------
    DataError
        When ``n`` is below 1 or the seed below 0.
    """
    if n is not None and n < 1:
        raise DataError(f"n = {n}", expected="1 or more examples", fix="request at least one")
    if seed < 0:
        raise DataError(f"seed = {seed}", expected="0 or more", fix="choose another seed")


def fingerprint_of(contents: Iterable[Sequence[object]]) -> str:
    """Sixteen hexadecimal digits that change with any value or the order, as JSON has them.

    Examples
    --------
    >>> fingerprint_of([("0", "good", None)])
    'e182fc29afafcf96'
    """
    digest = hashlib.sha256()
    for content in contents:
        digest.update(json.dumps(content).encode() + b"\n")
    return digest.hexdigest()[:16]


class Repeats(Counter[bytes]):
    """Keys of rows that may say the same: they follow from the content, and count its repeats."""

    def key(self, *contents: object) -> bytes:
        """The key of the next row.

        Examples
        --------
        >>> repeats = Repeats()
        >>> first, second = repeats.key("Who?", ["Ann"]), repeats.key("Who?", ["Ann"])
        >>> first == content_key("Who?", ["Ann"]), first == second
        (True, False)
        """
        key = content_key(*contents)
        self[key] += 1
        return content_key(*contents, self[key] - 1) if self[key] > 1 else key


def content_key(*contents: object) -> bytes:
    """Sixteen bytes: a hash of a row's content as JSON."""
    return short_hash(json.dumps(contents))


def content_id(key: bytes) -> str:
    """The name of a row that has none of its own: sixteen hexadecimal digits of its key."""
    return key.hex()[:16]


def short_hash(text: str) -> bytes:
    """Sixteen bytes: a hash that saves memory where many texts must be remembered."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
