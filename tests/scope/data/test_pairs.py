"""Tables of scored pairs: what is read, what is left out and counted, what is refused."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data.items import WantedPairs, gather_pairs, pair_fingerprint
from scope.errors import DataError

WANTED = WantedPairs(task="similarity", low=0.0, high=5.0)
ROWS = [
    {"split": "train", "sentence1": "A dog runs.", "sentence2": "A dog is running.", "score": 4.8},
    {"split": "dev", "sentence1": "It rains.", "sentence2": "Rain falls.", "score": 4},
    {"split": "train", "sentence1": "Fish swim.", "sentence2": "A car stops.", "score": 0},
    {"split": "test", "sentence1": "Go", "sentence2": "Stop", "score": 1.25},
]


def write(path, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


@pytest.fixture
def pairs(tmp_path):
    """What is gathered of rows, or of a CSV file's text."""

    def gather(rows, part=None, n=None, seed=0, **wanted):
        if isinstance(rows, str):
            (tmp_path / "a.csv").write_text(rows)
            spec = str(tmp_path / "a.csv")
        else:
            spec = write(tmp_path / "a.jsonl", rows)
        return gather_pairs(spec, replace(WANTED, part=part, **wanted), n=n, seed=seed)

    return gather


def scored(data):
    return [(pair.first, pair.second, pair.score) for pair in data.pairs]


def test_every_row_is_read_and_sorted_by_its_texts_where_no_part_is_asked_for(pairs):
    data = pairs(ROWS)
    assert scored(data) == sorted(tuple(row.values())[1:] for row in ROWS)
    card = data.card
    assert (card.rows, card.used, card.labelled, card.duplicates, card.empty) == (4, 4, 4, 0, 0)
    assert (card.capability, card.fingerprint) == ("similarity", pair_fingerprint(data.pairs))


def test_a_part_has_its_own_rows_named_by_their_content(pairs):
    data = pairs(ROWS, "train")
    assert [pair.score for pair in data.pairs] == [4.8, 0.0]
    assert {pair.id for pair in data.pairs}.isdisjoint(
        pair.id for pair in pairs(ROWS, "test").pairs
    )
    assert (data.card.rows, data.card.used) == (2, 2)


def test_without_the_column_the_parts_must_be_named_one_by_one(pairs):
    with pytest.raises(DataError) as raised:
        pairs("first,second,score,set\nA,B,1,train\n", "development")
    assert raised.value.found.startswith("no column `split` in a.csv, which marks the rows for dev")
    assert "split with dev or development or validation" in raised.value.expected
    assert raised.value.fix.endswith("--test alone with a saved probe")


def test_a_part_without_rows_lists_the_values_there_are(pairs):
    splits = ["train", "trial", "", *map(str, range(9))]
    rows = "".join(f"A,B,1,{split}\n" for split in splits)
    with pytest.raises(DataError, match=r"holds `\(empty\)`, `0`, .*, `6`, …") as raised:
        pairs(f"first,second,score,split\n{rows}", "test")
    assert raised.value.found.startswith("no row for test in a.csv; its column `split` holds ")
    assert raised.value.expected == "rows with test there"
    assert raised.value.fix.startswith("rename the values, or give one table per part")


WORDS = st.sampled_from(["A", "B", "C", "D E", " ", ""])
TABLES = st.lists(st.tuples(WORDS, WORDS, st.sampled_from([0, 1.5, 5])), min_size=1, max_size=30)


@given(TABLES, st.integers(1, 10), st.integers(0, 10), st.integers(0, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_samples_are_nested_by_seed_and_the_same_in_any_order_of_the_rows(
    pairs, table, n, more, seed
):
    rows = [dict(zip(("first", "second", "score"), row, strict=True)) for row in table]
    if not any(first.strip() and second.strip() for first, second, _ in table):
        rows.append({"first": "A", "second": "B", "score": 0})
    every, larger, smaller = (pairs(rows, n=size, seed=seed) for size in (None, n + more, n))
    assert len(smaller.pairs) == min(n, len(every.pairs))
    assert set(smaller.pairs) <= set(larger.pairs) <= set(every.pairs)
    for data in (every, larger, smaller):
        assert len(rows) == data.card.rows == len(every.pairs) + data.card.empty
    assert pairs(rows[::-1], n=n, seed=seed).pairs == smaller.pairs


def test_numbers_of_classes_do_not_pass_for_scores(tmp_path):
    import datasets

    features = datasets.Features(
        first=datasets.Value("string"),
        second=datasets.Value("string"),
        label=datasets.ClassLabel(names=["same", "other"]),
    )
    columns = {"first": ["A"], "second": ["B"], "label": [1]}
    path = str(tmp_path / "a.parquet")
    datasets.Dataset.from_dict(columns, features=features).to_parquet(path)
    with pytest.raises(DataError) as raised:
        gather_pairs(path, WANTED, n=None, seed=0)
    assert raised.value.found == (
        "column `label` of a.parquet holds no scores but the classes `same`, `other`"
    )
