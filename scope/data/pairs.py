"""Pairs of texts that people scored, one per row: any table, or a data set of the hub.

A row has two texts, such as ``sentence1`` and ``sentence2``, and a ``score``; it may have an
``id``, and a ``split`` that names the part of the data it belongs to. Columns are found by their
usual names in any case. A premise and a hypothesis are no such pair: entailment has a direction,
similarity has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from scope.data import sampling, sampling as drawing
from scope.data.fields import Fields, first_of, is_missing, read_fields
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
        "split": ("split",),
    }
)
"""Names of the other columns by meaning; the first that a source has is read."""

PART_NAMES: Mapping[Part, Sequence[str]] = MappingProxyType(
    {
        "train": ("train", "training"),
        "development": ("dev", "development", "validation", "valid", "val"),
        "test": ("test",),
    }
)
"""The names of each part in the column ``split``, in any case."""

_APART = (
    "give one table per part instead of --data: --train "
    "and --test, or --test alone with a saved probe"
)


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

    The card counts the rows of the part alone. Rows with an empty text are left out and counted
    as empty, those without a score by this reason; repeated pairs count as often as they occur.
    Space around a text is no part of it.
    A pair's id is that of its row where every row of the part has one of its own, and otherwise a
    hash of its content. So nothing that is learned from the pairs depends on the order of the rows.

    Raises
    ------
    DataError
        When a column is missing, no row belongs to the part, a score lies out of the range, no pair
        is left, or the sample makes no sense.

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
    repeats = drawing.Repeats()

    def key(own_id: str | None, pair: ScoredPair) -> tuple[bytes, tuple[bool, bytes]]:
        # A pair that stands in two parts has a name in each.
        contents = pair.first, pair.second, pair.score, own_id, wanted.part
        return repeats.key(*contents), (False, b"")

    chosen = sampling.Selection(_drafts(open_source(spec), wanted), key, n, seed)
    if not chosen.drawn:
        expected = f"at least one pair for the task {wanted.task}"
        raise chosen.nothing(f"no pair in {spec}", "with an empty text", expected)
    named = [replace(row.item, id=chosen.name(row)) for row in chosen.drawn]
    named.sort(key=lambda pair: (pair.first, pair.second, pair.score, pair.id))
    pairs = tuple(named)
    if max(pair.score for pair in pairs) <= 1 < wanted.high:
        note = f"no score is above 1, of {wanted.high:g}: where the scale ends at 1, give --high 1"
        chosen.notes[note] = None
    card = chosen.card(spec, pair_fingerprint(pairs), len(pairs), wanted.task)
    return PairData(pairs=pairs, card=card)


def pair_fingerprint(pairs: Iterable[ScoredPair]) -> str:
    """Sixteen hexadecimal digits that change with anything in any pair, or their order.

    Examples
    --------
    >>> pair_fingerprint([ScoredPair(id="0", first="A", second="B", score=1.0)])
    '54cb02bfe5427c78'
    """
    return drawing.fingerprint_of([pair.id, pair.first, pair.second, pair.score] for pair in pairs)


def _drafts(source: Source, wanted: WantedPairs) -> Iterator[sampling.Candidate[ScoredPair]]:
    score_column = first_of(NAMES["score"], source.columns)
    if classes := source.class_names.get(score_column or "", ()):
        # Their numbers would pass for scores.
        raise DataError(
            f"column `{score_column}` of {source.name} holds no scores but the classes "
            f"{listed(classes)}",
            expected=f"a column of scores from {wanted.low:g} to {wanted.high:g}, called "
            f"{' or '.join(NAMES['score'])}",
            fix="choose data with human scores",
        )
    there = {column.casefold() for column in source.columns}
    texts = next((names for names in TEXT_NAMES if there.issuperset(names)), None)
    if texts is None:
        raise DataError(
            f"no two text columns in {source.name}; its columns are {listed(source.columns)}",
            expected=f"columns called {' or '.join(' and '.join(names) for names in TEXT_NAMES)}",
            fix="rename the columns, or choose other data",
        )
    names = {"first": texts[:1], "second": texts[1:], **NAMES}
    rows = read_fields(source, names, required=("score",))
    asked = rows if wanted.part is None else rows_of_part(source, rows, wanted.part)
    return sampling.usable(asked, partial(_pair, wanted))


def _pair(wanted: WantedPairs, fields: Fields) -> sampling.Candidate[ScoredPair]:
    first, second = fields.text("first").strip(), fields.text("second").strip()
    if not (first and second):
        return sampling.Candidate(fields.id, None)
    score = _score(fields, wanted)
    return sampling.Candidate(fields.id, ScoredPair(id="", first=first, second=second, score=score))


def rows_of_part(source: Source, rows: Iterable[Fields], part: Part) -> Iterator[Fields]:
    """The rows that the column ``split`` counts to the part, at least one."""
    if first_of(NAMES["split"], source.columns) is None:
        raise DataError(
            f"no column `split` in {source.name}, which marks the rows "
            f"for {part}; its columns are {listed(source.columns)}",
            expected=f"a column called split with {' or '.join(PART_NAMES[part])} in it",
            fix=f"add the column, or {_APART}",
        )
    empty, others = True, set()
    for fields in rows:
        if fields.row.unusable:
            yield fields
            continue
        split = fields.name("split") or "(empty)"
        if split.casefold() in PART_NAMES[part]:
            empty = False
            yield fields
        else:
            others.add(split)
    if empty:
        raise DataError(
            f"no row for {part} in {source.name}; its column `split` holds "
            f"{listed(sorted(others), most=8)}",
            expected=f"rows with {' or '.join(PART_NAMES[part])} there",
            fix=f"rename the values, or {_APART}",
        )


def _score(fields: Fields, wanted: WantedPairs) -> float:
    value: Any = fields.values["score"]
    expected = f"a score from {wanted.low:g} to {wanted.high:g}"
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        raise fields.wrong("no score", expected)
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    # The greatest whole numbers of JSON are too great for a float.
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        reason = "a score that is not a finite number"
        raise fields.wrong(f"the score {value!r:.60}, not a finite number", expected, reason)
    if not wanted.low <= score <= wanted.high:
        # Without the ends of its scale, the data would be other data.
        raise DataError(
            f"{fields.source.place(fields.row)}: the score {value!s:.60}, which is out of the "
            f"range {wanted.low:g} to {wanted.high:g}",
            expected=expected,
            fix="fix the row, or give the range of the scale: --low and --high",
        )
    return score
