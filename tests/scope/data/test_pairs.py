"""Tables of scored pairs: what is read, what is left out and counted, what is refused."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from shared_data import shared_data

from scope.data.pairs import WantedPairs, gather_pairs, pair_fingerprint
from scope.errors import DataError
from scope.records import ScoredPair

WANTED = WantedPairs(task="similarity", low=0.0, high=5.0)
ROWS = [
    {"split": "train", "sentence1": "A dog runs.", "sentence2": "A dog is running.", "score": 4.8},
    {"split": "dev", "sentence1": "It rains.", "sentence2": "Rain falls.", "score": 4},
    {"split": "train", "sentence1": "Fish swim.", "sentence2": "A car stops.", "score": 0},
    {"split": "test", "sentence1": "Go", "sentence2": "Stop", "score": 1.25},
]


def write(path, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
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
    first = data.pairs[0]
    assert first == ScoredPair(
        id=first.id, first="A dog runs.", second="A dog is running.", score=4.8
    )
    assert [(pair.first, pair.second) for pair in data.pairs] == sorted(
        (row["sentence1"], row["sentence2"]) for row in ROWS
    )
    card = data.card
    assert (card.rows, card.used, card.labelled, card.duplicates, card.empty) == (4, 4, 4, 0, 0)
    assert (card.capability, card.fingerprint) == ("similarity", pair_fingerprint(data.pairs))


def test_one_word_is_a_sentence(pairs):
    assert scored(pairs(ROWS, "test")) == [("Go", "Stop", 1.25)]


def test_a_part_has_its_own_rows_named_by_what_they_say(pairs):
    data = pairs(ROWS, "train")
    assert [pair.score for pair in data.pairs] == [4.8, 0.0]
    assert {pair.id for pair in data.pairs}.isdisjoint(
        pair.id for pair in pairs(ROWS, "test").pairs
    )
    assert (data.card.rows, data.card.used) == (2, 2)


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [
        ("sentence1", "sentence2", "score"),
        ("Sentence1", "Sentence2", "similarity_score"),
        ("sentence_A", "sentence_B", "relatedness_score"),
        ("text1", "text2", "similarity"),
        ("question1", "question2", "label"),
        ("First", "Second", "Score"),
    ],
)
def test_columns_are_found_by_their_usual_names(pairs, first, second, score):
    data = pairs([{score: 2.5, second: "B", "other": 1, first: "A"}])
    assert scored(data) == [("A", "B", 2.5)]


def test_texts_that_belong_together_are_read_and_a_score_comes_before_a_label(pairs):
    row = {"sentence1": "no", "text2": "B", "text1": "A", "label": "neutral", "score": 3}
    assert scored(pairs([row])) == [("A", "B", 3.0)]


def test_ids_serve_where_every_row_of_the_part_has_its_own(pairs):
    named = [row | {"pair_ID": f"p{number}"} for number, row in enumerate(ROWS)]
    assert [pair.id for pair in pairs(named, "train").pairs] == ["p0", "p2"]
    # The ids of another part are no concern of this one.
    named[1]["pair_ID"] = "p0"
    assert [pair.id for pair in pairs(named, "train").pairs] == ["p0", "p2"]
    named[2]["pair_ID"] = "p0"
    assert "p0" not in {pair.id for pair in pairs(named, "train").pairs}


def test_equal_pairs_count_as_often_as_they_stand(pairs):
    data = pairs("first,second,score\nA,B,2\nB , A,2.0\nA,B,3\nA,B,2\n")
    assert scored(data) == [("A", "B", 2.0), ("A", "B", 2.0), ("A", "B", 3.0), ("B", "A", 2.0)]
    assert len({pair.id for pair in data.pairs}) == 4
    assert (data.card.rows, data.card.duplicates, data.card.used) == (4, 0, 4)


def test_rows_with_an_empty_text_are_left_out_and_counted_whatever_their_score(pairs):
    data = pairs("first,second,score\nA,B,2\nA, ,7\n,B,\n")
    assert (data.card.rows, data.card.empty, data.card.used) == (3, 2, 1)


def test_a_table_and_its_packed_and_parquet_twins_give_the_same_pairs(tmp_path):
    import pyarrow
    import pyarrow.parquet

    specs = [write(tmp_path / name, ROWS) for name in ("a.jsonl", "b.jsonl.gz")]
    table = [",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]
    (tmp_path / "c.csv").write_text("\n".join(table))
    (tmp_path / "d.tsv").write_text("\n".join(table).replace(",", "\t"))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "e.parquet")
    specs += [str(tmp_path / name) for name in ("c.csv", "d.tsv", "e.parquet")]
    wanted = replace(WANTED, part="train")
    first, *others = [gather_pairs(spec, wanted, n=None, seed=0) for spec in specs]
    assert len(first.pairs) == 2
    assert [other.pairs for other in others] == [first.pairs] * 4
    assert {other.card.fingerprint for other in others} == {first.card.fingerprint}


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
        card = data.card
        assert len(rows) == card.rows == len(every.pairs) + card.empty
    assert pairs(rows[::-1], n=n, seed=seed).pairs == smaller.pairs


def test_another_seed_draws_other_pairs(pairs):
    rows = [{"first": "A", "second": str(number), "score": 1} for number in range(40)]
    assert pairs(rows, n=5, seed=1).pairs != pairs(rows, n=5, seed=2).pairs


def test_the_range_is_inclusive_and_may_be_another(pairs):
    table = "first,second,score\nA,B,-1\nA,C,1\n"
    assert [pair.score for pair in pairs(table, low=-1.0, high=1.0).pairs] == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("score", "found"),
    [
        ("5.0000001", "the score 5.0000001, which is out of the range 0 to 5"),
        ("-1", "the score -1, which is out of the range 0 to 5"),
        ("high", "the score 'high', which is not a finite number"),
        ("3;8", "the score '3;8', which is not a finite number"),
        ("nan", "the score 'nan', which is not a finite number"),
        ("-inf", "the score '-inf', which is not a finite number"),
        (" ", "no score"),
    ],
)
def test_a_score_that_is_none_is_named_by_file_and_line(pairs, score, found):
    with pytest.raises(DataError) as raised:
        pairs(f"first,second,score\nA,B,2\nA,C,{score}\n")
    assert raised.value.found == f"line 3 of a.csv: {found}"
    assert raised.value.expected == "a score from 0 to 5"
    outside = "out of the range" in found
    assert raised.value.fix == (
        "fix the row, or give the range of the scale: --low and --high"
        if outside
        else "fix the row, or leave it out"
    )


@pytest.mark.parametrize("score", [True, [3], None, float("nan"), 10**400])
def test_a_score_of_another_kind_is_no_number(pairs, score):
    with pytest.raises(DataError, match=r"line 1 of a\.jsonl: (no score|.* not a finite number)"):
        pairs([{"first": "A", "second": "B", "score": score}])


def test_a_bad_score_of_another_part_is_no_concern_of_this_one(pairs):
    assert len(pairs([*ROWS, ROWS[3] | {"score": -1}], "train").pairs) == 2


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
    assert raised.value.expected.startswith("a column of scores from 0 to 5, called score or ")


def test_a_table_without_two_columns_of_texts_is_refused(pairs):
    with pytest.raises(DataError) as raised:
        pairs("premise,hypothesis,score\nA,B,2\n")
    assert raised.value.found == (
        "no two text columns in a.csv; its columns are `premise`, `hypothesis`, `score`"
    )
    assert raised.value.expected.startswith("columns called sentence1 and sentence2 or ")


def test_a_table_without_scores_is_refused(pairs):
    with pytest.raises(DataError, match=r"no column for the score in a\.csv; its columns are"):
        pairs("first,second\nA,B\n")


def test_where_no_pair_is_left_the_message_says_what_was_there(pairs):
    with pytest.raises(DataError) as raised:
        pairs("first,second,score\nA,,2\n,B,3\n")
    assert raised.value.found.endswith("a.csv: 2 rows, 2 of them with an empty text")
    assert raised.value.expected == "at least one pair for the task similarity"


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (1, -1)])
def test_a_sample_that_makes_no_sense_is_refused_before_anything_is_read(n, seed):
    with pytest.raises(DataError, match=r"n = 0|seed = -1"):
        gather_pairs("nowhere.csv", WANTED, n=n, seed=seed)


def test_the_fingerprint_changes_with_everything():
    one = ScoredPair(id="0", first="A", second="B", score=1.0)
    changes = ({"id": "1"}, {"first": "C"}, {"second": "C"}, {"score": 2.0})
    others = [replace(one, **change) for change in changes]
    others.append(replace(one, first="B", second="A"))
    assert len({pair_fingerprint([other]) for other in [one, *others]}) == 6
    assert pair_fingerprint([one, others[0]]) != pair_fingerprint([others[0], one])


@pytest.mark.parametrize(("part", "rows"), [("train", 3010), ("development", 820), ("test", 750)])
def test_a_real_benchmark_has_its_parts(part, rows):
    path = str(shared_data("stsb/stsb_en.jsonl.gz"))
    data = gather_pairs(path, replace(WANTED, part=part), n=None, seed=0)
    assert (data.card.rows, data.card.used, data.card.empty) == (rows, rows, 0)
    assert len(data.pairs) == rows
    assert all(0 <= pair.score <= 5 for pair in data.pairs)
