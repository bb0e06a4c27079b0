"""Texts of several parts: from two columns, or from lists, in files and in Python."""

import json

import pytest

from scope.data.sampling import load_data, subsample
from scope.data.sources import data_spec
from scope.errors import DataError

ROWS = [
    {"premise": "A man sleeps.", "hypothesis": "He dreams.", "label": "neutral"},
    {"premise": "A man sleeps.", "hypothesis": "He is awake.", "label": "contradiction"},
    {"premise": "He dreams.", "hypothesis": "A man sleeps.", "label": "neutral"},
    {"premise": " A man sleeps. ", "hypothesis": "He dreams. ", "label": "neutral"},
    {"premise": "A man sleeps.", "hypothesis": " ", "label": "neutral"},
    {"premise": None, "hypothesis": "He dreams.", "label": "neutral"},
]
LISTS = [
    {"text": None if not row["premise"] else [row["premise"], row["hypothesis"]], **row}
    for row in ROWS
]


def written(folder, rows, name="pairs.jsonl"):
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(params=["columns", "lists in a file", "tuples in Python", "(text, label)"])
def loaded(request, tmp_path):
    if request.param == "columns":
        return load_data(written(tmp_path, ROWS), text_column=("premise", "hypothesis"))
    if request.param == "lists in a file":
        rows = [{"text": row["text"], "label": row["label"]} for row in LISTS]
        return load_data(written(tmp_path, rows))
    pairs = [(row["text"] and tuple(row["text"]), row["label"]) for row in LISTS]
    if request.param == "(text, label)":
        return load_data(data_spec(pairs))
    return load_data(data_spec([{"text": text, "label": label} for text, label in pairs]))


def test_the_parts_are_one_text_in_the_order_of_the_columns(loaded):
    assert [(example.text, example.label) for example in loaded.examples][1:] == [
        ("A man sleeps.\x1eHe is awake.", "contradiction"),
        ("He dreams.\x1eA man sleeps.", "neutral"),
    ]
    assert loaded.examples[0].text.split("\x1e")[1].strip() == "He dreams."


def test_a_row_with_an_empty_part_is_left_out_and_counted(loaded):
    card = loaded.card
    assert (card.rows, card.empty, card.duplicates, card.used, card.labelled) == (6, 2, 1, 3, 3)


def test_a_smaller_sample_is_part_of_a_larger_one_whatever_space_is_around_parts(tmp_path):
    rows = [{"a": f" text {number} ", "b": f" {number}"} for number in range(20)]
    spec = written(tmp_path, rows)
    every, some = (load_data(spec, text_column=("a", "b"), n=n).examples for n in (None, 7))
    assert subsample(every, 7, 0) == some


def test_the_card_names_the_parts(tmp_path):
    spec = written(tmp_path, ROWS)
    assert load_data(spec, text_column=("premise", "hypothesis")).card.parts == (
        "premise",
        "hypothesis",
    )
    assert load_data(data_spec([(("a", "b", "c"), "1")])).card.parts == (
        "text 1",
        "text 2",
        "text 3",
    )
    assert load_data(spec, text_column="premise").card.parts == ()
    assert load_data(data_spec([{"text": ["a"]}])).card.parts == ()


def test_rows_that_share_a_premise_are_named_with_the_column_that_clusters_them(tmp_path):
    data = load_data(written(tmp_path, ROWS), text_column=("premise", "hypothesis"))
    assert any("add --cluster premise" in note for note in data.card.notes)


def test_a_row_with_another_number_of_texts_is_left_out_with_its_reason():
    data = load_data(data_spec([{"text": ["a", "b"]}, {"text": "c"}, {"text": ["d", "e"]}]))
    assert [example.text for example in data.examples] == ["a\x1eb", "d\x1ee"]
    assert [(left.reason, left.count) for left in data.card.left_out] == [
        ("1 text in place of 2", 1)
    ]


@pytest.mark.parametrize("cell", [[1, 2], [["a"], "b"], ["a", None]])
def test_a_list_of_anything_else_is_left_out(cell):
    data = load_data(data_spec([{"text": ["a", "b"]}, {"text": cell}]))
    assert data.card.used == 1
    assert [left.count for left in data.card.left_out] == [1]


def test_a_separator_within_a_text_is_a_space():
    data = load_data(data_spec([("a\x1eb", "1"), ("c", "0")]))
    assert [example.text for example in data.examples] == ["a b", "c"]
    data = load_data(data_spec([(("a\x1eb", "c"), "1")]))
    assert [example.text for example in data.examples] == ["a b\x1ec"]


def test_a_missing_column_is_named_and_two_columns_of_texts_are_offered(tmp_path):
    spec = written(tmp_path, ROWS)
    with pytest.raises(DataError) as raised:
        load_data(spec, text_column=("premise", "hypotheses"))
    assert raised.value.found == "no column `hypotheses` in pairs.jsonl"
    assert raised.value.fix == "choose another text column"
    with pytest.raises(DataError) as raised:
        load_data(spec)
    assert raised.value.fix == (
        "name one: --text-column premise; or, for models of two texts, both: "
        "--text-column premise --text-column hypothesis"
    )


def test_a_column_named_twice_is_refused(tmp_path):
    with pytest.raises(DataError) as raised:
        load_data(written(tmp_path, ROWS), text_column=("premise", "premise"))
    assert raised.value.found == "the text columns `premise`, `premise` of pairs.jsonl"


def test_a_text_column_may_be_the_cluster_too(tmp_path):
    columns = ("premise", "hypothesis")
    data = load_data(written(tmp_path, ROWS), text_column=columns, cluster="premise")
    assert [example.id.partition("␟")[0] for example in data.examples][1:] == [
        "A man sleeps.",
        "He dreams.",
    ]
