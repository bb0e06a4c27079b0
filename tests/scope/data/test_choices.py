import json

import pyarrow
import pyarrow.parquet
import pytest
from shared_data import shared_data

from scope.data.items import LETTERS, option_index, read_choices
from scope.errors import DataError


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def only(spec):
    (draft,) = read_choices(spec)
    return draft


def test_a_row_becomes_an_item_with_all_that_it_says(tmp_path):
    row = {
        "id": 7,
        "question": "Which?",
        "options": ["red", "blue"],
        "answer": "B",
        "context": "The sea.",
        "category": "colours",
    }
    draft = only(write(tmp_path / "a.jsonl", row))
    assert draft.id == "7"
    assert draft.item.question.text == "Which?"
    assert draft.item.question.context == "The sea."
    assert draft.item.question.options == ("red", "blue")
    assert (draft.item.right, draft.item.gold) == (1, ("blue",))
    assert draft.item.category == "colours"


def test_other_usual_names_of_columns_are_known(tmp_path):
    row = {"Question": "Which?", "choices": ["red", "blue"], "answerKey": "A", "subject": 3}
    item = only(write(tmp_path / "a.jsonl", row)).item
    assert (item.right, item.category) == (0, "3")


def test_options_may_stand_with_labels_as_on_the_hub(tmp_path):
    row = {
        "question": "Which?",
        "choices": {"text": ["red", "blue"], "label": ["1", "2"]},
        "answerKey": "2",
    }
    assert only(write(tmp_path / "a.jsonl", row)).item.right == 1


@pytest.mark.parametrize("answer", [None, "", float("nan")])
def test_an_item_without_an_answer_is_kept(tmp_path, answer):
    item = only(
        write(tmp_path / "a.jsonl", {"question": "Which?", "options": ["a", "b"], "answer": answer})
    ).item
    assert (item.right, item.gold) == (None, ())


def test_a_table_without_answers_can_be_read(tmp_path):
    assert only(write(tmp_path / "a.jsonl", {"question": "Q", "options": ["a", "b"]})).item


def test_a_blank_question_makes_no_item(tmp_path):
    assert only(write(tmp_path / "a.jsonl", {"question": " ", "options": ["a", "b"]})).item is None


def test_numbers_of_options_may_differ_up_to_the_letters(tmp_path):
    rows = [{"question": "Q", "options": [f"o{i}" for i in range(count)]} for count in (2, 5, 26)]
    drafts = read_choices(write(tmp_path / "a.jsonl", *rows))
    assert [len(draft.item.question.options) for draft in drafts] == [2, 5, len(LETTERS)]


def test_parquet_with_a_gap_among_its_answers_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    table = {
        "question": ["Which?", "What?"],
        "options": [["red", "blue"], ["a", "b"]],
        "answer": pyarrow.array([1.0, float("nan")]),
    }
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    assert [draft.item.right for draft in read_choices(str(path))] == [1, None]


GOOD = {"question": "Which?", "options": ["red", "blue"], "answer": 0}


@pytest.mark.parametrize(
    ("change", "found", "expected"),
    [
        ({"answer": 2}, "the answer is the option 2, counted from 0, of 2 options", "from 0 to 1"),
        ({"answer": "C"}, "the answer is the option C of 2 options", "a letter from A to B"),
        (
            {"answer": "x"},
            "the answer is 'x', which is not one of the options",
            "text of an option",
        ),
        ({"answer": True}, "the answer is True", "from 0 to 1"),
        ({"options": ["red"]}, "1 option", "2 to 26 options"),
        ({"options": []}, "0 options", "2 to 26 options"),
        ({"options": ["a"] * 27}, "27 options", "2 to 26 options"),
        ({"options": ["red", " "]}, "an empty option among ['red', ' ']", "with a text each"),
        ({"options": "red, blue"}, "`options` is 'red, blue'", "a list of texts"),
        ({"options": ["red", 1]}, "`options` is \"['red', 1]\"", "a list of texts"),
        ({"options": None}, "`options` is 'None'", "a list of texts"),
    ],
)
def test_a_bad_row_is_named_with_what_stands_in_it(tmp_path, change, found, expected):
    spec = write(tmp_path / "a.jsonl", GOOD, GOOD | change)
    with pytest.raises(DataError) as raised:
        list(read_choices(spec))
    assert raised.value.found == f"line 2 of a.jsonl: {found}"
    assert expected in raised.value.expected


def test_options_in_a_csv_are_refused_with_the_formats_that_have_lists(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question,options,answer\nWhich?,red; blue,0\n", encoding="utf-8")
    with pytest.raises(DataError) as raised:
        list(read_choices(str(path)))
    assert raised.value.fix == "write a list, in .jsonl or .parquet: a .csv or .tsv has no lists"


def test_half_a_surrogate_pair_in_an_option_is_refused(tmp_path):
    with pytest.raises(DataError, match="surrogate"):
        list(read_choices(write(tmp_path / "a.jsonl", GOOD | {"options": ["red", "\ud800"]})))


def test_missing_columns_are_named_with_those_there_are(tmp_path):
    with pytest.raises(DataError) as raised:
        list(read_choices(write(tmp_path / "a.jsonl", {"question": "Q", "answer": 1})))
    assert raised.value.found == (
        "no column for the options in a.jsonl; its columns are `question`, `answer`"
    )
    assert raised.value.expected == "a column called options or choices"


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(GOOD) + '\n{"question": "W', encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2 of a\.jsonl is not JSON"):
        list(read_choices(str(path)))


@pytest.mark.parametrize(
    ("name", "rows", "options"),
    [
        ("mmlu_pro_models/items.jsonl.gz", 5979, set(range(3, 11))),
        ("mcq/arc_challenge_test.jsonl.gz", 1172, {3, 4, 5}),
        ("mcq/commonsenseqa_dev.jsonl.gz", 1221, {5}),
        ("mcq/logiqa_dev.jsonl.gz", 651, {4}),
    ],
)
@pytest.mark.slow
def test_real_questions_load_whole(name, rows, options):
    items = [draft.item for draft in read_choices(str(shared_data(name)))]
    assert len(items) == rows
    assert {len(item.question.options) for item in items} == options
    assert all(item.gold == (item.question.options[item.right],) for item in items)


COLOURS = ("red", "blue", "green")


@pytest.mark.parametrize(
    ("answer", "index"),
    [(0, 0), (2, 2), (1.0, 1), ("A", 0), (" C ", 2), ("blue", 1), (" green", 2)],
)
def test_an_option_is_named_by_number_letter_or_text(answer, index):
    assert option_index(answer, COLOURS) == index


def test_a_letter_stands_for_its_place_even_if_an_option_reads_so():
    assert option_index("B", ("C", "B", "A")) == 1
    assert option_index("A", ("C", "B", "A")) == 0


def test_a_letter_without_a_place_may_be_an_options_text():
    assert option_index("X", ("X", "Y")) == 0


def test_the_labels_of_the_source_come_first():
    assert option_index("1", ("one", "two"), labels=("1", "2")) == 0
    assert option_index("A", ("one", "two"), labels=("B", "A")) == 1


def test_of_options_that_read_the_same_the_first_stands_for_both():
    assert option_index("red", ("blue", "red", "red")) == 1


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (3, "the option 3, counted from 0, of 3 options"),
        (-1, "the option -1, counted from 0, of 3 options"),
        ("D", "the option D of 3 options"),
        ("a", "'a', which is not one of the options"),
        ("Red", "'Red', which is not one of the options"),
        ("1", "'1', which is not one of the options"),
        ("", "'', which is not one of the options"),
        (True, "True"),
        (0.5, "0.5"),
        (None, "None"),
        ([0], "[0]"),
    ],
)
def test_what_names_no_option_is_refused_in_words(answer, found):
    with pytest.raises(ValueError) as raised:
        option_index(answer, COLOURS)
    assert str(raised.value) == found
