"""Pairs of texts that people scored, one per row: any table, or a data set of the hub.

A row has two texts, such as ``sentence1`` and ``sentence2``, and a ``score``; it may have an
``id``, and a ``split`` that says which part of the data it belongs to. Columns are found by their
usual names, whatever their case. A premise and a hypothesis are no such pair: what follows from
what has a direction, and likeness has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import SupportsFloat

from scope.data.fields import SPLIT, Fields, first_of, read_fields, rows_of_part
from scope.data.sampling import (
    Candidate,
    Drawn,
    Repeats,
    Selection,
    content_id,
    fingerprint_of,
    require_sample,
)
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.errors import DataError
from scope.printing import listed
from scope.protocols import PairData, Part
from scope.records import ScoredPair

TEXT_NAMES = (
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("question1", "question2"),
    ("first", "second"),
)
"""The two columns of texts; the first two that a source has both of count."""

NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "score": (
            "score",
            "similarity_score",
            "similarity",
            "relatedness_score",
            "relatedness",
            "rating",
            "label",
        ),
        "id": ("id", "pair_id", "idx"),
        **SPLIT,
    }
)
"""Names of the other columns by meaning; the first that a source has is read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WantedPairs:
    """Which rows are read, and which scores they may have.

    Parameters
    ----------
    task
        The task's name.
    low, high
        The least and the greatest score that people could give.
    part
        What the column ``split`` must call a row; None reads all rows.
    """

    task: str
    low: float
    high: float
    part: Part | None = None


def gather_pairs(spec: str, wanted: WantedPairs, n: int | None, seed: int) -> PairData:
    """At most ``n`` pairs of the rows that a spec names, sorted by their texts, drawn by the seed.

    The card counts the rows of the part alone. Left out are rows with an empty text, counted as
    empty. Pairs that stand there twice count twice, as a benchmark's rows are its own. Space
    around a text is no part of it. Pairs are named by their rows' own ids where all rows of the
    part have one of their own, and otherwise by what they say. So nothing that is learned from
    the pairs depends on the order of the rows.

    Raises
    ------
    DataError
        When a column is missing, no row belongs to the part, a score is none or lies out of the
        range, no pair is left, or the sample makes no sense.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pairs.csv")
    ...     rows = "train,A,B,1\\ndev,A,C,2\\ntrain,B ,A,1.0\\ntrain,,B,0\\n"
    ...     _ = path.write_text("split,first,second,score\\n" + rows)
    ...     wanted = WantedPairs(task="similarity", low=0, high=5, part="train")
    ...     data = gather_pairs(str(path), wanted, n=None, seed=0)
    >>> [(pair.first, pair.second, pair.score) for pair in data.pairs]
    [('A', 'B', 1.0), ('B', 'A', 1.0)]
    >>> data.card.rows, data.card.empty, data.card.used
    (3, 1, 2)
    """
    require_sample(n, seed)
    repeats = Repeats()

    def key(own_id: str | None, pair: ScoredPair) -> tuple[bytes, tuple[bool, bytes]]:
        # A pair that stands in two parts has a name in each.
        said = pair.first, pair.second, pair.score, own_id, wanted.part
        return repeats.key(*said), (False, b"")

    chosen = Selection(_drafts(open_source(spec), wanted), key, n, seed)
    if not chosen.drawn:
        raise DataError(
            f"no pair in {spec}: {chosen.rows} rows, {chosen.empty} of them with an empty text",
            expected=f"at least one pair for the task {wanted.task}",
            fix="check the data, or choose other data",
        )
    named = map(_named, chosen.drawn)
    pairs = tuple(sorted(named, key=lambda pair: (pair.first, pair.second, pair.score, pair.id)))
    card = chosen.card(spec, pair_fingerprint(pairs), len(pairs), wanted.task)
    return PairData(pairs=pairs, card=card)


def _named(drawn: Drawn[ScoredPair]) -> ScoredPair:
    return replace(drawn.item, id=drawn.id or content_id(drawn.key))


def pair_fingerprint(pairs: Iterable[ScoredPair]) -> str:
    """Sixteen hexadecimal digits that change with anything in any pair, or their order.

    Examples
    --------
    >>> pair_fingerprint([ScoredPair(id="0", first="A", second="B", score=1.0)])
    '54cb02bfe5427c78'
    """
    return fingerprint_of([pair.id, pair.first, pair.second, pair.score] for pair in pairs)


def _drafts(source: Source, wanted: WantedPairs) -> Iterator[Candidate[ScoredPair]]:
    _refuse_classes(source, wanted)
    for fields in _rows(source, wanted.part):
        first, second = fields.text("first").strip(), fields.text("second").strip()
        if first and second:
            score = _score(fields, wanted)
            pair = ScoredPair(id="", first=first, second=second, score=score)
            yield Candidate(fields.id, pair)
        else:
            yield Candidate(fields.id, None)


def _refuse_classes(source: Source, wanted: WantedPairs) -> None:
    """The numbers of classes would pass for scores."""
    column = first_of(NAMES["score"], source.columns)
    classes = source.class_names.get(column, ()) if column else ()
    if classes:
        raise DataError(
            f"column `{column}` of {source.name} holds no scores but the classes {listed(classes)}",
            expected=f"a column of scores from {wanted.low:g} to {wanted.high:g}, called "
            f"{' or '.join(NAMES['score'])}",
            fix="choose data with human scores",
        )


def _rows(source: Source, part: Part | None) -> Iterator[Fields]:
    """The rows that are wanted."""
    first, second = _text_names(source)
    names = {"first": (first,), "second": (second,), **NAMES}
    rows = read_fields(source, names, required=("score",))
    return rows if part is None else rows_of_part(source, rows, part)


def _text_names(source: Source) -> tuple[str, str]:
    for names in TEXT_NAMES:
        if all(first_of((name,), source.columns) is not None for name in names):
            return names
    raise DataError(
        f"no two text columns in {source.name}; its columns are {listed(source.columns)}",
        expected=f"columns called {' or '.join(' and '.join(names) for names in TEXT_NAMES)}",
        fix="rename the columns, or choose other data",
    )


def _score(fields: Fields, wanted: WantedPairs) -> float:
    value = fields.values["score"]
    expected = f"a score from {wanted.low:g} to {wanted.high:g}"
    if value is None or (isinstance(value, str) and not value.strip()):
        raise fields.wrong("no score", expected)
    score = _number(value)
    if not math.isfinite(score):
        raise fields.wrong(f"the score {value!r:.60}, which is not a finite number", expected)
    if not wanted.low <= score <= wanted.high:
        raise DataError(
            f"{fields.source.place(fields.row)}: the score {value!s:.60}, which is out of the "
            f"range {wanted.low:g} to {wanted.high:g}",
            expected=expected,
            fix="fix the row, or give the range of the scale: --low and --high",
        )
    return score


def _number(value: object) -> float:
    """The value as a number, and NaN where it is none; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, str | SupportsFloat):
        return math.nan
    try:
        return float(value)
    # The greatest whole numbers of JSON are too great for a float.
    except (ValueError, OverflowError):
        return math.nan
