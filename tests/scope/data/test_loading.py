import csv
import gzip
import hashlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data import load_data
from scope.errors import DataError


def write(path: Path, content: str) -> str:
    path.write_text(content, encoding="utf-8")
    return str(path)


@pytest.fixture
def numbers(tmp_path):
    return write(tmp_path / "numbers.csv", "text\n" + "".join(f"text {i}\n" for i in range(200)))


def texts(data):
    return [example.text for example in data.examples]


def test_texts_labels_and_card_of_a_small_file(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\ngood film,pos\n"bad, dull",neg\nno idea,\n')
    data = load_data(path)
    assert [(e.text, e.label) for e in data.examples] == [
        ("good film", "pos"),
        ("bad, dull", "neg"),
        ("no idea", None),
    ]
    assert data.card.spec == path
    assert (data.card.rows, data.card.used, data.card.labelled) == (3, 3, 2)


def test_empty_and_repeated_texts_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\ngood,1\n   ,1\n good  ,0\nGood,0\n"",1\ngood,1\n')
    data = load_data(path)
    assert {e.text.strip() for e in data.examples} == {"good", "Good"}
    assert (data.card.rows, data.card.empty, data.card.duplicates) == (6, 2, 2)


def test_a_text_keeps_the_space_around_it(tmp_path):
    path = write(tmp_path / "a.jsonl", json.dumps({"text": " a charming journey . "}))
    assert texts(load_data(path)) == [" a charming journey . "]


def test_a_sample_is_drawn_without_replacement_and_stands_in_the_order_of_the_file(numbers):
    data = load_data(numbers, n=50)
    rows = [int(text.removeprefix("text ")) for text in texts(data)]
    assert len(rows) == 50
    assert rows == sorted(set(rows))
    assert (data.card.rows, data.card.used) == (200, 50)


def test_the_seed_decides_the_sample(numbers):
    assert load_data(numbers, n=20, seed=1) == load_data(numbers, n=20, seed=1)
    assert load_data(numbers, n=20, seed=1) != load_data(numbers, n=20, seed=2)


def test_a_smaller_sample_is_part_of_a_larger_one(numbers):
    small, large = load_data(numbers, n=20), load_data(numbers, n=80)
    assert set(small.examples) < set(large.examples)


def test_every_text_is_drawn_about_equally_often(numbers):
    drawn = [text for seed in range(40) for text in texts(load_data(numbers, n=50, seed=seed))]
    counts = [drawn.count(f"text {row}") for row in range(200)]
    # Binomial with 40 draws of 1/4: mean 10, standard deviation 2.7.
    assert 0 < min(counts) < max(counts) < 24


def test_more_than_there_are_means_all_of_them(numbers):
    data = load_data(numbers, n=1000)
    assert data.card.used == 200
    assert data.card.fingerprint == load_data(numbers).card.fingerprint


def test_duplicates_take_no_place_in_the_sample(tmp_path):
    path = write(tmp_path / "a.csv", "text\n" + "same\n" * 50 + "other\nthird\n")
    assert sorted(texts(load_data(path, n=3))) == ["other", "same", "third"]


@pytest.mark.parametrize("n", [0, -3])
def test_a_sample_of_none_is_refused(numbers, n):
    with pytest.raises(DataError, match=rf"n = {n}\nexpected: 1 or more"):
        load_data(numbers, n=n)


def test_a_negative_seed_is_refused(numbers):
    with pytest.raises(DataError, match="seed = -1"):
        load_data(numbers, seed=-1)


def test_the_sample_does_not_change_with_the_hash_seed(numbers):
    script = (
        f"from scope.data import load_data; print(load_data({numbers!r}, n=9).card.fingerprint)"
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


def test_ids_of_the_file_are_used_where_every_row_has_its_own(tmp_path):
    path = write(tmp_path / "a.csv", "ID,text\nx7,good\n9,bad\n")
    assert [example.id for example in load_data(path).examples] == ["x7", "9"]


@pytest.mark.parametrize("second", ["x7", "", " "])
def test_ids_that_repeat_or_are_missing_give_way_to_ids_of_the_texts(tmp_path, second):
    path = write(tmp_path / "a.csv", f"id,text\nx7,good\n{second},bad\n")
    without = write(tmp_path / "b.csv", "text\ngood\nbad\n")
    assert load_data(path).examples == load_data(without).examples


def test_ids_give_way_even_when_the_repetition_was_not_drawn(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\nx7,good\nx7,good\nx8,bad\n")
    assert not {"x7", "x8"} & {example.id for example in load_data(path).examples}


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


def test_the_fingerprint_is_the_hash_of_ids_texts_and_labels(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\ngood,1\nbad,\n")
    ids = [example.id for example in load_data(path).examples]
    lines = f'["{ids[0]}", "good", "1"]\n["{ids[1]}", "bad", null]\n'.encode()
    assert load_data(path).card.fingerprint == hashlib.sha256(lines).hexdigest()[:16]


@pytest.mark.parametrize(
    ("content", "counts"), [("text\n", "0 rows, 0"), ("text,n\n ,1\n  ,2\n", "2 rows, 2")]
)
def test_nothing_left_is_an_error_that_counts(tmp_path, content, counts):
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(DataError, match=rf"no text in a\.csv: {counts} of them empty"):
        load_data(path)


def test_named_columns_win_over_usual_names(tmp_path):
    path = write(tmp_path / "a.csv", "text,title,label,stars\nlong,short,x,5\n")
    (example,) = load_data(path, text_column="title", label_column="stars").examples
    assert (example.text, example.label) == ("short", "5")


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


def test_slices_are_part_of_the_fingerprint_and_leave_ids_alone(tmp_path):
    first, second = (write(tmp_path / f"{one}.csv", f"text,part\ngood,{one}\n") for one in "ab")
    plain = [load_data(path) for path in (first, second)]
    sliced = [load_data(path, slices=["part"]) for path in (first, second)]
    assert plain[0].card.fingerprint == plain[1].card.fingerprint
    assert sliced[0].card.fingerprint != sliced[1].card.fingerprint
    assert len({one.examples[0].id for one in (*plain, *sliced)}) == 1


def test_of_equal_texts_in_two_slices_the_order_does_not_decide(tmp_path):
    found = set()
    for name, rows in [("a", "good,x\ngood,y\n"), ("b", "good,y\ngood,x\n")]:
        data = load_data(write(tmp_path / f"{name}.csv", f"text,part\n{rows}"), slices=["part"])
        found.add(data.examples)
    assert len(found) == 1


def test_a_column_of_slices_that_is_missing_is_named(tmp_path):
    path = write(tmp_path / "a.csv", "text,part\ngood,x\n")
    with pytest.raises(DataError, match="no column `parts`") as error:
        load_data(path, slices=["parts"])
    assert error.value.fix == "choose another slice column"
    assert "`text`, `part`" in error.value.expected


any_text = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(any_text, min_size=1))
def test_csv_tsv_and_jsonl_of_the_same_rows_give_the_same_examples(tmp_path, rows):
    rows = [*rows, "always one"]
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        with (tmp_path / f"a{suffix}").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter)
            writer.writerows([("n", "text"), *enumerate(rows)])
    lines = [json.dumps({"n": n, "text": text}) + "\n" for n, text in enumerate(rows)]
    write(tmp_path / "a.jsonl", "".join(lines))
    found = [load_data(str(tmp_path / f"a{suffix}")) for suffix in (".csv", ".tsv", ".jsonl")]
    assert found[0].examples == found[1].examples == found[2].examples
    kept = {text.strip() for text in rows if text.strip()}
    assert {text.strip() for text in texts(found[0])} == kept
    assert found[0].card.duplicates + found[0].card.empty + len(kept) == len(rows)


def test_importing_it_loads_none_of_the_heavy_libraries():
    script = (
        "import sys, scope.data; "
        "print([m for m in ('datasets', 'pyarrow', 'pandas', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
