"""Texts from anywhere: how specs are opened, which rows are kept, drawn, named and counted."""

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
from collections import Counter

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from scope.data.sampling import Keyed, Repeats, draw, load_data, short_hash, subsample
from scope.data.specs import open_source, parse_hub_name
from scope.errors import DataError, SpecError
from scope.records import unit_of


def numbered(size):
    return [Keyed(short_hash(str(number)), number) for number in range(size)]


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_a_sample_keeps_its_order_and_a_smaller_one_is_part_of_a_larger(size, n, m, seed):
    small, large = (draw(numbered(size), count, seed) for count in sorted((n, m)))
    assert small == sorted(small)
    assert len(small) == min(n, m, size)
    assert set(small) <= set(large)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12), st.integers(0, 99))
def test_neither_sample_nor_which_of_equals_stays_depends_on_the_order(keys, n, seed):
    candidates = [
        Keyed(short_hash(str(key)), (key, place), (False, short_hash(str(place))))
        for place, key in enumerate(keys)
    ]
    shuffled = random.Random(seed).sample(candidates, len(candidates))
    for size in (n, None):
        drawn = draw(candidates, size, seed)
        assert sorted(drawn) == sorted(draw(shuffled, size, seed))
        assert len({key for key, _ in drawn}) == len(drawn)


def test_repeats_have_keys_of_their_own_in_any_order():
    first, second = Repeats(), Repeats()
    rows = [("a", "1"), ("b", None), ("a", "1"), ("a", "2"), ("a", "1")]
    keys = [first.key(*row) for row in rows]
    assert len(set(keys)) == len(rows)
    assert {second.key(*row) for row in reversed(rows)} == set(keys)


def write(path, content):
    path.write_text(content, encoding="utf-8")
    return str(path)


@pytest.fixture
def numbers(tmp_path):
    return write(tmp_path / "numbers.csv", "text\n" + "".join(f"text {i}\n" for i in range(200)))


@pytest.mark.parametrize(
    ("sample", "message"),
    [({"n": 0}, "n = 0\nexpected: 1 or more"), ({"n": -3}, "n = -3"), ({"seed": -1}, "seed = -1")],
)
def test_a_sample_of_nothing_and_a_negative_seed_are_refused(numbers, sample, message):
    with pytest.raises(DataError, match=message):
        load_data(numbers, **sample)


def test_the_sample_does_not_change_with_the_hash_seed_and_imports_stay_light(numbers):
    script = (
        "import sys; from scope.data.sampling import load_data;"
        "print([m for m in ('datasets', 'pyarrow', 'pandas', 'torch') if m in sys.modules]);"
        f"print(load_data({numbers!r}, n=9).card.fingerprint)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert printed.pop().startswith(b"[]")


@pytest.mark.parametrize("rows", ["7,good\n7,bad\n", "7,good\n ,bad\n", "7,good\n7,good\n8,bad"])
def test_ids_that_repeat_or_are_missing_give_way_to_ids_of_the_texts(tmp_path, rows):
    path = write(tmp_path / "a.csv", f"id,text\n{rows}")
    without = write(tmp_path / "b.csv", "text\ngood\nbad\n")
    assert load_data(path).examples == load_data(without).examples


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".jsonl.gz"])
@pytest.mark.parametrize("n", [None, 25])
def test_rows_in_another_order_give_the_same_examples_in_every_format(tmp_path, suffix, n):
    rows = [{"text": f"text {i % 60}", "label": str(i % 3)} for i in range(80)]
    rows += [{"text": f" text {i} ", "label": None} for i in range(20)]
    found = []
    for place, ordered in enumerate((rows, rows[::-1], random.Random(1).sample(rows, len(rows)))):
        path = tmp_path / f"{place}{suffix}"
        write_table(path, ordered)
        data = load_data(str(path), n=n, seed=3)
        found.append({(e.id, e.text, e.label) for e in data.examples})
        assert (data.card.rows, data.card.duplicates) == (100, 40)
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == (n or 60)
    assert None not in {label for _, _, label in found[0]}


def write_table(path, rows):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        return
    stream = io.StringIO(newline="")
    if ".jsonl" in path.name:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    else:
        writer = csv.DictWriter(stream, rows[0], delimiter="\t" if ".tsv" in path.name else ",")
        writer.writeheader()
        writer.writerows(rows)
    content = stream.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_columns_of_slices_are_read_beside_text_and_label(tmp_path, suffix):
    rows = [
        {"text": "good", "label": "1", "source": "mail", "stars": 5},
        {"text": "bad", "label": "0", "source": None, "stars": 1},
    ]
    write_table(tmp_path / f"a{suffix}", rows)
    # The label may be a slice, too.
    data = load_data(str(tmp_path / f"a{suffix}"), slices=["source", "stars", "label"])
    assert [e.label for e in data.examples] == ["1", "0"]
    assert [e.slices for e in data.examples] == [
        ("source: mail", "stars: 5", "label: 1"),
        ("stars: 1", "label: 0"),
    ]


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("hg:sst2:test", SpecError, "unknown scheme `hg` .*\n.*: demo:…, eee:…, helm:…"),
        ("review.csv", DataError, r"(?s)no file `review\.csv`.*did you mean `reviews\.csv`"),
        ("b.csv", DataError, "check the path"),
        ("no/a.csv", DataError, r"no file `no/a\.csv`, and no folder `no`"),
        (".", DataError, "is not a file but a folder"),
        *(
            (name, DataError, r"ends in \.csv, \.tsv, \.jsonl, .*\.parquet")
            for name in ("a.xlsx", "a", "a.parquet.gz")
        ),
    ],
)
def test_what_cannot_be_opened_is_refused(tmp_path, monkeypatch, spec, error, message):
    monkeypatch.chdir(tmp_path)
    for name in ("reviews.csv", "a.xlsx", "a", "a.parquet.gz"):
        (tmp_path / name).write_text("text\n")
    with pytest.raises(error, match=message):
        open_source(spec)


@pytest.mark.parametrize(
    ("rest", "parts"),
    [
        ("a/b:test[10%:20%]", ("a/b", None, "test[10%:20%]")),
        ("a/b:config:train[:5]+test[:5]", ("a/b", "config", "train[:5]+test[:5]")),
    ],
)
def test_a_name_of_the_hub_is_split_at_its_colons_but_not_inside_slices(rest, parts):
    assert parse_hub_name(rest) == parts


def test_rows_of_a_cluster_are_drawn_together_and_named_by_it(tmp_path):
    rows = [f"text {n},{n % 40},doc {n // 5}" for n in range(200)]
    path = write(tmp_path / "a.csv", "\n".join(["text,label,document", *rows, "text 0,0,doc 39"]))
    drawn = load_data(path, cluster="document", n=52, seed=1)
    counts = Counter(map(unit_of, (example.id for example in drawn.examples)))
    assert sorted(counts.values())[1:] == [5] * 10
    assert drawn.card.notes == ("the rows lie in 11 clusters, each a unit of its own",)
    whole = load_data(path, cluster="document")
    # A text of two documents counts in both.
    assert len({example.id for example in whole.examples}) == 201
    assert len(subsample(whole.examples, 201, 0)) == 201
    (note,) = load_data(path).card.notes
    assert note.startswith("200 rows share 40 values of `document` and count as independent; where")
    assert note.endswith("add --cluster document to an audit or a comparison")
